import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const emittedWithErrors = 2;

/** Builds the service, and the TypeScript of a harness such as `chaos` into `dist`. */
export function buildHarness(folder) {
  buildIfStale();
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--noCheck'],
    { cwd: root, encoding: 'utf8' },
  );
  if (status === 0 || status === emittedWithErrors) return;
  process.stderr.write(`The harness was not built:\n${stdout}`);
  process.exit(1);
}
