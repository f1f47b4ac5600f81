import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { getOptionsToken, ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { CallerResolver } from '../auth/caller-resolver.js';
import { RequireScope } from '../auth/require-scope.decorator.js';
import { CallCounter } from './call-counter.js';
import { RateLimitStorage } from './rate-limit-storage.js';

/**
 * Counts the call before anything else is done with it. It replaces the throttler's own loop over windows,
 * which asks for one after the other and so would count a call in one window that the next one refuses.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    storage: RateLimitStorage,
    reflector: Reflector,
    private readonly callers: CallerResolver,
    private readonly counter: CallCounter,
  ) {
    super(options, storage, reflector);
  }

  /** The limits depend on the route and the key: there are no fixed throttlers to prepare. */
  override async onModuleInit(): Promise<void> {}

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const submits = this.reflector.get(RequireScope, context.getHandler()) === 'submit';
    const routeClass = submits ? 'submit' : 'other';
    const resolution = await this.callers.resolve(request);
    const admission =
      resolution.kind === 'caller'
        ? await this.counter.countCaller(resolution.caller, routeClass)
        : await this.counter.countAddress(await this.getTracker(request), routeClass);
    if (admission === undefined) return true;
    const response = http.getResponse<Response>();
    const { fields } = admission;
    for (let i = 0; i < fields.length; i += 2) response.setHeader(fields[i]!, fields[i + 1]!);
    if (!admission.admitted) throw this.counter.refusal(admission);
    return true;
  }
}
