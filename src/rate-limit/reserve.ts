import { BoundedCache } from '../auth/bounded-cache.js';
import type { RateLimits } from '../config/rate-limits.js';
import type { Admission } from './admission.js';

/** Below this a statement an admission costs nothing, and 1 % of the room would be next to none. */
const leastLimit = 1_000;
/** Share of the smallest window; the database counts in the same grain. */
const bucketsPerWindow = 40;

interface Stock {
  left: number;
  /** As `performance.now()`: what is left then is lost, never used later than it was counted. */
  until: number;
  admission: Admission;
  bucket: number;
  demand: number;
  demandBefore: number;
}

/**
 * Admissions of subjects with high limits, taken ahead for the rest of a bucket, so that they are answered
 * from memory. They are counted when they are taken: unused ones are wasted, none is ever given twice.
 */
export class Reserve {
  private readonly stocks = new BoundedCache<Stock>(10_000);

  /** One admission from the stock, if there is one. Counts the demand either way. */
  take(key: string, limits: RateLimits, now: number): Admission | undefined {
    if (!limits.every(({ limit }) => limit >= leastLimit)) return undefined;
    const bucketMs = Math.min(...limits.map(({ windowMs }) => windowMs)) / bucketsPerWindow;
    const stock = this.count(key, Math.floor(now / bucketMs), now);
    if (stock.left === 0 || stock.until <= now) return undefined;
    stock.left--;
    return withMore(stock.admission, stock.left);
  }

  /** How much is worth taking ahead: what the bucket before this one used. */
  spare(key: string, now: number): number {
    return this.stocks.get(key, now)?.demandBefore ?? 0;
  }

  put(key: string, left: number, until: number, admission: Admission): void {
    const stock = this.stocks.get(key, 0);
    if (stock !== undefined) Object.assign(stock, { left, until, admission });
  }

  private count(key: string, bucket: number, now: number): Stock {
    let stock = this.stocks.get(key, now);
    if (stock === undefined) {
      stock = { left: 0, until: 0, admission: none, bucket, demand: 0, demandBefore: 0 };
      this.stocks.set(key, stock, Infinity);
    } else if (stock.bucket !== bucket) {
      stock.demandBefore = stock.bucket === bucket - 1 ? stock.demand : 0;
      stock.demand = 0;
      stock.bucket = bucket;
    }
    stock.demand++;
    return stock;
  }
}

const none: Admission = { admitted: false, windows: [] };

/** The state as it was before the last `more` admissions. */
export function withMore(admission: Admission, more: number): Admission {
  return {
    admitted: true,
    windows: admission.windows.map((state) => ({ ...state, remaining: state.remaining + more })),
  };
}
