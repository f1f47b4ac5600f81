import { maxTimerMs } from '../deadline.js';
import { Backoff } from './backoff.js';
import { isSuccess, type WorkerCall, type WorkerCalls } from './calls.js';
import { type ClaimedRun, factsOf } from './claimed-run.js';
import { EventSender, type Sent } from './event-sender.js';
import { execute, outputText, voiceOf } from './execute.js';
import {
  Away,
  Fail,
  type Failure,
  failureOf,
  HandBack,
  Retry,
  Stopped,
  type StopReason,
} from './failures.js';
import { download, type FileAccess, upload } from './files.js';
import type { Handler, Run } from './types.js';

/** Longest pause between tries. A message must arrive before the lease is over. */
const maxPauseMs = 8_000;

/** A handler that takes this long to return after its run is over is stuck. */
const returnMs = 2_000;

type End = { output: string } | { failure: Failure } | { releaseForS: number } | 'release' | 'silence';

export interface RunSurroundings {
  calls: WorkerCalls;
  handler: Handler;
  downloads: readonly string[];
  say(line: string): void;
  /** The handler cannot run here at all. */
  unfit(error: HandBack): void;
  /** The handler can run nothing of the model for these seconds. */
  away(model: string, seconds: number): void;
  /** Milliseconds that a handler may take to return after its run is over. */
  stuckMs: number;
  /** `isStuck` has changed. */
  noteStuck(): void;
  /** The handler has not returned in time. */
  outlived(run: LeasedRun, reason: StopReason): void;
}

/** A run under its lease, from the claim until its end is recorded or the lease is lost. */
export class LeasedRun {
  readonly requestId: string;
  readonly token: string;
  private readonly stop = new AbortController();
  /** Fires when nothing may be sent any more: then calls under way end. */
  private readonly gone = new AbortController();
  /** Fires with `gone`, or before it when the lease is lost while the end is sent: then no call is repeated. */
  private readonly over = new AbortController();
  /** Fires when no end of the run counts, or when its handler outlives it for too long to wait for an upload. */
  private readonly useless = new AbortController();
  private readonly events: EventSender;
  private isEnding = false;
  private hasOutlived = false;
  private hasDeltas = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly stuckTimers: NodeJS.Timeout[] = [];

  constructor(
    private readonly claimed: ClaimedRun,
    private readonly around: RunSurroundings,
  ) {
    this.requestId = claimed.request_id;
    this.token = claimed.lease_token;
    this.events = new EventSender((lines, from) => this.send(lines, from));
  }

  /** Returns whether the lease must be renewed. */
  get isHeld(): boolean {
    return !this.over.signal.aborted;
  }

  get isCancelled(): boolean {
    return this.stop.signal.aborted;
  }

  /** True: the handler goes on although the run is over. */
  get isStuck(): boolean {
    return this.hasOutlived && !this.isEnding;
  }

  async carryOut(): Promise<void> {
    const { remaining_ms: ms } = this.claimed;
    if (typeof ms === 'number' && ms <= maxTimerMs) {
      this.timer = setTimeout(() => this.abort('timed_out'), ms);
    }
    const end = await this.run().catch((error: unknown) => this.endOf(error));
    clearTimeout(this.timer);
    for (const timer of this.stuckTimers) clearTimeout(timer);
    const wasStuck = this.isStuck;
    this.isEnding = true;
    if (wasStuck) this.around.noteStuck();
    await this.events.flush();
    const { refusal } = this.events;
    await this.tell(refusal === undefined ? end : { failure: { message: refusal, retryable: false } });
    this.close();
  }

  /** Asks the handler to stop. */
  abort(reason: StopReason): void {
    if (this.isCancelled) return;
    this.stop.abort(new Stopped(reason));
    this.events.stopWaiting();
    if (reason === 'timed_out') this.endUploads();
    if (reason !== 'shutdown' && !this.isEnding) this.awaitReturn(reason);
  }

  private awaitReturn(reason: StopReason): void {
    const { stuckMs, outlived, noteStuck } = this.around;
    const note = (): void => {
      this.hasOutlived = true;
      noteStuck();
    };
    this.stuckTimers.push(setTimeout(note, Math.min(returnMs, stuckMs / 2)).unref());
    if (stuckMs > maxTimerMs) return;
    this.stuckTimers.push(
      setTimeout(() => this.endUploads(), stuckMs / 2).unref(),
      setTimeout(() => outlived(this, reason), stuckMs).unref(),
    );
  }

  private endUploads(): void {
    this.useless.abort(this.stop.signal.reason);
  }

  /** The run no longer has the lease, so further work of the handler is useless. */
  lose(): void {
    if (!this.isHeld) return;
    // The end has been taken, or never will be. A call under way still gets its answer.
    if (this.isEnding) return this.over.abort();
    this.around.say(`${this.requestId}: the lease is lost; later results of the run are ignored`);
    this.abort('lost');
    this.close();
  }

  /** Ends the work on the run, whatever the handler still does. The worker leaves next, which returns the request. */
  abandon(): void {
    this.abort('shutdown');
    this.close();
  }

  /** Hands the request back, at no cost to it. */
  async release(): Promise<void> {
    this.abandon();
    await this.around.calls
      .once({ method: 'POST', path: this.path('release'), leaseToken: this.token })
      .catch(() => undefined); // the worker gives up all its leases when it leaves
  }

  private close(): void {
    clearTimeout(this.timer);
    this.events.close();
    this.over.abort();
    this.gone.abort();
    this.endUploads();
  }

  private async run(): Promise<End> {
    const { calls, downloads, handler } = this.around;
    const { claimed } = this;
    const { signal } = this.stop;
    const access: FileAccess = {
      calls,
      requestId: this.requestId,
      leaseToken: this.token,
      downloads,
      signal,
      useless: this.useless.signal,
    };
    const inputText = await this.inputText(access);
    const run: Run = {
      ...factsOf(claimed),
      inputText,
      signal,
      ...voiceOf((event) => {
        this.hasDeltas ||= event.type === 'delta';
        this.events.add(event);
      }),
      download: ((url: string, { to }: { to?: string } = {}) => download(url, access, to)) as Run['download'],
      upload: (name, content, type) => upload(name, content, type, access),
    };
    const output = await execute(handler, JSON.parse(inputText), run, () => this.events.room());
    // Empty: the deltas are the output.
    return { output: output === undefined && this.hasDeltas ? '' : outputText(output) };
  }

  private async inputText(access: FileAccess): Promise<string> {
    const { input = 'null', input_url } = this.claimed;
    if (input_url === undefined) return input;
    return new TextDecoder().decode((await download(input_url, access)) as Uint8Array);
  }

  private endOf(error: unknown): End {
    const { signal } = this.stop;
    const reason = signal.aborted ? (signal.reason as Stopped).reason : undefined;
    if (reason === 'shutdown') return 'release';
    // After a timeout, the service ends the run itself and decides whether there is another attempt.
    if (reason === 'timed_out' || reason === 'lost') return 'silence';
    if (reason !== undefined) return { failure: failureOf(signal.reason) };
    if (error instanceof HandBack) {
      this.around.unfit(error);
      return 'release';
    }
    if (error instanceof Away) {
      const { model_id: model } = this.claimed;
      const { after, message } = error;
      const said = `the run is handed back, and no run of ${model} is claimed for ${after} s: ${message}`;
      this.around.say(`${this.requestId}: ${said}`);
      this.around.away(model, after);
      return { releaseForS: after };
    }
    const isMeant = error instanceof Fail || error instanceof Retry;
    const stack = error instanceof Error && !isMeant ? error.stack : undefined;
    const failure = failureOf(error);
    this.around.say(`${this.requestId}: ${stack ?? failure.message}`);
    return { failure };
  }

  /** Reports the end until it is accepted or the lease is lost. */
  private async tell(end: End): Promise<void> {
    if (end === 'silence') return;
    const answer = await this.around.calls.untilDecided(
      this.callOf(end),
      new Backoff(maxPauseMs),
      this.over.signal,
    );
    if (answer === undefined) {
      if (!this.gone.signal.aborted)
        this.around.say(
          `${this.requestId}: the lease is lost, and the service has not confirmed the end of the run`,
        );
      return;
    }
    if (isSuccess(answer)) return;
    const { status, detail = `The service answered ${status}.` } = answer;
    const simpler = [404, 409, 410].includes(status) ? undefined : simplerThan(end, detail);
    if (simpler !== undefined) return this.tell(simpler);
    this.around.say(`${this.requestId}: the service refused its end: ${detail}`);
  }

  private callOf(end: Exclude<End, 'silence'>): WorkerCall {
    const held = { leaseToken: this.token, signal: this.gone.signal };
    if (end === 'release') return { method: 'POST', path: this.path('release'), ...held };
    if ('releaseForS' in end) {
      const body = JSON.stringify({ retry_after_s: end.releaseForS });
      return { method: 'POST', path: this.path('release'), body, ...held };
    }
    if ('output' in end) return { method: 'PUT', path: this.path('output'), body: end.output, ...held };
    return { method: 'PUT', path: this.path('failure'), body: JSON.stringify(end.failure), ...held };
  }

  private async send(lines: string, from: number): Promise<Sent> {
    const answer = await this.around.calls.untilDecided(
      {
        method: 'POST',
        path: `${this.path('events')}?from=${from}`,
        body: lines,
        contentType: 'application/x-ndjson',
        leaseToken: this.token,
        signal: this.gone.signal,
      },
      new Backoff(maxPauseMs),
      this.over.signal,
    );
    if (answer === undefined) return 'over';
    const { next, cancel } = answer.body;
    if (cancel === true) this.abort('cancelled');
    if (typeof next === 'number' && (isSuccess(answer) || answer.status === 409)) return { next };
    if (answer.status === 404 || answer.status === 410) {
      this.lose();
      return 'over';
    }
    return { refused: answer.detail ?? `The service answered ${answer.status}.` };
  }

  private path(call: string): string {
    return `/runs/${this.requestId}/${call}`;
  }
}

/** Returns a simpler end to report if, for example, the first one is too large or has an invalid status. */
function simplerThan(end: End, fault: string): End | undefined {
  if (typeof end === 'string') return undefined;
  if ('releaseForS' in end) return 'release';
  if ('output' in end) return { failure: { message: fault, retryable: false } };
  const { message, retryable, ...others } = end.failure;
  return Object.keys(others).length > 0 ? { failure: { message, retryable } } : undefined;
}
