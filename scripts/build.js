import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.build.tsbuildinfo');

/** Compiles if a source is newer than the last build. Types are the business of `npm run check`. */
export function buildIfStale() {
  const inputs = ['src', 'migrations', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  const built = modified(stamp);
  if (built > Math.max(...inputs.map((input) => newest(join(root, input))))) return;
  const started = new Date();
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--noCheck'],
    { cwd: root, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The build failed:\n${stdout}`);
  utimesSync(stamp, started, started);
}

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  // The directory's own time counts too: it shows that a file was removed.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
