import { Injectable } from '@nestjs/common';
import type { Resolution } from '../auth/caller-resolver.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';
import { type Admission, exhausted } from './admission.js';
import { retryAfterSeconds } from './rate-limit-fields.js';
import { RateLimitStorage } from './rate-limit-storage.js';

/** Submissions are limited apart from all other calls. */
export type RouteClass = 'submit' | 'other';

/** Counts a call under its limits: against the key if it is valid, else against the address. */
@Injectable()
export class CallCounter {
  constructor(
    private readonly storage: RateLimitStorage,
    private readonly config: Config,
  ) {}

  /** undefined: nothing limits it, and nothing was counted. */
  async count(
    resolution: Resolution,
    routeClass: RouteClass,
    address: () => string | undefined | Promise<string>,
  ): Promise<Admission | undefined> {
    const limits = this.limitsOf(resolution, routeClass);
    if (limits.length === 0) return undefined;
    const subject =
      resolution.kind === 'caller' ? `key:${resolution.caller.keyId}` : `address:${await address()}`;
    return this.storage.admit(subject, routeClass, limits);
  }

  refusal(admission: Admission): DomainError {
    const seconds = retryAfterSeconds(admission);
    const full = exhausted(admission).map(({ window }) => window);
    const limits = full.map(({ limit, name }) => `${limit} requests in a ${name}`).join(' and ');
    return new DomainError('rate_limited', `No more than ${limits}. Try again in ${seconds} s.`, {
      status: this.config.rateLimitStatus,
      retryAfterSeconds: seconds,
      extensions: { 'violated-policies': full.map(({ name }) => name) },
    });
  }

  private limitsOf(resolution: Resolution, routeClass: RouteClass): RateLimits {
    const submits = routeClass === 'submit';
    const own =
      resolution.kind === 'caller' ? resolution.caller[submits ? 'rateLimitSubmit' : 'rateLimitOther'] : null;
    return own ?? this.config[submits ? 'rateLimitSubmit' : 'rateLimitOther'];
  }
}
