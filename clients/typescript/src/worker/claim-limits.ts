import { pause } from '../deadline.js';
import { reasonOf } from './arrival.js';
import { Backoff } from './backoff.js';
import { described } from './failures.js';
import type { ServeOptions } from './types.js';

/** A beat renews at most this many leases. */
const maxConcurrency = 1_000;

/** How often a backend is asked, and for how long its last "ready" counts. */
const lookMs = 1_000;
const readyTimeoutMs = 5_000;
const lateWhy = `it did not answer within ${readyTimeoutMs / 1_000} s`;

/** What a worker may claim now: how many runs, of which models, and whether its backend is ready. */
export class ClaimLimits {
  private runsNow: number;
  private runsFault = '';
  /** The time from which a model may be claimed again, as `performance.now()`. */
  private readonly claimedFrom = new Map<string, number>();
  /** Models that the service did not know when they were last claimed. */
  private readonly unknownModels = new Map<string, Backoff>();
  private readyUntil = -Infinity;
  private isUnready = false;

  constructor(
    private readonly all: readonly string[],
    private readonly options: Pick<ServeOptions, 'concurrency' | 'ready'> & { say(line: string): void },
  ) {
    this.runsNow = typeof options.concurrency === 'number' ? options.concurrency : 1;
    assertNotAbove(this.runsNow);
  }

  /** How many runs the worker may have. What the option's function cannot say stays as it was. */
  get runs(): number {
    const { concurrency, say } = this.options;
    if (typeof concurrency !== 'function') return this.runsNow;
    try {
      const given = concurrency();
      if (!Number.isInteger(given) || given < 0)
        throw new TypeError(`The concurrency must be a whole number of at least 0, not ${given}.`);
      assertNotAbove(given);
      this.runsNow = given;
      this.runsFault = '';
    } catch (error) {
      const said = `The concurrency stays ${this.runsNow}: ${described(error)}`;
      if (said !== this.runsFault) say(said);
      this.runsFault = said;
    }
    return this.runsNow;
  }

  get models(): string[] {
    const now = performance.now();
    return this.all.filter((model) => (this.claimedFrom.get(model) ?? now) <= now);
  }

  /** No run of the model is claimed for this long. */
  pause(model: string, ms: number): void {
    this.claimedFrom.set(model, performance.now() + ms);
  }

  /** The service does not know these models. The models file of a node may be older or newer than that of others. */
  unknown(models: readonly string[], detail: string): void {
    for (const model of models) {
      const backoff = this.unknownModels.get(model) ?? new Backoff();
      if (!this.unknownModels.has(model))
        this.options.say(`${detail} The worker asks for its runs again later.`);
      this.unknownModels.set(model, backoff);
      this.pause(model, backoff.next());
    }
  }

  known(models: readonly string[]): void {
    for (const model of models)
      if (this.unknownModels.delete(model)) this.options.say(`The service knows ${model} now.`);
  }

  /** Asks whether the handlers could run anything. Waits a moment if not. Returns at once when `signal` fires. */
  async isReady(signal: AbortSignal): Promise<boolean> {
    const { ready, say } = this.options;
    if (ready === undefined || performance.now() < this.readyUntil) return true;
    const late = pause(readyTimeoutMs, signal).then(() => ({ isReady: false, why: lateWhy }));
    const { isReady, why } = await Promise.race([ask(ready), late]);
    if (signal.aborted) return false;
    if (isReady) this.readyUntil = performance.now() + lookMs;
    if (this.isUnready === isReady) {
      this.isUnready = !isReady;
      const unready = `The backend is not ready (${why}). The worker claims nothing until it is.`;
      say(isReady ? 'The backend is ready.' : unready);
    }
    if (!isReady) await pause(lookMs, signal);
    return isReady;
  }
}

/** Throws if a worker cannot have that many runs. */
function assertNotAbove(concurrency: number): void {
  if (concurrency > maxConcurrency)
    throw new TypeError(`The concurrency must be ${maxConcurrency} at most, not ${concurrency}.`);
}

/** The URL of a backend may hold a secret, so `why` does not name it. */
async function ask(ready: string | (() => unknown)): Promise<{ isReady: boolean; why: string }> {
  try {
    if (typeof ready === 'function') {
      return { isReady: Boolean(await ready()), why: 'the function did not return something true' };
    }
    const signal = AbortSignal.timeout(readyTimeoutMs);
    const { ok, status, body } = await fetch(ready, { redirect: 'manual', signal });
    await body?.cancel();
    return { isReady: ok, why: `it answered ${status}` };
  } catch (error) {
    return { isReady: false, why: typeof ready === 'string' ? reasonOf(error) : described(error) };
  }
}
