import { BoundedCache } from '../tools/bounded-cache.js';
import type { RateLimits } from '../config/rate-limits.js';
import { Admission, type Standing } from './admission.js';

/** Below this there are few calls to save a statement for, and 1 % of the room would be next to none. */
const leastLimit = 1_000;
/** Share of the smallest window; the database counts in the same grain. */
const bucketsPerWindow = 40;

interface Stock {
  left: number;
  /** As `performance.now()`: what is left then is lost, never used later than it was counted. */
  until: number;
  standing: Standing;
}

/** What was taken ahead for one subject and class of routes. */
export class Supply {
  private stocks: Stock[] = [];
  private bucket = 0;
  private demand = 0;
  private demandBefore = 0;
  private isAsked = false;
  /** A bucket in which there was no more to have. */
  private emptyIn: number | undefined;

  constructor(readonly bucketMs: number) {}

  /** One admission, if there is one. Counts the demand either way. */
  take(now: number): Admission | undefined {
    this.count(Math.floor(now / this.bucketMs));
    while (this.stocks.length > 0) {
      const stock = this.stocks[0]!;
      if (stock.left > 0 && stock.until > now) return new Admission(true, stock.standing, --stock.left);
      this.stocks.shift();
    }
    return undefined;
  }

  /** Whether more is to be asked for now, so that nobody has to wait for it. Says so once. */
  shouldAsk(now: number): boolean {
    const last = this.stocks.at(-1);
    if (this.isAsked || this.emptyIn === this.bucket || last === undefined) return false;
    this.isAsked =
      last.until - this.bucketMs <= now || (this.stocks.length === 1 && last.left < this.demandBefore / 2);
    return this.isAsked;
  }

  /** How much is worth taking ahead: what the bucket before this one used. */
  get spare(): number {
    return this.demandBefore;
  }

  put(left: number, until: number, standing: Standing): void {
    this.isAsked = false;
    this.stocks.push({ left, until, standing });
  }

  /** Nobody answered. */
  giveUp(): void {
    this.isAsked = false;
  }

  /** There was no more to have: it is not worth asking again within this bucket. */
  putNothing(): void {
    this.isAsked = false;
    this.emptyIn = this.bucket;
  }

  private count(bucket: number): void {
    if (this.bucket !== bucket) {
      this.demandBefore = this.bucket === bucket - 1 ? this.demand : 0;
      this.demand = 0;
      this.bucket = bucket;
    }
    this.demand++;
  }
}

/**
 * Admissions of subjects with high limits, taken ahead until the end of the next bucket, so that they are answered
 * from memory. They are counted when they are taken: unused ones are wasted, none is ever given twice.
 */
export class Reserve {
  private readonly supplies = new BoundedCache<Supply>(10_000);
  private readonly bucketsMs = new WeakMap<RateLimits, number | null>();

  /** undefined: its limits are so low that nothing is taken ahead. */
  supply(key: string, limits: RateLimits, now: number): Supply | undefined {
    const bucketMs = this.bucketMs(limits);
    if (bucketMs === null) return undefined;
    let supply = this.supplies.get(key, now);
    if (supply?.bucketMs !== bucketMs) {
      supply = new Supply(bucketMs);
      this.supplies.set(key, supply, Infinity);
    }
    return supply;
  }

  private bucketMs(limits: RateLimits): number | null {
    let known = this.bucketsMs.get(limits);
    if (known === undefined) {
      known = limits.every(({ limit }) => limit >= leastLimit)
        ? Math.min(...limits.map(({ windowMs }) => windowMs)) / bucketsPerWindow
        : null;
      this.bucketsMs.set(limits, known);
    }
    return known;
  }
}
