/**
 * The model id of a submission's path. `%2F` separates like `/`: generated clients encode path parameters, and no
 * segment can hold a slash. undefined: the path is not even percent-encoded right.
 */
export function modelIdOfPath(originalUrl: string): string | undefined {
  const path = originalUrl
    .split(/[?#]/, 1)[0]!
    .replace(/^https?:\/\/[^/]*/i, '') // the absolute form of a request target (RFC 9112)
    .replace(/^\/v1\/queue\//, '')
    .replace(/\/$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
