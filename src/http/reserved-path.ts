import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

const reserved = /^\/v1\/queue\/requests(?:\/|$)/;

/** Below `requests` there are requests, never a model: the wildcard route of submissions does not reach there. */
export function isReserved(path: string): boolean {
  return reserved.test(path);
}

/** Before the guards, which would ask for a key to submit with. The filter tells which methods the path takes. */
export function refuseReservedSubmit(request: Request, _response: Response, next: NextFunction): void {
  const refused = request.method === 'POST' && isReserved(request.path);
  next(refused ? new DomainError('not_found', 'Nothing is submitted here.') : undefined);
}
