import { pause } from '../deadline.js';
import { Backoff, Hold } from './backoff.js';
import { type Answer, isPassing, isSuccess, type WorkerCalls } from './calls.js';
import type { LeasedRun } from './leased-run.js';

const beatWaitS = 10;
/** A run that ends sooner needs no beat. */
const newLeaseMs = 250;
const shortMs = 1_000;
/** A lease outlasts three beats. Even a longer `Retry-After` must not let it end. */
const maxPauseMs = 4_000;

export interface BeatHooks {
  isDraining(): boolean;
  /** Returns whether a handler of the worker goes on although its run is over. */
  isStuck(): boolean;
  drain(): void;
  stop(): void;
  say(line: string): void;
}

/** Renews the leases of a worker and learns which of them were cancelled or lost. */
export class Beats {
  private isOver = false;
  private hasSaidStuck = false;
  private held = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly calls: WorkerCalls,
    private readonly workerId: string,
    private readonly runs: ReadonlyMap<string, LeasedRun>,
    private readonly hooks: BeatHooks,
  ) {}

  async start(): Promise<void> {
    const backoff = new Backoff(maxPauseMs);
    const hold = new Hold(beatWaitS);
    while (!this.isOver) {
      this.held = new AbortController();
      const { signal } = this.held;
      const leases = this.leases();
      if (leases.length === 0 && !this.hooks.isStuck() && !this.hasSaidStuck) {
        await this.untilAborted(signal);
        continue;
      }
      const startedMs = performance.now();
      const answer = await this.beat(leases, hold.seconds, signal);
      if (signal.aborted) continue;
      if (answer === undefined || isPassing(answer)) {
        hold.broken(performance.now() - startedMs);
        await pause(Math.min(backoff.next(answer?.retryAfterS), maxPauseMs), signal);
        continue;
      }
      backoff.reset();
      hold.answered();
      const isNews = this.heed(answer, leases);
      // The service answers at once while a known change persists, such as the cancel of a run that is slow to stop.
      if (!isNews && performance.now() - startedMs < shortMs) await pause(shortMs, signal);
    }
  }

  /** Sends a beat without leases, to learn whether the worker should go on. */
  async ask(signal: AbortSignal): Promise<void> {
    const answer = await this.beat([], 0, signal);
    if (answer !== undefined) this.heed(answer, []);
  }

  /** Sends the next beat soon, with the leases held by then. */
  soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.held.abort();
    }, newLeaseMs);
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.held.abort();
  }

  private beat(leases: string[], waitS: number, signal: AbortSignal): Promise<Answer | undefined> {
    const state = this.hooks.isStuck() ? 'stuck' : this.hooks.isDraining() ? 'drain' : 'run';
    this.hasSaidStuck = state === 'stuck';
    const body = JSON.stringify({ worker_id: this.workerId, state, leases });
    return this.calls.once({ method: 'POST', path: '/beats', body, waitS, signal }).catch(() => undefined);
  }

  private leases(): string[] {
    return [...this.runs.values()].filter(({ isHeld }) => isHeld).map(({ token }) => token);
  }

  /**
   * Returns whether the answer had something new. Only runs named in the beat count as lost, not a later run of the
   * same request.
   */
  private heed(answer: Answer, leases: readonly string[]): boolean {
    if (answer.status === 410) this.hooks.stop();
    if (!isSuccess(answer)) return false;
    const {
      worker = 'run',
      cancel = [],
      lost = [],
    } = answer.body as {
      worker?: string;
      cancel?: string[];
      lost?: string[];
    };
    if (worker === 'drain') this.hooks.drain();
    if (worker === 'stop') this.hooks.stop();
    let isNews = false;
    for (const run of this.runs.values()) {
      if (cancel.includes(run.requestId) && !run.isCancelled) {
        isNews = true;
        run.abort('cancelled');
      }
      if (lost.includes(run.requestId) && leases.includes(run.token) && run.isHeld) run.lose();
    }
    return isNews;
  }

  private untilAborted(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve());
    });
  }
}
