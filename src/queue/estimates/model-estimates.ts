import type { Span } from '../waiting/waiting-index.js';
import { type Arrivals, Overtaking } from './overtaking.js';
import { RunTimes } from './run-times.js';

/** Milliseconds from now. */
export interface Interval {
  from: number;
  to: number;
}

/** The facts that the estimate of a waiting request depends on. */
export interface WaitingPlace {
  position: number;
  priority: number;
  start: number;
  /** The longest run of another model that shares its slots; 0: there is none. */
  longestOtherMs: number;
  /** The slots that runs of its priority may use, if others are reserved. */
  slots?: number | undefined;
}

/** Standard deviations to each side: the true time is within for 8 of 10 requests, and often more. */
const width = 1.6;
/** Relative drift that is allowed between past and future. */
const runDrift = 0.07;
const arrivalDrift = 0.2;
/**
 * At most this part of the slots is expected to go to requests that overtake: with all of it, a request would never
 * start.
 */
const maxOvertaken = 0.9;
/**
 * Nothing has started for `factor` times the longest run and `moreMs` more: something is wrong, for an unknown time.
 */
const stall = { factor: 1.5, moreMs: 1_000 };
/** The number of runs that count: `least`, and `ofSlot` more for each slot. Fewer would be only a part of a round. */
const memory = { least: 200, ofSlot: 2 };

/** Estimates when the requests of one model start and end, by how long its runs take and by what overtakes them. */
export class ModelEstimates {
  readonly runTimes: RunTimes;
  private readonly overtaking = new Map<number, Overtaking>();
  /** The times at which the newest runs began, one for each slot, oldest first. */
  private readonly began: number[] = [];

  /** `slots`: 0 if their number is unknown. */
  constructor(public slots: number) {
    this.runTimes = new RunTimes(memory.least + memory.ofSlot * slots);
  }

  /** `starts`: the virtual starts of requests that were added at once. `span`: the span of their queue after that. */
  added(priority: number, starts: readonly number[], span: Span, now: number): void {
    this.overtakingAt(priority).added(starts, span, now);
  }

  left(priority: number, span: Span, now: number): void {
    this.overtakingAt(priority).step(span, now);
  }

  runBegan(now: number): void {
    this.began.push(now);
    while (this.began.length > this.slots) this.began.shift();
  }

  /** undefined: too little is known. */
  startIn(
    { position, priority, start, longestOtherMs, slots = this.slots }: WaitingPlace,
    span: Span,
    now: number,
  ): Interval | undefined {
    const { runTimes } = this;
    if (slots === 0 || !runTimes.isKnown || this.isStalled(now, longestOtherMs)) return undefined;
    const { meanMs, variation, count } = runTimes;
    const everyMs = meanMs / slots;
    const before = this.before(priority, start, span);
    const overtaken = Math.min(maxOvertaken, before.rate * everyMs);
    // Runs that take the same time end in the order in which they began. Of others, any may end next.
    const regularity = Math.max(0, 1 - variation) ** 2;
    const evenly = (position + 0.5) * everyMs;
    // It is unknown which of the present runs are in slots that this priority may use.
    const isTurnKnown = regularity > 0 && slots === this.slots;
    const inTurn = (isTurnKnown ? this.inTurn(position, now) : undefined) ?? evenly;
    const wait = (regularity * inTurn + (1 - regularity) * evenly) / (1 - overtaken);
    const runs = (position + 1) / (1 - overtaken);
    const firstRound = Math.min(runs, slots);
    const irregular = firstRound * Math.max(1 - regularity, variation) + (runs - firstRound) * variation;
    const deviation = Math.hypot(
      everyMs * Math.sqrt(irregular),
      wait * Math.sqrt(variation / count + runDrift ** 2),
      ((wait * overtaken) / (1 - overtaken)) * Math.sqrt(arrivalDrift ** 2 + before.doubt),
      Math.sqrt(everyMs * wait * overtaken * before.clump),
    );
    const half = Math.min(wait, width * deviation);
    return { from: wait - half, to: wait + half };
  }

  /** Returns when a request ends, given when it starts. */
  endIn(start: Interval): Interval {
    const [from, to] = this.runTimes.mostMs;
    return { from: start.from + from, to: start.to + to };
  }

  /** Returns when a run of this age ends. undefined: too little is known, or no run has taken that long. */
  endOfRunIn(runMs: number): Interval | undefined {
    if (!this.runTimes.isKnown) return undefined;
    const most = this.runTimes.mostLeftMs(runMs);
    return most && { from: most[0] - runMs, to: most[1] - runMs };
  }

  private isStalled(now: number, longestOtherMs: number): boolean {
    const last = this.began.at(-1);
    const longestMs = Math.max(this.runTimes.longestMs, longestOtherMs);
    return last !== undefined && now - last > stall.factor * longestMs + stall.moreMs;
  }

  /** Returns the wait if each run took the mean time. undefined: it is unknown when the present runs began. */
  private inTurn(position: number, now: number): number | undefined {
    const { slots, began, runTimes } = this;
    if (began.length < slots) return undefined;
    const first = began[position % slots]! + runTimes.meanMs - now;
    if (first < -runTimes.meanMs / 2) return undefined;
    return Math.max(0, first) + Math.floor(position / slots) * runTimes.meanMs;
  }

  /** Returns the requests that come in before it. `doubt`: the square of the relative error that the rate may have. */
  private before(priority: number, start: number, span: Span): Omit<Arrivals, 'steps'> & { doubt: number } {
    let [rate, clumps, doubts] = [0, 0, 0];
    for (const [other, overtaking] of this.overtaking) {
      if (other > priority) continue;
      const arrivals = other < priority ? overtaking.all : overtaking.before(start, span);
      rate += arrivals.rate;
      clumps += arrivals.rate * arrivals.clump;
      doubts += arrivals.rate ** 2 / (1 + arrivals.steps);
    }
    return rate > 0
      ? { rate, clump: clumps / rate, doubt: doubts / rate ** 2 }
      : { rate, clump: 1, doubt: 0 };
  }

  private overtakingAt(priority: number): Overtaking {
    let found = this.overtaking.get(priority);
    if (found === undefined) this.overtaking.set(priority, (found = new Overtaking()));
    return found;
  }
}
