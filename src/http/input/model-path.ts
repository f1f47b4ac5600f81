/** `%2F` separates like `/`, because generated clients encode it. undefined: the path has invalid percent-encoding. */
export function modelIdOfPath(originalUrl: string): string | undefined {
  const path = originalUrl
    .split('?', 1)[0]!
    .replace(/^\/(?:v1\/(?:queue|(?:admin\/)?models)|fal)\//i, '')
    .replace(/\/$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
