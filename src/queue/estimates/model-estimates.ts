import type { Span } from '../waiting/waiting-index.js';
import { type Arrivals, Overtaking } from './overtaking.js';
import { RunTimes } from './run-times.js';

/** In milliseconds from now. */
export interface Interval {
  from: number;
  to: number;
}

/** What is to be known of a request that waits. */
export interface WaitingPlace {
  position: number;
  priority: number;
  start: number;
}

/** Of standard deviations: so wide, the true time is within for 8 of 10, and often more. */
const width = 1.6;
/** As parts: by so much what comes may differ from what was. */
const runDrift = 0.07;
const arrivalDrift = 0.2;
/** Others are not expected to take more than this of the slots before a request: it would never start. */
const maxOvertaken = 0.9;
/** Nothing has started for longer than the longest run, and by so much: something is wrong, and nobody knows for how long. */
const stall = { factor: 1.5, moreMs: 1_000 };
/** Runs that count, and as many again for each slot: fewer are a part of a round. */
const memory = { least: 200, ofSlot: 2 };

/** When the requests of one model start and end, by how long its runs take and what comes in before. */
export class ModelEstimates {
  readonly runTimes: RunTimes;
  private readonly overtaking = new Map<number, Overtaking>();
  /** When the newest runs began, one for each slot, oldest first. */
  private readonly began: number[] = [];

  /** `slots`: 0: nobody knows how many. */
  constructor(public slots: number) {
    this.runTimes = new RunTimes(memory.least + memory.ofSlot * slots);
  }

  /** `starts`: the virtual starts of what came at once; `span`: of their queue since then. */
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
  startIn({ position, priority, start }: WaitingPlace, span: Span, now: number): Interval | undefined {
    const { runTimes, slots } = this;
    if (slots === 0 || !runTimes.isKnown || this.isStalled(now)) return undefined;
    const { meanMs, variation, count } = runTimes;
    const everyMs = meanMs / slots;
    const before = this.before(priority, start, span);
    const overtaken = Math.min(maxOvertaken, before.rate * everyMs);
    // Runs that take the same time end as they began; of others any may end next.
    const regularity = Math.max(0, 1 - variation) ** 2;
    const evenly = (position + 0.5) * everyMs;
    const inTurn = (regularity > 0 ? this.inTurn(position, now) : undefined) ?? evenly;
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

  /** After its start. */
  endIn(start: Interval): Interval {
    const [from, to] = this.runTimes.mostMs;
    return { from: start.from + from, to: start.to + to };
  }

  /** Of one that runs; undefined: too little is known, or none has run for so long. */
  endOfRunIn(runMs: number): Interval | undefined {
    if (!this.runTimes.isKnown) return undefined;
    const most = this.runTimes.mostLeftMs(runMs);
    return most && { from: most[0] - runMs, to: most[1] - runMs };
  }

  private isStalled(now: number): boolean {
    const last = this.began.at(-1);
    return last !== undefined && now - last > stall.factor * this.runTimes.longestMs + stall.moreMs;
  }

  /** If each run took the mean; undefined: it is not known when those that run began. */
  private inTurn(position: number, now: number): number | undefined {
    const { slots, began, runTimes } = this;
    if (began.length < slots) return undefined;
    const first = began[position % slots]! + runTimes.meanMs - now;
    if (first < -runTimes.meanMs / 2) return undefined;
    return Math.max(0, first) + Math.floor(position / slots) * runTimes.meanMs;
  }

  /** What comes in before it; `doubt`: the square of how wrong the rate may be, as a part of it. */
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
