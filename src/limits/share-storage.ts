import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Admission } from './admission.js';
import type { LimitSubject } from './budget.js';
import { Gate } from './gate.js';

/** The throttler's record of a call, and how its windows stand. */
type CountedCall = Awaited<ReturnType<ThrottlerStorage['increment']>> & { admission: Admission };

/** The throttler's storage: counts a call by the gate, in all windows of its limit at once. */
@Injectable()
export class ShareStorage implements ThrottlerStorage {
  constructor(private readonly gate: Gate) {}

  /** `key`: the subject as JSON. Its limits have their own windows, so no `ttl` or `limit` is looked at. */
  async increment(key: string): Promise<CountedCall> {
    const admission = await this.gate.count(JSON.parse(key) as LimitSubject);
    const { window, remaining, resetMs } = admission.windows[0]!;
    return {
      admission,
      totalHits: admission.admitted ? window.limit - remaining : window.limit + 1,
      timeToExpire: Math.ceil(resetMs / 1_000),
      isBlocked: !admission.admitted,
      timeToBlockExpire: admission.admitted ? 0 : admission.retryAfterSeconds,
    };
  }
}
