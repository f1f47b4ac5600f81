import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  UseGuards,
} from '@nestjs/common';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { Limited } from '../limits/limited.js';
import type { LeaseName } from '../queue/workers/lease.js';
import { leaseOf } from './lease-token.js';
import { ofWorkers } from './workers.controller.js';

const leases = new WeakMap<GuardedRequest, LeaseName>();

/** A guard, so that a call with a token of another run ends before its body is read. */
class LeaseGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const { request_id: id } = request.params as { request_id: string };
    leases.set(request, leaseOf(request.caller!, id, request.headers['lease-token']));
    return true;
  }
}

/** A call about the run whose `Lease-Token` it has. */
export const OfRun = (): MethodDecorator =>
  applyDecorators(Limited('work', ofWorkers), UseGuards(LeaseGuard));

/** The lease of a call with `OfRun`. */
export const Lease = createParamDecorator((_: unknown, context: ExecutionContext) =>
  leases.get(context.switchToHttp().getRequest()),
);
