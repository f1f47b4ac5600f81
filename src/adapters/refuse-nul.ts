import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** For paths whose model is not looked up, because an id finds the request. No name of a model has a NUL. */
export function refuseNul(request: Request, _: Response, next: NextFunction): void {
  const hasNul = request.path.includes('%00');
  next(hasNul ? new DomainError('bad_request', 'A path cannot contain NUL. Check it.') : undefined);
}
