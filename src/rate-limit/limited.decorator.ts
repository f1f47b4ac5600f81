import { applyDecorators, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../auth/access.guard.js';
import type { Scope } from '../auth/caller.js';
import { RequireScope } from '../auth/require-scope.decorator.js';
import { RateLimitGuard } from './rate-limit.guard.js';

/**
 * What every queue route carries. In this order: who calls, is there room under the limits of `submit` or of
 * all other routes, may they. A refused key is counted too.
 */
export function Limited(scope: Scope): MethodDecorator {
  return applyDecorators(RequireScope(scope), UseGuards(RateLimitGuard, AccessGuard));
}
