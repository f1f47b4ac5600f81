import { policyText, type RateLimits, type RateWindow } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';

/** Submissions, all other calls and the items of a batch have separate limits. */
export type RouteClass = 'submit' | 'other' | 'batch';

export interface LimitSubject {
  subject: string;
  routeClass: RouteClass;
  limits: RateLimits;
  hasKey: boolean;
}

/** Identifies what a limit counts for: a key or an address, a class of routes, and the limits themselves. */
export interface BudgetKey {
  subject: string;
  routeClass: RouteClass;
  /**
   * The limits as in RATE_LIMIT_SUBMIT. Other limits are another budget, so nodes never add up shares of different
   * limits.
   */
  policy: string;
}

export function keyOf({ subject, routeClass, limits }: LimitSubject): BudgetKey {
  return { subject, routeClass, policy: policyText(limits) };
}

export function idOf({ subject, routeClass, policy }: Record<keyof BudgetKey, string>): string {
  return `${routeClass} ${policy} ${subject}`;
}

/** One number per window, the tightest window first. */
export type PerWindow = readonly number[];

export interface GrantRequest {
  key: BudgetKey;
  limits: PerWindow;
  windowsMs: PerWindow;
  /** The share that the node holds and keeps. */
  held: PerWindow;
  /** The use once the waiting calls are admitted, as far as the share allows. */
  used: PerWindow;
  /** The amount that the waiting calls need beyond the share. */
  needed: PerWindow;
  /** `needed` and some more for the calls to come. */
  wanted: PerWindow;
}

export interface Grant {
  /** The node's share from now on. It is committed. */
  shares: PerWindow;
  /** The part of the limit that no node holds. */
  unallocated: PerWindow;
  /** Less than needed was free. Other nodes that hold some were asked to give back. */
  isShort: boolean;
}

/** A budget's row as it is to be written: the share that the node keeps, and what it used of it. */
export interface ShareRow {
  key: BudgetKey;
  shares: PerWindow;
  used: PerWindow;
}

/** The state of one window after a call was admitted or refused. */
export interface WindowState {
  readonly window: RateWindow;
  /** What is left of the caller's limit, as far as this node knows. */
  readonly remaining: number;
  /** Milliseconds until the oldest admission leaves the window and makes room. */
  readonly resetMs: number;
  /** Milliseconds after which a refused call may come again, where that differs from `resetMs`. */
  readonly retryMs?: number | undefined;
  /** The window has no room for what was asked. */
  readonly refuses?: boolean;
}

/** The use of one window. */
export interface WindowUse {
  readonly window: RateWindow;
  readonly used: number;
  /** Milliseconds until the oldest of it leaves the window; 0: there is none. */
  readonly resetMs: number;
}

/** The result of one call. */
export class Admission {
  constructor(
    readonly admitted: boolean,
    readonly windows: readonly WindowState[],
  ) {}

  /** The windows that refuse. */
  get exhausted(): WindowState[] {
    return this.windows.filter(({ refuses }) => refuses === true);
  }

  /** `Retry-After` of a refusal. A caller that is the only user of its key is admitted after this wait. */
  get retryAfterSeconds(): number {
    return Math.max(
      1,
      Math.ceil(Math.max(0, ...this.exhausted.map(({ resetMs, retryMs = resetMs }) => retryMs)) / 1_000),
    );
  }
}

/** Returns the error of a call that was neither admitted nor refused, because this node may not decide. */
export function unavailable(): DomainError {
  return new DomainError('unavailable', 'The service cannot check rate limits now. Try again in a moment.');
}

/** Calls that are counted together. They wait until there is a share for them, or it is certain that there is none. */
export interface WaitingCall {
  since: number;
  /** The number of calls. */
  count: number;
  /** If there is no room for all of them, the first ones are admitted. Otherwise all of them are, or none. */
  isSome?: true;
  /** The time at which the database first answered a request sent since then. */
  answeredAt?: number | undefined;
  /** `admitted`: the number of calls that are admitted; 0: all are refused. */
  settle(admission: Admission, admitted: number): void;
  reject(error: unknown): void;
}

/**
 * A window is divided into this many grains. The admissions of a grain leave the window together, when the last of them
 * does: never early, and late by at most one grain.
 */
const grainsPerWindow = 40;
/** A node asks for more when the unused part of its share falls to this part of the limit, if any is unallocated. */
const lowPart = 1 / 16;
const compactAfter = 256;
/** Other nodes that had nothing to give back are not asked again for this long; the time doubles up to the maximum. */
const restMs = 250;
const maxRestMs = 1_000;
/** Prefetch: on top of what waits, a node that shares a limit asks for this part of it, divided by the nodes. */
const prefetchPart = 1 / 4;

/** The budget of one caller on this node: its shares, and the calls that wait for them. */
export class Budget {
  readonly windows: readonly ShareWindow[];
  private readonly waitingCalls: WaitingCall[] = [];
  /** The number of calls in `waitingCalls`. */
  waitingCount = 0;
  askedAt: number | undefined;
  /** A statement for it is under way, so no other may be sent. */
  isBusy = false;
  calledAt = -Infinity;
  /** Calls admitted but not yet written. Negative: the row already counts calls that still wait. */
  unwritten = 0;
  isRowUncertain = false; // its row may differ from its use
  private refusedUntil = 0;
  private restsUntil = 0;
  private restedMs = 0;

  constructor(
    readonly key: BudgetKey,
    limits: RateLimits,
  ) {
    this.windows = limits
      .map((window) => new ShareWindow(window))
      .sort((one, other) => one.window.windowMs - other.window.windowMs);
  }

  /** Returns the budget without a share, with the calls that wait for one. */
  withoutShare(): Budget {
    const budget = new Budget(
      this.key,
      this.windows.map(({ window }) => window),
    );
    // The old answers were for the old share.
    for (const call of this.waitingCalls.splice(0)) budget.addWaiting({ ...call, answeredAt: undefined });
    this.waitingCount = 0;
    return budget;
  }

  /** The waiting calls, in the order in which they came. */
  get waiting(): readonly WaitingCall[] {
    return this.waitingCalls;
  }

  addWaiting(call: WaitingCall): void {
    this.waitingCalls.push(call);
    this.waitingCount += call.count;
  }

  /** Takes the first waiting call off the list. */
  takeWaiting(): WaitingCall {
    const call = this.waitingCalls.shift()!;
    this.waitingCount -= call.count;
    return call;
  }

  get longestMs(): number {
    return this.windows.at(-1)!.window.windowMs;
  }

  /** More calls than this do not wait: even the whole limit could not admit them. */
  get maxWaiting(): number {
    return Math.min(...this.windows.map(({ window }) => window.limit));
  }

  expire(now: number): void {
    for (const window of this.windows) window.expire(now);
  }

  /** Keeps this part of the unused share. Returns false if there was nothing to give back. */
  shrink(retained: number, now: number): boolean {
    this.expire(now);
    return this.windows.map((window) => window.shrink(retained)).includes(true);
  }

  /** How many calls the shares have room for. */
  roomAt(now: number): number {
    this.calledAt = now;
    this.expire(now);
    return this.room;
  }

  private get room(): number {
    let room = Infinity;
    for (const { share, used } of this.windows) room = Math.min(room, share - used);
    return Math.max(0, room);
  }

  /** Counts the calls in every window, or in none. undefined: the share of a window has no room for all of them. */
  admit(now: number, count = 1): Admission | undefined {
    if (this.roomAt(now) < count) return undefined;
    for (const window of this.windows) window.add(now, count);
    this.unwritten += count;
    return this.admission(true, now);
  }

  /** Returns what this node admitted in each window. */
  use(now: number): WindowUse[] {
    this.expire(now);
    return this.windows.map((window) => ({
      window: window.window,
      used: window.used,
      resetMs: window.resetMs(now),
    }));
  }

  standingRefusal(now: number, count = 1): Admission | undefined {
    return now < this.refusedUntil ? this.refusal(now, count) : undefined;
  }

  /**
   * Returns whether this node holds the whole limit of a window that has no room for `count`: no other node has any of
   * it.
   */
  isExhaustedFor(count: number): boolean {
    return this.windows.some((window) => !window.hasRoomFor(count) && window.isWhole);
  }

  /** Returns whether a share is nearly used up and more of its limit is unallocated. */
  get runsLow(): boolean {
    return this.windows.some((window) => window.runsLow);
  }

  /** Refuses until what this node admitted leaves a window. `inVain`: the other nodes had nothing to give either. */
  refuse(now: number, { inVain = false, count = 1 } = {}): Admission {
    this.expire(now);
    // Fewer calls may still be admitted.
    if (this.room > 0) return this.refusal(now, count);
    const full = this.windows.filter((window) => !window.hasRoomFor(1));
    const exhausted = full.filter((window) => window.isWhole);
    if (inVain) this.restedMs = Math.min(maxRestMs, Math.max(restMs, this.restedMs * 2));
    // The other windows may have more by then.
    const ownMs = (exhausted.length > 0 ? exhausted : full).map((window) =>
      window.share > 0 ? window.resetMs(now) : Infinity,
    );
    this.refusedUntil =
      now + Math.min(Math.max(0, ...ownMs), exhausted.length > 0 ? Infinity : this.restedMs);
    this.restsUntil = now + (inVain ? this.restedMs : 0);
    return this.refusal(now, count);
  }

  /** Returns the same refusal as `refuse`, without effect on later calls. */
  refusal(now: number, count: number): Admission {
    this.expire(now);
    return this.admission(false, now, count);
  }

  mayAsk(now: number): boolean {
    return now >= this.restsUntil;
  }

  /** Another node gave something back, so the next call may ask. */
  forgetRefusal(): void {
    this.refusedUntil = this.restsUntil = this.restedMs = 0;
  }

  /** Returns the row to write: what the node holds and has used. */
  toRow(now: number): ShareRow {
    this.expire(now);
    this.unwritten = 0;
    const { key, windows } = this;
    return { key, shares: windows.map(({ share }) => share), used: windows.map(({ used }) => used) };
  }

  /** Returns a request for what waits and some more. The grant also writes the budget's row, so that it is not due. */
  toRequest(nodes: number, now: number): GrantRequest {
    const { key, shares: held, used: usedBefore } = this.toRow(now);
    this.unwritten = -this.waitingCount;
    const used = usedBefore.map((count) => count + this.waitingCount);
    const needed = held.map((share, i) => Math.max(0, used[i]! - share));
    const limits = this.windows.map(({ window }) => window.limit);
    const windowsMs = this.windows.map(({ window }) => window.windowMs);
    const wanted = this.windows.map(({ share, runsLow }, i) => {
      const limit = limits[i]!;
      if (nodes === 1) return limit - share;
      if (needed[i] === 0 && !runsLow) return 0;
      const prefetched = Math.ceil((limit * prefetchPart) / nodes);
      return Math.max(Math.ceil(limit / nodes) - share, needed[i]! + prefetched);
    });
    return { key, limits, windowsMs, held, used, needed, wanted };
  }

  /** Other nodes may give back a part when they are asked again, unless they gave nothing several times in a row. */
  private mayGrowSoon({ isWhole, used }: ShareWindow): boolean {
    return used === 0 || (!isWhole && this.restedMs < maxRestMs);
  }

  private admission(admitted: boolean, now: number, count = 1): Admission {
    const isFull = (window: ShareWindow): boolean => !window.hasRoomFor(count);
    // A full window refuses if no part of it is unallocated. If there is no such window, as during a burst, all full
    // windows refuse.
    const refuses = this.windows.some((window) => isFull(window) && window.unallocated === 0)
      ? (window: ShareWindow): boolean => isFull(window) && window.unallocated === 0
      : isFull;
    return new Admission(
      admitted,
      this.windows.map((window) => {
        const isRefusing = !admitted && refuses(window);
        const unused = Math.max(0, window.share - window.used);
        const longRetryMs = isRefusing && count > 1 ? window.roomMs(now, count) : undefined;
        return {
          window: window.window,
          remaining: isRefusing ? unused : unused + Math.max(0, window.unallocated),
          resetMs: window.used === 0 ? window.window.windowMs : window.resetMs(now),
          refuses: isRefusing,
          retryMs: this.mayGrowSoon(window) ? maxRestMs : longRetryMs,
        };
      }),
    );
  }
}

/** One window of a caller's limit: the share of it that this node holds, and what the node admitted within it. */
export class ShareWindow {
  /** Calls that this node may admit within any `windowMs`; never above what the database has granted it. */
  share = 0;
  /** The part of the limit that no node held when the database last granted. */
  unallocated = 0;
  /** Admitted here within the window, as of the last `expire`. */
  used = 0;
  /** Pairs (time of last admission, count) of the grains, oldest first, starting at `head`. */
  private grains: number[] = [];
  private head = 0;
  private readonly grainMs: number;

  constructor(readonly window: RateWindow) {
    this.grainMs = window.windowMs / grainsPerWindow;
  }

  get runsLow(): boolean {
    return this.unallocated > 0 && this.share - this.used <= this.window.limit * lowPart;
  }

  hasRoomFor(count: number): boolean {
    return this.used + count <= this.share;
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

  add(now: number, count = 1): void {
    const { grains } = this;
    const last = grains.length - 2;
    const joinsLast =
      last >= this.head && Math.floor(grains[last]! / this.grainMs) === Math.floor(now / this.grainMs);
    if (joinsLast) {
      grains[last] = now;
      grains[last + 1]! += count;
    } else if (last < 0) {
      this.grains = [now, count]; // most callers call once, and an array that grows has room for 17
    } else {
      grains.push(now, count);
    }
    this.used += count;
  }

  /** Milliseconds until the oldest admission leaves the window; 0 if there is none. */
  resetMs(now: number): number {
    const oldest = this.grains[this.head];
    if (oldest === undefined) return 0;
    // A rounding error above the window would be a second more in whole seconds.
    return Math.min(this.window.windowMs, Math.max(0, oldest + this.window.windowMs - now));
  }

  /** Milliseconds until there is room for `count`; the whole window if there never is. */
  roomMs(now: number, count: number): number {
    const { grains } = this;
    let missing = this.used + count - this.share;
    for (let i = this.head; i < grains.length; i += 2) {
      missing -= grains[i + 1]!;
      if (missing <= 0)
        return Math.min(this.window.windowMs, Math.max(0, grains[i]! + this.window.windowMs - now));
    }
    return this.window.windowMs;
  }

  /** Gives back the unused share, except this part of it. Returns false if the share is not above the use. */
  shrink(keepOfUnused: number): boolean {
    const unused = this.share - this.used;
    const given = unused - Math.floor(Math.max(0, unused) * keepOfUnused);
    if (given <= 0) return false;
    this.share -= given;
    this.unallocated += given;
    return true;
  }
}
