import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Debian's promtool, from the same package as prometheus. */
export function promtool(args: string[], input?: string): string {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, {
    input,
    encoding: 'utf8',
    cwd: root,
  });
  if (error !== undefined)
    throw new Error('The tests of metrics need promtool. On Debian and Ubuntu: apt-get install prometheus', {
      cause: error,
    });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}
