import type { RateLimits } from '../config/rate-limits.js';
import type { WindowState } from './window-state.js';

/** As in `rate_usage`: an entry stands for so much of the smallest window, and so many per window are joined. */
const grainsPerWindow = 40;
const mostEntriesPerWindow = 50;

/** How a call is counted if the row is still what it was, and the database's time between two moments. */
export interface Increment {
  /** The end of the row's last entry. */
  lastUs: number;
  /** So many entries stay as they are; one follows them. */
  keep: number;
  /** Of that one. */
  count: number;
  sinceUs: number;
  untilUs: number;
  /** Per window, before it. */
  windows: { used: number; oldestUs: number | undefined }[];
}

/**
 * What a row of `rate_usage` held when this process last saw it, so that a call can be counted without the database
 * looking at all of it. Times are in microseconds since 1970 by the database's clock.
 */
export class Usage {
  constructor(
    /** With another one, somebody else has counted since. */
    public version: string,
    private readonly ends: number[],
    private readonly counts: number[],
  ) {}

  /**
   * One call more, by the rules of `rate_admit_one`. undefined: there is no room, or there is more to do than to count
   * it.
   */
  increment(limits: RateLimits, nowUs: number): Increment | undefined {
    const size = this.ends.length;
    if (size === 0 || size >= mostEntriesPerWindow * limits.length) return undefined;
    const windows = limits.map(({ windowMs }) => this.within(windowMs * 1_000, nowUs));
    if (windows.some(({ used }, i) => used >= limits[i]!.limit)) return undefined;
    const grainUs = Math.min(...limits.map(({ windowMs }) => windowMs)) * (1_000 / grainsPerWindow);
    const lastUs = this.ends[size - 1]!;
    const grainEndUs = lastUs + ((grainUs - (lastUs % grainUs)) % grainUs);
    const joinsLast = nowUs <= grainEndUs;
    return {
      lastUs,
      keep: joinsLast ? size - 1 : size,
      count: joinsLast ? this.counts[size - 1]! + 1 : 1,
      // What is not counted as used must have left its window by the database's clock as well.
      sinceUs: Math.max(joinsLast ? lastUs : grainEndUs + 1, ...windows.map(({ leftUs }) => leftUs)),
      // Not later by more than an entry stands for, or what is counted as used may have left long ago.
      untilUs: Math.min(joinsLast ? grainEndUs : Infinity, nowUs + grainUs),
      windows,
    };
  }

  /** The database has counted it, as a call of `endUs`. */
  apply({ keep, count }: Increment, endUs: number, version: string): void {
    this.ends.splice(keep, Infinity, endUs);
    this.counts.splice(keep, Infinity, count);
    this.version = version;
  }

  private within(
    windowUs: number,
    nowUs: number,
  ): { used: number; oldestUs: number | undefined; leftUs: number } {
    let used = 0;
    let first = this.ends.length;
    while (first > 0 && this.ends[first - 1]! > nowUs - windowUs) used += this.counts[--first]!;
    const leftUs = first === 0 ? 0 : this.ends[first - 1]! + windowUs;
    return { used, oldestUs: this.ends[first], leftUs };
  }
}

/** How the windows stand once it is counted, as a call of `endUs`. */
export function windowsAfter(limits: RateLimits, { windows }: Increment, endUs: number): WindowState[] {
  return limits.map((window, i) => {
    const { used, oldestUs = endUs } = windows[i]!;
    return {
      window,
      remaining: window.limit - used - 1,
      resetMs: Math.max(0, oldestUs - endUs + window.windowMs * 1_000) / 1_000,
    };
  });
}
