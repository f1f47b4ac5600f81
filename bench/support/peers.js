import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const peersDirectory = fileURLToPath(new URL('../peers', import.meta.url));

/** Installs the packages that bench/peers names, unless they are installed. */
export function installPeers() {
  const changedAt = (file) =>
    statSync(join(peersDirectory, file), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
    cwd: peersDirectory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error('npm ci in bench/peers failed');
}
