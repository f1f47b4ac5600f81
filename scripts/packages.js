import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the packages of package-lock.json without those of this repository. */
export function lockedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, { name, version, dev = false }]) => ({
      path,
      name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      isDevelopment: dev,
    }));
}

/** Returns the packages in the built console with their licences, as Vite lists them. */
export function bundledPackages() {
  return JSON.parse(readFileSync(join(root, 'dist/console/licenses.json'), 'utf8'));
}
