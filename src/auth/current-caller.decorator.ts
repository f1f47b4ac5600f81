import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { GuardedRequest } from './access.guard.js';
import type { Caller } from './caller.js';

/** The caller that `AccessGuard` let in. On routes other than submit it may be undefined. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | undefined =>
    context.switchToHttp().getRequest<GuardedRequest>().caller,
);
