import { applyDecorators, type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { hasScope } from '../auth/caller.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { Limited } from '../limits/limited.js';

class SubmitGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const caller = context.switchToHttp().getRequest<GuardedRequest>().caller!;
    if (hasScope(caller, 'submit')) return true;
    throw new DomainError('forbidden', 'This API key does not have the scope "submit".');
  }
}

/** Lets a key that may submit set its webhooks. The call does not count as a submission. */
export const MaySetWebhooks = (): MethodDecorator =>
  applyDecorators(Limited('any', { needsKey: true }), UseGuards(SubmitGuard));
