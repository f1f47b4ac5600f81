import type { NextFunction, Request, Response } from 'express';

export const falHost = 'queue.fal.run';
/** Where its clients begin uploads. */
const uploads = 'https://rest.fal.ai/storage/upload/initiate';

/**
 * Mounted at /fal. With `proxyUrl` a client of fal's calls one address, and a header says which of fal's it means.
 * A call with a path has it from a proxy of the user's own, which hands the header on.
 */
export function followTarget(request: Request, _: Response, next: NextFunction): void {
  const target = request.path === '/' ? request.get('X-Fal-Target-Url') : undefined;
  const url = target !== undefined && URL.canParse(target) ? new URL(target) : undefined;
  if (url !== undefined && (url.host === falHost || url.origin + url.pathname === uploads)) {
    request.url = url.pathname + url.search;
    request.originalUrl = `/fal${request.url}`;
  }
  next();
}
