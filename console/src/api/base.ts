/** The page is served with a `<base>` that leads to /console/, even when a proxy serves it below another path. */
const consoleUrl = new URL('.', globalThis.document?.baseURI ?? 'http://127.0.0.1/console/');

/** Such as `/console`, or `/queue/console`. */
export const consolePath = consoleUrl.pathname.replace(/\/$/, '');

/** The root of the service, with a trailing slash. */
export const serviceUrl = new URL('..', consoleUrl).href;

/** `path` has no leading slash. */
export const serviceAddress = (path: string): string => serviceUrl + path;
