import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** Requests are found by their ids alone, whatever model the path names. No name has a NUL. */
export function refuseNul(request: Request, _: Response, next: NextFunction): void {
  const hasNul = request.path.includes('%00');
  next(hasNul ? new DomainError('bad_request', 'A path cannot contain NUL. Check it.') : undefined);
}
