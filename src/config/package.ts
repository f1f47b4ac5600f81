import { existsSync, readFileSync } from 'node:fs';

/** The directory of package.json. It contains src when the service runs from the sources, dist when it is built. */
export const packageRoot = new URL(
  import.meta.url.includes('/dist/src/') ? '../../../' : '../../',
  import.meta.url,
);

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};

const isPackage = packageRoot.pathname.includes('/node_modules/');
const isClone = existsSync(new URL('scripts/run.js', packageRoot));

/**
 * Returns the command that runs a program of the service where it is installed: `npm run keys -- list` in a clone,
 * `npx nowserving-server keys list` from the package, `node dist/src/keys.js list` in an image. `isPiped`: npm must not
 * print what it runs.
 */
export function commandOf(program: string, args = '', options: { isPiped?: boolean } = {}): string {
  return args === '' ? usageOf(program, options).replace(/ --$/, '') : `${usageOf(program, options)} ${args}`;
}

/** Returns the command without its arguments, as the program's help begins. */
export function usageOf(program: string, { isPiped = false }: { isPiped?: boolean } = {}): string {
  if (isPackage) return `npx nowserving-server ${program}`;
  return isClone ? `npm run ${isPiped ? '-s ' : ''}${program} --` : `node dist/src/${program}.js`;
}
