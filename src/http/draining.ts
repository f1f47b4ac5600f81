import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** Whether the service has begun to stop. From then on it finishes what it has and takes nothing new. */
@Injectable()
export class Draining implements OnModuleDestroy {
  isStarted = false;

  begin(): void {
    this.isStarted = true;
  }

  onModuleDestroy(): void {
    this.begin();
  }
}

/** Workers' calls about runs that they have are no new work. */
const ofRuns = /^\/v1\/worker\/(?!claims)/;

export function refuseWhileDraining(draining: Draining) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!draining.isStarted) return next();
    response.setHeader('Connection', 'close');
    if (request.method !== 'POST' || ofRuns.test(request.path)) return next();
    next(new DomainError('unavailable', 'The service is shutting down. Try again in a moment.'));
  };
}
