import type { RateWindow } from '../config/rate-limits.js';

/** Admissions so close together leave a window together, with the last of them: late by so much of it, early never. */
const grainsPerWindow = 40;
/** With so much of the limit left of its share, a node asks for more, if there is any. */
const lowPart = 1 / 16;
const compactAfter = 256;

/** One window of a caller's limit: the share of it that this node holds, and what the node admitted within it. */
export class ShareWindow {
  /** What this node may admit within any `windowMs`; never above what the database has granted it. */
  share = 0;
  /** Of the limit, what no node held when the database last granted. */
  unallocated = 0;
  /** Admitted here within the window, as of the last `expire`. */
  used = 0;
  /** Of each grain the time of its last admission and how many they are; from `head` on, the oldest first. */
  private grains: number[] = [];
  private head = 0;
  private readonly grainMs: number;

  constructor(readonly window: RateWindow) {
    this.grainMs = window.windowMs / grainsPerWindow;
  }

  get runsLow(): boolean {
    return this.unallocated > 0 && this.share - this.used <= this.window.limit * lowPart;
  }

  get hasRoom(): boolean {
    return this.used < this.share;
  }

  get isWhole(): boolean {
    return this.share >= this.window.limit;
  }

  /** Times are the process's monotonic clock, in milliseconds. */
  expire(now: number): void {
    const { grains } = this;
    const { windowMs } = this.window;
    for (; this.head < grains.length && grains[this.head]! + windowMs <= now; this.head += 2)
      this.used -= grains[this.head + 1]!;
    if (this.head < compactAfter && this.head < grains.length) return;
    if (this.head > 0) this.grains = grains.slice(this.head);
    this.head = 0;
  }

  add(now: number): void {
    const { grains } = this;
    const last = grains.length - 2;
    const joinsLast =
      last >= this.head && Math.floor(grains[last]! / this.grainMs) === Math.floor(now / this.grainMs);
    if (joinsLast) {
      grains[last] = now;
      grains[last + 1]!++;
    } else if (last < 0) {
      this.grains = [now, 1]; // most callers call once: an array that grows has room for 17
    } else {
      grains.push(now, 1);
    }
    this.used++;
  }

  /** Until the oldest admission leaves the window; 0 if there is none. */
  resetMs(now: number): number {
    const oldest = this.grains[this.head];
    if (oldest === undefined) return 0;
    // Never above the window, by the last digit of a number: that would be a second more in whole seconds.
    return Math.min(this.window.windowMs, Math.max(0, oldest + this.window.windowMs - now));
  }

  /** Gives up all but what is used and a part of the rest: only a share above the use may shrink. False: nothing to give. */
  shrink(keepOfUnused: number): boolean {
    const unused = this.share - this.used;
    const given = unused - Math.floor(Math.max(0, unused) * keepOfUnused);
    if (given <= 0) return false;
    this.share -= given;
    this.unallocated += given;
    return true;
  }
}
