/** The page is served with a `<base>` that leads to /console/, whatever path a proxy serves us under. */
const consoleUrl = new URL('.', globalThis.document?.baseURI ?? 'http://127.0.0.1/console/');

/** Such as `/console`, or `/queue/console`. */
export const consolePath = consoleUrl.pathname.replace(/\/$/, '');

/** Where the service begins, with a slash at the end. */
export const serviceUrl = new URL('..', consoleUrl).href;

/** `path` without a slash in front. */
export const serviceAddress = (path: string): string => serviceUrl + path;
