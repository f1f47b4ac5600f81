import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../scripts/build.js';

/** `npm run chaos -- --seconds 60 --seed 7`: builds the service and the harness, then runs the harness. */
const root = fileURLToPath(new URL('..', import.meta.url));
buildIfStale();
const { status, stdout } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'chaos', '--noCheck'],
  { cwd: root, encoding: 'utf8' },
);
const emittedWithErrors = 2;
if (status !== 0 && status !== emittedWithErrors) {
  process.stderr.write(`The harness was not built:\n${stdout}`);
  process.exit(1);
}
await import('../dist/chaos/main.js');
