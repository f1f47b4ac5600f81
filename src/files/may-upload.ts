import { applyDecorators, type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { hasScope } from '../auth/caller.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { Limited } from '../limits/limited.js';

class UploadGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const caller = context.switchToHttp().getRequest<GuardedRequest>().caller!;
    if (hasScope(caller, 'submit') || hasScope(caller, 'work')) return true;
    throw new DomainError('forbidden', 'This API key has neither the scope "submit" nor "work".');
  }
}

/** Lets a key upload that may submit, or work. */
export const MayUpload = (): MethodDecorator =>
  applyDecorators(Limited('any', { needsKey: true }), UseGuards(UploadGuard));
