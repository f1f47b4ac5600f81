import { readFileSync } from 'node:fs';

/** The directory of package.json: beside src when run from the sources, beside dist when built. */
export const packageRoot = new URL(
  import.meta.url.includes('/dist/src/') ? '../../../' : '../../',
  import.meta.url,
);

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};
