import type { NextFunction, Request, Response } from 'express';

/** fal's hosts that are served, with the paths that stand for them below /fal. */
export const falHosts: ReadonlyMap<string, string> = new Map([
  ['queue.fal.run', ''],
  ['fal.run', '/run'],
]);
/** The address at which fal's clients begin uploads. */
const uploads = 'https://rest.fal.ai/storage/upload/initiate';

/**
 * Mounted at /fal. With `proxyUrl`, fal's client calls one address, and a header names the fal address that it means. A
 * call that has a path comes from the user's own proxy, which passes the header on unused.
 */
export function followTarget(request: Request, _: Response, next: NextFunction): void {
  const target = request.path === '/' ? request.get('X-Fal-Target-Url') : undefined;
  const url = target !== undefined && URL.canParse(target) ? new URL(target) : undefined;
  const root = url && (url.origin + url.pathname === uploads ? '' : falHosts.get(url.host));
  if (url !== undefined && root !== undefined) {
    request.url = root + url.pathname + url.search;
    request.originalUrl = `/fal${request.url}`;
  }
  next();
}
