import { ticksOfWeight1 } from '../waiting/fair-queue.js';
import type { Span } from '../waiting/waiting-index.js';

/** After this time, an observation counts for about a third. */
const memoryMs = 150_000;
/** Requests that come within one step count as coming at once: bursts are rarer than requests. */
const stepMs = 1_000;
/** Requests that came in the first moments, or in few steps, are not expected to come as often again. */
const minSeenMs = 2_000;
const doubtfulSteps = 2;
const buckets = 24;

/** Requests that overtake others. */
export interface Arrivals {
  /** Requests per millisecond. */
  rate: number;
  /** The number of requests that come at once. */
  clump: number;
  /** The number of steps in which they came. Few steps are weak evidence. */
  steps: number;
}

/** Counts the requests that came, and whether they came at once. */
class Seen {
  private inStep = 0;
  private total = 0;
  private squares = 0;

  add(count: number): void {
    this.inStep += count;
  }

  step(kept: number): void {
    this.total = this.total * kept + this.inStep;
    this.squares = this.squares * kept + this.inStep ** 2;
    this.inStep = 0;
  }

  get count(): number {
    return this.total;
  }

  /** Returns the arrivals at this measured rate, which is lowered if they came in few steps. */
  arrivals(rate: number): Arrivals {
    const clump = this.total > 0 ? Math.max(1, this.squares / this.total) : 1;
    const steps = this.total / clump;
    return { rate: (rate * steps) / (steps + doubtfulSteps), clump, steps };
  }
}

/**
 * Measures how often requests overtake others of one model and priority, by distance from the front of the queue. A
 * newcomer comes in near the front. The next request of a key with a hundred waiting ones comes in far behind.
 */
export class Overtaking {
  private readonly counts = new Float64Array(buckets);
  /** By bucket: for how long a request waited so far behind that it could be overtaken there. */
  private readonly exposedMs = new Float64Array(buckets);
  private readonly overtook = new Seen();
  private readonly came = new Seen();
  private seenMs = 0;
  /** The end of the queue before the last addition. */
  private last = 0;
  private steppedAt: number | undefined;

  /** `starts`: the virtual starts of requests that were added at once. `span`: the span of the queue after that. */
  added(starts: readonly number[], span: Span, now: number): void {
    const last = Math.min(this.last, span.last);
    this.step(span, now);
    this.came.add(starts.length);
    for (const start of starts) {
      if (start >= last) continue;
      this.counts[bucketOf(start - span.time)]! += 1;
      this.overtook.add(1);
    }
  }

  step({ time, last }: Span, now: number): void {
    this.last = last;
    this.steppedAt ??= now;
    const ms = now - this.steppedAt;
    if (ms < stepMs) return;
    this.steppedAt = now;
    const kept = Math.exp(-ms / memoryMs);
    const reached = last > time ? bucketOf(last - time) : -1;
    for (let bucket = 0; bucket < buckets; bucket++) {
      this.counts[bucket]! *= kept;
      this.exposedMs[bucket] = this.exposedMs[bucket]! * kept + (bucket <= reached ? ms : 0);
    }
    this.overtook.step(kept);
    this.came.step(kept);
    this.seenMs = this.seenMs * kept + ms;
  }

  /** Returns the requests that come in before one, on average from now to its start. */
  before(start: number, { time }: Span): Arrivals {
    const distance = Math.max(1, start - time);
    const end = bucketOf(distance);
    let rate = 0;
    for (let bucket = 0; bucket <= end; bucket++) {
      const from = lowerBound(bucket);
      const to = lowerBound(bucket + 1);
      const reached = Math.min(to, distance);
      // A request moves towards the front: those that come in far from the front overtake it only in a part of its
      // wait.
      const part = ((reached - from) / (to - from)) * (1 - (from + reached) / 2 / distance);
      rate += (this.counts[bucket]! / (this.exposedMs[bucket]! + minSeenMs)) * part;
    }
    return this.overtook.arrivals(rate);
  }

  /** All arrivals: they come before requests of lower priority. */
  get all(): Arrivals {
    return this.came.arrivals(this.came.count / (this.seenMs + minSeenMs));
  }
}

/** Returns the bucket of a distance, in turns of a key of weight 1: below one, two, four… */
function bucketOf(distance: number): number {
  const turns = distance / ticksOfWeight1;
  return turns < 1 ? 0 : Math.min(buckets - 1, 1 + Math.floor(Math.log2(turns)));
}

function lowerBound(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** (bucket - 1) * ticksOfWeight1;
}
