const schemeAndHost = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

/**
 * Returns the path and the query of a request target. A client that takes the service for a proxy sends its scheme and
 * host too (RFC 9112, 3.2.2). A fragment is no part of a target, and readers of a target would differ about it.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const path = target.split('#', 1)[0]!.replace(schemeAndHost, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}
