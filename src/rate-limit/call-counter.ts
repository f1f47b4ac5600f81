import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';
import type { Admission } from './admission.js';
import { RateLimitStorage, type Claimant } from './rate-limit-storage.js';
import { Ticket } from './ticket.js';

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
  async countCaller(caller: Caller, routeClass: RouteClass): Promise<Admission | undefined> {
    const claimant = this.claimantOf(caller, routeClass);
    return claimant && (this.storage.known(claimant) ?? this.storage.count(claimant));
  }

  /** The same, but what takes a statement is left to a ticket. */
  tryCaller(caller: Caller, routeClass: RouteClass): Admission | Ticket | undefined {
    const claimant = this.claimantOf(caller, routeClass);
    return claimant && (this.storage.known(claimant) ?? this.ticket(claimant));
  }

  /** The same for who calls without a valid key. */
  async countAddress(address: string, routeClass: RouteClass): Promise<Admission | undefined> {
    const claimant = toClaimant(`address:${address}`, routeClass, this.limitsOf(routeClass));
    return claimant && (this.storage.known(claimant) ?? this.storage.count(claimant));
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

  private ticket(claimant: Claimant): Ticket {
    return new Ticket(this.storage, claimant, (admission) => this.refusal(admission));
  }

  private claimantOf(caller: Caller, routeClass: RouteClass): Claimant | undefined {
    const own = caller[routeClass === 'submit' ? 'rateLimitSubmit' : 'rateLimitOther'];
    return toClaimant(`key:${caller.keyId}`, routeClass, own ?? this.limitsOf(routeClass));
  }

  private limitsOf(routeClass: RouteClass): RateLimits {
    return this.config[routeClass === 'submit' ? 'rateLimitSubmit' : 'rateLimitOther'];
  }
}

function toClaimant(subject: string, routeClass: RouteClass, limits: RateLimits): Claimant | undefined {
  return limits.length === 0 ? undefined : { subject, routeClass, limits };
}
