/**
 * The model id of a submission's path. Segments are decoded one by one, after splitting, so a
 * percent-encoded slash is never a separator. undefined: the path is not even percent-encoded right.
 */
export function modelIdOfPath(originalUrl: string): string | undefined {
  const path = originalUrl
    .split(/[?#]/, 1)[0]!
    .replace(/^https?:\/\/[^/]*/i, '') // the absolute form of a request target (RFC 9112)
    .replace(/^\/v1\/queue\//, '')
    .replace(/\/$/, '');
  try {
    const segments = path.split('/').map(decodeURIComponent);
    return segments.some((segment) => segment.includes('/')) ? undefined : segments.join('/');
  } catch {
    return undefined;
  }
}
