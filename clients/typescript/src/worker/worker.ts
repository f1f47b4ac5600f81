import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { NowServingError } from '../errors.js';
import { pause } from '../deadline.js';
import { Backoff, Hold } from './backoff.js';
import { Beats } from './beats.js';
import { type Answer, isPassing, isSuccess, WorkerCalls } from './calls.js';
import { ClaimLimits } from './claim-limits.js';
import type { ClaimedRun } from './claimed-run.js';
import type { HandBack, StopReason } from './failures.js';
import { memberOf, partsOf } from './json-scanner.js';
import { LeasedRun, type RunSurroundings } from './leased-run.js';
import type { Handler, ServeOptions } from './types.js';

const claimWaitS = 20;
/** Runs per claim. */
const maxRuns = 100;
/** A call that is answered sooner was not held. */
const shortMs = 1_000;
/** Time for runs to end by themselves after they were asked to stop. */
const abortMs = 2_000;
const leaveMs = 5_000;
/** The exit code of a worker that ends because a handler does not return. */
const stuckExit = 70;

export type WorkerOptions = Required<Pick<ServeOptions, 'url' | 'concurrency' | 'grace' | 'stuck' | 'say'>> &
  ServeOptions & { exit(code: number): void };

/** Claims runs for its free slots, renews their leases, and leaves when it is asked to. */
export class Worker {
  private readonly calls: WorkerCalls;
  private readonly id = randomUUID();
  /** Runs by lease token. */
  private readonly runs = new Map<string, LeasedRun>();
  private readonly draining = new AbortController();
  private readonly released = new AbortController();
  /** What the worker may claim now. */
  readonly limits: ClaimLimits;
  private readonly beats: Beats;
  private slotFreed = (): void => undefined;
  private fault: Error | undefined;
  private isUnreached = false;
  private hasStuck = false;

  constructor(
    private readonly handlers: ReadonlyMap<string, Handler>,
    private readonly options: WorkerOptions,
  ) {
    this.calls = new WorkerCalls({ url: options.url, key: options.key });
    this.limits = new ClaimLimits([...handlers.keys()], options);
    this.beats = new Beats(this.calls, this.id, this.runs, {
      isDraining: () => this.draining.signal.aborted,
      isStuck: () => this.isStuck,
      drain: () => this.drain('The service asked the worker to finish its runs and stop.'),
      stop: () => this.stop('The service told the worker to stop.'),
      say: options.say,
    });
  }

  /** Resolves when the worker has drained. Rejects if it cannot work at all. */
  async work(): Promise<void> {
    const beating = this.beats.start();
    await this.claimAll();
    const grace = pause(this.options.grace, this.released.signal).then(() => this.releaseRest());
    await Promise.race([this.allEnded(), grace]);
    this.released.abort();
    await grace;
    this.beats.stop();
    await beating;
    await this.leave();
    if (this.hasStuck) this.options.exit(stuckExit);
    if (this.fault !== undefined) throw this.fault;
  }

  /** Stops claiming. Runs in progress may end within the grace period. */
  drain(why?: string): void {
    if (this.draining.signal.aborted) return;
    if (why !== undefined) this.options.say(why);
    this.draining.abort();
    this.slotFreed();
    this.beats.soon();
  }

  get isDraining(): boolean {
    return this.draining.signal.aborted;
  }

  /** Stops without a grace period. `why`: printed unless the worker drains already. */
  stop(why?: string): void {
    this.drain(why);
    this.released.abort();
  }

  /** True: a handler goes on although its run is over. Until it returns, the worker claims nothing. */
  private get isStuck(): boolean {
    return [...this.runs.values()].some((run) => run.isStuck);
  }

  private async claimAll(): Promise<void> {
    const { signal } = this.draining;
    const backoff = new Backoff();
    const hold = new Hold(claimWaitS);
    let body: string | undefined;
    let models: string[] = [];
    while (!signal.aborted) {
      // A claim whose answer was lost is repeated unchanged, because it may have been given runs.
      if (body === undefined) {
        const free = this.isStuck ? 0 : this.limits.runs - this.runs.size;
        ({ models } = this.limits);
        if (free <= 0 || models.length === 0) {
          await this.changed();
          continue;
        }
        if (!(await this.limits.isReady(signal))) continue;
        body = this.claimFor(models, Math.min(free, maxRuns));
      }
      const startedMs = performance.now();
      const answer = await this.calls
        .once({ method: 'POST', path: '/claims', body, waitS: hold.seconds, signal })
        .catch((error: unknown) => this.unreached(error, backoff));
      if (answer === undefined || isPassing(answer) || isOfAnother(answer)) {
        if (answer !== undefined && answer.code === undefined)
          this.unreached(`something else answered ${answer.status}`, backoff);
        hold.broken(performance.now() - startedMs);
        await pause(backoff.next(answer?.retryAfterS), signal);
        continue;
      }
      backoff.reset();
      hold.answered();
      if (this.isUnreached) this.options.say('The service answers again.');
      this.isUnreached = false;
      body = undefined;
      this.take(answer, models);
      const isShort = performance.now() - startedMs < shortMs;
      if (answer.status === 200 || !isShort) continue;
      // Claims of a worker that an operator drains are not held, so ask.
      if (answer.status === 204) await this.beats.ask(signal);
      await pause(Math.random() * shortMs, signal);
    }
  }

  /** Resolves when a run has ended, or after a moment, because other limits may have changed. */
  private async changed(): Promise<void> {
    const freed = new Promise<void>((resolve) => (this.slotFreed = resolve));
    await Promise.race([freed, pause(shortMs, this.draining.signal)]);
  }

  private take(answer: Answer, models: readonly string[]): void {
    const { status, code = `http_${status}`, detail = `The service answered ${status}.` } = answer;
    if (isSuccess(answer)) this.limits.known(models);
    if (status === 204 || status === 409) return;
    if (status === 410) this.drain(`${detail} The worker stops.`);
    else if (status === 200) for (const run of claimedRuns(answer)) this.start(run);
    else if (code === 'unknown_model') {
      const { model_id: id } = answer.body;
      this.limits.unknown(typeof id === 'string' ? [id] : models, detail);
    } else {
      this.fault = new NowServingError(code, detail, { status });
      this.drain(detail);
    }
  }

  private start(claimed: ClaimedRun): void {
    if (this.runs.has(claimed.lease_token)) return;
    for (const run of this.runs.values()) if (run.requestId === claimed.request_id) run.lose();
    const around: RunSurroundings = {
      calls: this.calls,
      handler: this.handlers.get(claimed.model_id)!,
      downloads: this.options.downloads ?? [],
      say: this.options.say,
      unfit: (error) => this.unfit(error),
      away: (model, seconds) => this.limits.pause(model, seconds * 1_000),
      stuckMs: this.options.stuck,
      noteStuck: () => this.beats.soon(),
      outlived: (run, reason) => this.giveUp(run, reason),
    };
    const run = new LeasedRun(claimed, around);
    if (this.isDraining) return void run.release();
    this.runs.set(run.token, run);
    this.beats.soon();
    void run
      .carryOut()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.stack : String(error);
        this.options.say(`${run.requestId}: the run is handed back, because its end cannot be sent: ${why}`);
        return run.release();
      })
      .finally(() => {
        this.runs.delete(run.token);
        this.slotFreed();
      });
  }

  private giveUp({ requestId }: LeasedRun, reason: StopReason): void {
    if (this.hasStuck) return;
    this.hasStuck = true;
    const said = `the handler has not returned ${this.options.stuck / 1_000} s after its run was over (${reason}).`;
    const what = `The worker hands back its other runs and ends with exit code ${stuckExit}.`;
    this.options.say(`${requestId}: ${said} ${what}`);
    this.stop();
  }

  private unfit(error: HandBack): void {
    this.fault ??= error;
    this.drain(error.message);
  }

  /** Reports an unreachable service from the second failure in a row. */
  private unreached(error: unknown, { hasFailed }: Backoff): undefined {
    if (this.isDraining || this.isUnreached || !hasFailed) return;
    this.isUnreached = true;
    const { cause = error } = error as Error;
    this.options.say(`The service does not answer; the worker keeps trying: ${String(cause)}`);
  }

  private async allEnded(): Promise<void> {
    while (this.runs.size > 0) await new Promise<void>((resolve) => (this.slotFreed = resolve));
  }

  private async releaseRest(): Promise<void> {
    const rest = [...this.runs.values()].filter(({ isHeld }) => isHeld);
    if (rest.length === 0) return;
    this.options.say(`${rest.length} runs are handed back.`);
    if (!this.released.signal.aborted) {
      for (const run of rest) run.abort('shutdown');
      const ended = this.allEnded().then(() => this.released.abort());
      await Promise.race([ended, pause(abortMs, this.released.signal)]);
    }
    for (const run of this.runs.values()) run.abandon();
  }

  /** Returns all requests of this worker to the queue, even those of a claim whose answer it did not read. */
  private async leave(): Promise<void> {
    const signal = AbortSignal.timeout(leaveMs);
    const call = { method: 'DELETE' as const, path: `/workers/${this.id}`, signal };
    await this.calls.untilDecided(call, new Backoff(shortMs));
  }

  private claimFor(models: readonly string[], max: number): string {
    const { name = hostname(), version, labels = {} } = this.options;
    return JSON.stringify({
      claim_id: randomUUID(),
      worker: { id: this.id, name, version, labels },
      models: models.map((model_id) => ({ model_id, max })),
      max,
    });
  }
}

const isOfAnother = ({ status, body }: Answer): boolean => status === 200 && !Array.isArray(body['runs']);

function claimedRuns({ text }: Answer): ClaimedRun[] {
  const runs = partsOf(memberOf(text, 'runs') ?? '[]');
  return runs.map((run) => ({ ...(JSON.parse(run.text) as ClaimedRun), input: memberOf(run.text, 'input') }));
}
