import type { Cluster } from '../cluster/cluster.js';
import { now, sleep, within } from '../clock.js';
import type { Random } from '../random.js';
import { CommitSampler } from './commit-sampler.js';
import type { Load } from './load.js';

/** Submissions that a burst must offer within its best second. */
export const burstBar = 2_000;
/** Submissions a second that a burst aims at. */
const offeredPerSecond = 2_500;
const minMs = 1_200;
/** A burst goes on for at most this long, surge after surge, if a busy machine keeps it below the bar. */
const maxMs = 15_000;
/** Calls under way at most; then the burst waits for most of their answers, and surges again. */
const maxPending = 2_200;
const fewPending = 200;
const tickMs = 10;
/** Requests of each burst that a caller watches until their end. */
const watched = 12;

export interface BurstRecord {
  /** True if no fault was under way. */
  calm: boolean;
  from: number;
  /** When the last call was answered. */
  to: number;
  offered: number;
  accepted: number;
  refused: number;
  /** The rate in the best second. */
  offeredPerSecond: number;
  acceptedPerSecond: number;
  /** The most waiting submissions that a sample saw of one commit. */
  largestCommit: number;
  /** Commits of several submissions among the sampled ones. */
  groupedCommits: number;
}

/** Many plain submissions at once, from hundreds of keys, to all nodes. */
export class Bursts {
  readonly records: BurstRecord[] = [];
  private active = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly load: Load,
    private readonly random: Random,
  ) {}

  /** Makes bursts at any time until the deadline, whatever is broken. */
  async runUntil(deadline: number): Promise<void> {
    for (;;) {
      await sleep(this.random.between(8_000, 16_000));
      if (now() + minMs > deadline) return;
      await this.run(false);
    }
  }

  /** Resolves when every call is answered. */
  async run(calm: boolean): Promise<BurstRecord> {
    await within(30_000, () => !this.active);
    this.active = true;
    const sampler = new CommitSampler(this.cluster.postgres);
    const sampling = calm ? sampler.start() : Promise.resolve();
    const from = now();
    const sentAt: number[] = [];
    const acceptedAt: number[] = [];
    let refused = 0;
    let pending = 0;
    const call = async (): Promise<void> => {
      pending++;
      sentAt.push(now());
      const result = await this.submit();
      if (result.entry !== undefined) {
        if (acceptedAt.push(now()) <= watched) this.load.watch(result.entry);
      } else if (result.refusedForMs !== undefined) refused++;
      pending--;
    };
    const mayEnd = (): boolean =>
      now() - from >= minMs && (!calm || bestSecond(sentAt) >= burstBar || now() - from >= maxMs);
    let due = 0;
    let last = now();
    while (!mayEnd()) {
      due = Math.min(due + ((now() - last) / 1_000) * offeredPerSecond, offeredPerSecond / 2);
      last = now();
      for (; due >= 1 && pending < maxPending; due--) this.load.track('bursts', call());
      if (pending >= maxPending) {
        await within(maxMs, () => pending < fewPending);
        last = now();
        due = 0;
      }
      await sleep(tickMs);
    }
    await within(60_000, () => pending === 0);
    sampler.stop();
    await sampling;
    this.active = false;
    const record = {
      calm,
      from,
      to: now(),
      offered: sentAt.length,
      accepted: acceptedAt.length,
      refused,
      offeredPerSecond: bestSecond(sentAt),
      acceptedPerSecond: bestSecond(acceptedAt),
      ...sampler.result,
    };
    this.records.push(record);
    return record;
  }

  private async submit(): ReturnType<Load['submitter']['send']> {
    const { random, cluster, load } = this;
    const caller = random.pick(random.chance(0.08) ? cluster.callers.greedy : cluster.callers.burst);
    // A few go to another model, so that a batch mixes models.
    const submission = random.chance(0.03)
      ? load.submitter.plain('chaos/fast', caller, [{ do: 'answer', ms: 1 }])
      : load.submitter.plain('chaos/echo', caller);
    return load.submitter.send(submission);
  }
}

/** The most within any second; `times` ascend. */
function bestSecond(times: readonly number[]): number {
  let best = 0;
  let first = 0;
  for (const [i, time] of times.entries()) {
    while (times[first]! <= time - 1_000) first++;
    best = Math.max(best, i - first + 1);
  }
  return best;
}
