/** Where package.json is: beside src when run from the sources, beside dist when built. */
export const packageRoot = new URL(
  import.meta.url.includes('/dist/src/') ? '../../../../' : '../../../',
  import.meta.url,
);

/** What the pages at /docs are made of. */
export const docsAssets = new URL('assets/docs/', packageRoot);
