import { BoundedCache } from '../tools/bounded-cache.js';
import type { RateLimits } from '../config/rate-limits.js';
import { Admission, Standing } from './admission.js';

interface Refusal {
  limits: RateLimits;
  standing: Standing;
  at: number;
}

/**
 * Whom the database refused, until it may admit them again: a full window stays full until its oldest
 * admission leaves, whoever asks. So a flood of refused calls costs the database nothing.
 */
export class Refusals {
  private readonly refusals = new BoundedCache<Refusal>(10_000);

  /** `at`: when the question was sent, so that the refusal never outlives the truth. */
  note(key: string, limits: RateLimits, standing: Standing, at: number): void {
    const { retryAfterMs } = new Admission(false, standing);
    this.refusals.set(key, { limits, standing, at }, at + retryAfterMs);
  }

  find(key: string, limits: RateLimits, now: number): Admission | undefined {
    const refusal = this.refusals.get(key, now);
    if (refusal === undefined || refusal.limits !== limits) return undefined;
    const elapsedMs = now - refusal.at;
    const windows = refusal.standing.windows.map((state) => ({
      ...state,
      resetMs: Math.max(0, state.resetMs - elapsedMs),
    }));
    return new Admission(false, new Standing(windows));
  }
}
