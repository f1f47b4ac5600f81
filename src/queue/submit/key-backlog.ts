import { setTimeout as delay } from 'node:timers/promises';
import { UnderWay } from './under-way.js';

/** So old may a count be; what was let in since is added. */
const countedForMs = 1_000;
/** A count rests after the last for so many times as long as that took: a key at its bound keeps no processor busy. */
const restPerCount = 4;
/** Submissions are held meanwhile. */
const maxRestMs = 1_000;

/** How many requests of a key wait, as far as one process knows: the database counts them now and then. */
export class KeyBacklog {
  /** As it was counted, up to the bound. */
  private waiting = 0;
  /** Let in since, or under way when the count began. */
  private since = 0;
  private countedFrom = -Infinity;
  private freshUntil = -Infinity;
  private restsUntil = -Infinity;
  private counting: Promise<void> | undefined;
  private readonly underWay = new UnderWay();

  /** `max`: no more may wait. */
  constructor(
    private readonly max: number,
    private readonly countUpTo: (max: number) => Promise<number>,
  ) {}

  /** How many more may wait, for all that is known just now. */
  get room(): number {
    return performance.now() < this.freshUntil ? this.max - this.waiting - this.since : 0;
  }

  /** Lets one in. What it returns is called once, when it is written or is not. */
  take(): () => void {
    this.since++;
    return this.underWay.begin();
  }

  /**
   * As `take`; undefined: there is no room, by a count that began after the call. What is being written may wait, may start
   * at once, or may fail: it is waited for.
   */
  async enter(): Promise<(() => void) | undefined> {
    const cameAt = performance.now();
    try {
      for (;;) {
        if (this.room > 0) {
          const leave = this.take();
          if (this.room > 0) this.underWay.wake();
          return leave;
        }
        const isCounted = this.countedFrom >= cameAt;
        if (isCounted && this.since === 0) break;
        const isAllUnderWay = this.since === this.underWay.count;
        await (isCounted && isAllUnderWay ? this.underWay.oneIsOver() : this.count());
      }
    } catch (error) {
      this.underWay.wake();
      throw error;
    }
    this.underWay.wake();
    return undefined;
  }

  /** Makes sure that `room` is as of now, if it is not enough for so many. Waits for no writes. */
  async lookFor(count: number): Promise<void> {
    if (this.room < count) await this.count();
    // What ended while it was made may be in it twice.
    if (this.room < count && this.since !== this.underWay.count) await this.count();
  }

  /** Resolves when more is known: by the count that is under way, or by another. */
  private count(): Promise<void> {
    return (this.counting ??= this.restAndCount().finally(() => (this.counting = undefined)));
  }

  private async restAndCount(): Promise<void> {
    const restMs = this.restsUntil - performance.now();
    if (restMs > 0) await delay(restMs);
    const isOver = this.since - this.underWay.count;
    const from = performance.now();
    try {
      this.waiting = await this.countUpTo(this.max);
      this.since -= isOver;
      this.countedFrom = from;
      this.freshUntil = performance.now() + countedForMs;
    } finally {
      const now = performance.now();
      this.restsUntil = now + Math.min(maxRestMs, (now - from) * restPerCount);
    }
  }
}
