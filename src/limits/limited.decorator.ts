import { applyDecorators, UseGuards } from '@nestjs/common';
import type { Scope } from '../auth/caller.js';
import { RequireScope } from '../auth/current-caller.decorator.js';
import { ApiLimited } from '../http/openapi/operations.js';
import { LimitedGuard } from './limited.guard.js';

/** What every queue route carries: it passes the gate. */
export function Limited(scope: Scope): MethodDecorator {
  return applyDecorators(
    RequireScope(scope),
    UseGuards(LimitedGuard),
    ApiLimited({ needsKey: scope === 'submit' }),
  );
}
