import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** How far the stop of the service has come. */
@Injectable()
export class Draining implements OnModuleDestroy {
  /** Every call is still served, but the next ones are to go to other nodes: this one is not ready. */
  isLeaving = false;
  /** The service finishes what it has and takes nothing new. */
  isStarted = false;

  leave(): void {
    this.isLeaving = true;
  }

  begin(): void {
    this.isLeaving = true;
    this.isStarted = true;
  }

  onModuleDestroy(): void {
    this.begin();
  }
}

/** Workers' calls about runs that they have are no new work. */
const ofRuns = /^\/v1\/worker\/(?!claims)/;

export function refuseWhileDraining(draining: Draining) {
  return (request: Request, _: Response, next: NextFunction): void => {
    if (!draining.isStarted) return next();
    if (request.method !== 'POST' || ofRuns.test(request.path)) return next();
    next(new DomainError('unavailable', 'The service is shutting down. Try again in a moment.'));
  };
}
