import { packageRoot } from '../../config/package.js';

/** What the pages at /docs are made of. */
export const docsAssets = new URL('assets/docs/', packageRoot);
