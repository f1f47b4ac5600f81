import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { getOptionsToken, ThrottlerGuard, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { CallerResolver, type Resolution } from '../auth/caller-resolver.js';
import { RequireScope } from '../auth/require-scope.decorator.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';
import { type Admission, exhausted } from './admission.js';
import { rateLimitFields, retryAfterSeconds } from './rate-limit-fields.js';
import { RateLimitStorage } from './rate-limit-storage.js';

/**
 * Counts the call before anything else is done with it: against the key if it is valid, else against the
 * address. It replaces the throttler's own loop over windows, which asks for one after the other and so
 * would count a call in one window that the next one refuses.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    private readonly storage: RateLimitStorage,
    reflector: Reflector,
    private readonly callers: CallerResolver,
    private readonly config: Config,
  ) {
    super(options, storage, reflector);
  }

  /** The limits depend on the route and the key: there are no fixed throttlers to prepare. */
  override async onModuleInit(): Promise<void> {}

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const resolution = await this.callers.resolve(request);
    const isSubmit = this.reflector.get(RequireScope, context.getHandler()) === 'submit';
    const limits = this.limitsOf(resolution, isSubmit);
    if (limits.length === 0) return true;

    const subject =
      resolution.kind === 'caller'
        ? `key:${resolution.caller.keyId}`
        : `address:${await this.getTracker(request)}`;
    const admission = await this.storage.admit(subject, isSubmit ? 'submit' : 'other', limits);
    const response = http.getResponse<Response>();
    for (const [name, value] of rateLimitFields(admission)) response.setHeader(name, value);
    if (!admission.admitted) throw this.refusal(admission);
    return true;
  }

  private limitsOf(resolution: Resolution, isSubmit: boolean): RateLimits {
    const own =
      resolution.kind === 'caller'
        ? resolution.caller[isSubmit ? 'rateLimitSubmit' : 'rateLimitOther']
        : null;
    return own ?? (isSubmit ? this.config.rateLimitSubmit : this.config.rateLimitOther);
  }

  private refusal(admission: Admission): DomainError {
    const seconds = retryAfterSeconds(admission);
    const full = exhausted(admission).map(({ window }) => window);
    const limits = full.map(({ limit, name }) => `${limit} requests in a ${name}`).join(' and ');
    return new DomainError('rate_limited', `No more than ${limits}. Try again in ${seconds} s.`, {
      status: this.config.rateLimitStatus,
      retryAfterSeconds: seconds,
      extensions: { 'violated-policies': full.map(({ name }) => name) },
    });
  }
}
