import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { parseRateLimits } from '../config/parsers.js';
import { policyText } from '../config/rate-limits.js';
import type { Admission } from './admission.js';
import type { LimitSubject, RouteClass } from './budget.js';
import { Gate } from './gate.js';

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's record of a call, and how its windows stand. */
export interface CountedCall extends StorageRecord {
  admission: Admission;
}

/** The key under which the throttler counts: the limits and what they count for. */
export function throttlerKey({ subject, limits, hasKey }: LimitSubject): string {
  return `${hasKey ? 'key' : 'address'} ${policyText(limits)} ${subject}`;
}

/** The throttler's storage: counts a call by the gate, in all windows of its limit at once. */
@Injectable()
export class ShareStorage implements ThrottlerStorage {
  constructor(private readonly gate: Gate) {}

  /** `key`: as `throttlerKey` makes it; the windows are its own, so `ttl` and `limit` are not looked at. */
  async increment(
    key: string,
    _ttl: number,
    _limit: number,
    _blockDuration: number,
    throttlerName: string,
  ): Promise<CountedCall> {
    const [kind, policy, ...subject] = key.split(' ');
    const admission = await this.gate.count({
      subject: subject.join(' '),
      routeClass: throttlerName as RouteClass,
      limits: parseRateLimits(policy!),
      hasKey: kind === 'key',
    });
    const tightest = admission.windows[0]!;
    const seconds = Math.ceil(tightest.resetMs / 1_000);
    return {
      admission,
      totalHits: admission.admitted ? tightest.window.limit - tightest.remaining : tightest.window.limit + 1,
      timeToExpire: seconds,
      isBlocked: !admission.admitted,
      timeToBlockExpire: admission.admitted ? 0 : admission.retryAfterSeconds,
    };
  }
}
