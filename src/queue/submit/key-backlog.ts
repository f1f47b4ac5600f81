import { UnderWay } from './under-way.js';

/** A count may be this old; requests admitted since are added to it. */
const countedForMs = 1_000;

/** Knows how many requests of a key wait, as far as one process can. The database counts them now and then. */
export class KeyBacklog {
  /** The number at the last count. */
  private waiting = 0;
  /** Requests admitted since, or being written when the count began. */
  private since = 0;
  private countedFrom = -Infinity;
  private freshUntil = -Infinity;
  private counting: Promise<void> | undefined;
  private readonly underWay = new UnderWay();

  /** `max`: at most this many requests may wait. `countWaiting` calls `onBegin` when its count begins. */
  constructor(
    private readonly max: number,
    private readonly countWaiting: (onBegin: () => void) => Promise<number>,
  ) {}

  /** How many more requests may wait, by what is known now. */
  get room(): number {
    return performance.now() < this.freshUntil ? this.max - this.waiting - this.since : 0;
  }

  /** Admits a request. The returned function is called once, when it is written, or when its write has failed. */
  take(): () => void {
    this.since++;
    return this.underWay.begin();
  }

  /**
   * Like `take`. undefined: there is no room, by a count that began after the call. A request that is being written
   * may wait, start at once, or fail, so this waits for it.
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

  /** Makes sure that `room` is up to date if it is less than `count`. Waits for no writes. */
  async lookFor(count: number): Promise<void> {
    if (this.room < count) await this.count();
    // Writes that ended during the count may be counted twice.
    if (this.room < count && this.since !== this.underWay.count) await this.count();
  }

  /** Resolves when more is known: by the count in progress, or by another. */
  private count(): Promise<void> {
    return (this.counting ??= this.look().finally(() => (this.counting = undefined)));
  }

  private async look(): Promise<void> {
    let isOver = 0;
    let from = -Infinity;
    this.waiting = await this.countWaiting(() => {
      isOver = this.since - this.underWay.count;
      from = performance.now();
    });
    this.since -= isOver;
    this.countedFrom = from;
    this.freshUntil = performance.now() + countedForMs;
  }
}
