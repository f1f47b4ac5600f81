import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';
import type { Admission } from './admission.js';
import { RateLimitStorage } from './rate-limit-storage.js';

/** Submissions are limited apart from all other calls. */
export type RouteClass = 'submit' | 'other';

export type Counted = Admission | undefined | Promise<Admission>;

/** Counts a call under its limits: against the key if it is valid, else against the address. */
@Injectable()
export class CallCounter {
  constructor(
    private readonly storage: RateLimitStorage,
    private readonly config: Config,
  ) {}

  /** At once where that is known. undefined: nothing limits it, and nothing was counted. */
  countCaller(caller: Caller, routeClass: RouteClass): Counted {
    const own = caller[routeClass === 'submit' ? 'rateLimitSubmit' : 'rateLimitOther'];
    return this.count(`key:${caller.keyId}`, routeClass, own ?? this.limitsOf(routeClass));
  }

  /** The same for who calls without a valid key. */
  countAddress(address: string, routeClass: RouteClass): Counted {
    return this.count(`address:${address}`, routeClass, this.limitsOf(routeClass));
  }

  refusal(admission: Admission): DomainError {
    const seconds = admission.retryAfterSeconds;
    const full = admission.exhausted.map(({ window }) => window);
    const limits = full.map(({ limit, name }) => `${limit} requests in a ${name}`).join(' and ');
    return new DomainError('rate_limited', `No more than ${limits}. Try again in ${seconds} s.`, {
      status: this.config.rateLimitStatus,
      retryAfterSeconds: seconds,
      extensions: { 'violated-policies': full.map(({ name }) => name) },
    });
  }

  private count(subject: string, routeClass: RouteClass, limits: RateLimits): Counted {
    return limits.length === 0 ? undefined : this.storage.admit(subject, routeClass, limits);
  }

  private limitsOf(routeClass: RouteClass): RateLimits {
    return this.config[routeClass === 'submit' ? 'rateLimitSubmit' : 'rateLimitOther'];
  }
}
