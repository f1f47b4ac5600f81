const own = /^\/v1\/(?:queue|(?:admin\/)?models)\//i;

/**
 * `%2F` separates like `/`, because generated clients encode it. `root`: the path before the model, if it is not one of
 * the service's own. undefined: the path has invalid percent-encoding.
 */
export function modelIdOfPath(originalUrl: string, root?: string): string | undefined {
  const [whole] = originalUrl.split('?', 1) as [string];
  const path = root === undefined ? whole.replace(own, '') : whole.slice(root.length + 1);
  try {
    return decodeURIComponent(path.replace(/\/$/, ''));
  } catch {
    return undefined;
  }
}
