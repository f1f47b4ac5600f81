import { packageRoot } from '../../config/package.js';

/** The files of the pages at /docs. */
export const docsAssets = new URL('assets/docs/', packageRoot);
