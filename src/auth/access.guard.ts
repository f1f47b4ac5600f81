import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Config } from '../config/config.js';
import { admittedCaller } from './access.js';
import { CallerResolver } from './caller-resolver.js';
import type { Caller } from './caller.js';
import { RequireScope } from './require-scope.decorator.js';

/** A call that went past `AccessGuard`; no caller: it came without a key, where that is allowed. */
export interface GuardedRequest extends Request {
  caller?: Caller;
}

/** Lets in whom `admittedCaller` does, under the scope of the route. */
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
    const caller = admittedCaller(await this.callers.resolve(request), scope, this.config.requestAccess);
    if (caller !== undefined) request.caller = caller;
    return true;
  }
}
