import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { CallerResolver } from './caller-resolver.js';
import type { Caller } from './caller.js';
import { RequireScope } from './require-scope.decorator.js';

/** A call that went past `AccessGuard`; no caller: it came without a key, where that is allowed. */
export interface GuardedRequest extends Request {
  caller?: Caller;
}

/** Demands a valid key with the route's scope. Without one, a request's id may be enough (REQUEST_ACCESS). */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly callers: CallerResolver,
    private readonly reflector: Reflector,
    private readonly config: Config,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const scope = this.reflector.get(RequireScope, context.getHandler());
    const resolution = await this.callers.resolve(request);
    if (resolution.kind === 'invalid') throw new DomainError('invalid_key', resolution.reason);
    if (resolution.kind === 'anonymous') {
      if (scope !== 'submit' && this.config.requestAccess === 'capability') return true;
      throw new DomainError('missing_key', 'Send your API key as "Authorization: Key <API key>".');
    }
    if (!resolution.caller.scopes.includes(scope)) {
      throw new DomainError('forbidden', `This API key does not have the scope "${scope}".`);
    }
    request.caller = resolution.caller;
    return true;
  }
}
