import type { Model } from '../../models/model.js';
import { storable } from '../../tools/storable-text.js';
import type { TraceContext } from '../../tracing/trace-context.js';
import type { RunOptions } from '../submit/submission-options.js';
import type { Claimed } from './queries/claim.js';
import type { EventWriter } from './event-writer.js';
import { RunLog } from './run-log.js';
import { maxProgressMessage } from './run-lines.js';
import type { AbortReason, FollowedRun, LogLevel, LogSource, RequestFacts, Run, Runner } from './runner.js';
import type { Usage } from './usage.js';

export type RunEnd =
  /** undefined `output`: the output is what its deltas make. */
  | { kind: 'output'; output: string | Buffer | undefined; bytes?: number }
  | { kind: 'failure'; error: unknown }
  /** `delayMs`: a run that was given back starts again no sooner. */
  | { kind: 'aborted'; reason: AbortReason; delayMs?: number };

/** What a run reads and writes, apart from its events. */
export interface RunBooks {
  facts(requestId: string): Promise<RequestFacts>;
  /** Moves the deadline of the run's lease by an hour. Returns whether the run still held it. */
  keepLease(run: RunExecution): Promise<boolean>;
  keepFollowed(run: RunExecution, answer: FollowedRun['answer']): Promise<void>;
  forgetFollowed(run: RunExecution): Promise<void>;
}

/** A run that is resumed has at least this long, even if its time is over, because the output may be ready. */
const resumedMs = 10_000;
/** The node waits at most this long for a runner that ignores its signal. */
const abortGraceMs = 5_000;
/** A run past its deadline keeps its lease again after this time. */
const keptEveryMs = 60_000;
/** Then another node runs it: a store that hangs here may work there. */
const maxKeptMs = 6 * 3_600_000;
/** The same after an error of the database. */
const keptAgainAfterMs = 500;

/** One run in progress, as its runner sees it: its signal, its timeout, what it emits. It does not use the database. */
export class RunExecution implements Run {
  readonly requestId: string;
  readonly attempt: number;
  readonly input: string;
  address: string | undefined;
  followed: FollowedRun | undefined;
  /** True: the run continues at its server if this node leaves it. */
  isFollowed = false;
  /** True: it runs without others at its address, because an earlier run of its request broke together with others. */
  isSuspect = false;
  private ageMs = 0;
  trace: TraceContext | undefined;
  /** undefined: it has emitted nothing. */
  writer: EventWriter | undefined;
  hasReachedModel = false;
  onReached: (() => void) | undefined;
  /** The log of all attempts of its request. */
  cappedLog = new RunLog();
  private startedAt: number | undefined;
  private stoppedBy: AbortReason | undefined;
  /** Created when the runner asks for the signal: creating it would be most of the work of many a quick run. */
  private abortController: AbortController | undefined;
  private settle: ((end: RunEnd) => void) | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private grace: NodeJS.Timeout | undefined;
  private overdueSince: number | undefined;
  private isMade = false;
  private isClosed = false;

  constructor(
    readonly claimed: Claimed,
    readonly model: Model,
    private readonly openWriter: (claimed: Claimed, onLost: () => void) => EventWriter,
    private readonly now: () => number,
    readonly memory: Run['memory'],
    private readonly books: RunBooks,
  ) {
    ({ id: this.requestId, input: this.input } = claimed);
    this.attempt = claimed.failedAttempts + claimed.lostAttempts + 1;
  }

  get start(): number {
    return this.claimed.attempt;
  }

  get options(): RunOptions {
    return this.claimed;
  }

  facts(): Promise<RequestFacts> {
    return this.books.facts(this.requestId);
  }

  async keepFollowed(answer: FollowedRun['answer']): Promise<void> {
    this.isFollowed = true;
    await this.books.keepFollowed(this, answer);
  }

  async forgetFollowed(): Promise<void> {
    await this.books.forgetFollowed(this);
  }

  /** Resumes what an earlier run of the attempt began at the server this long ago. */
  resume(followed: FollowedRun, ageMs: number): void {
    this.isFollowed = true;
    this.followed = followed;
    this.address = followed.address;
    this.ageMs = ageMs;
  }

  get timeoutMs(): number {
    return this.claimed.timeoutMs ?? this.model.timeoutMs;
  }

  /** Milliseconds since the runner was called; undefined: it was not. */
  get runMs(): number | undefined {
    return this.startedAt === undefined ? undefined : performance.now() - this.startedAt;
  }

  get signal(): AbortSignal {
    if (this.abortController === undefined) {
      this.abortController = new AbortController();
      if (this.stoppedBy !== undefined) this.abortController.abort(this.stoppedBy);
    }
    return this.abortController.signal;
  }

  log(level: LogLevel, message: string, source: LogSource = 'runner'): void {
    const entry = this.cappedLog.admit(level, message, source);
    if (entry !== undefined) this.words.log({ ...entry, atMs: this.now() });
  }

  progress(value: number, message?: string): void {
    if (Number.isNaN(value)) return;
    const text = message === undefined ? null : storable(message.slice(0, maxProgressMessage));
    this.words.progress({ value: Math.min(1, Math.max(0, value)), message: text });
  }

  usage(usage: Usage): void {
    this.words.usage(JSON.stringify(usage));
  }

  delta(json: string): void {
    this.words.delta(json);
  }

  chunk(json: string, deltas: readonly string[]): void {
    this.words.chunk(json, deltas);
  }

  private get words(): EventWriter {
    return (this.writer ??= this.openWriter(this.claimed, () => this.abort('lost')));
  }

  reached(): void {
    this.hasReachedModel = true;
    this.onReached?.();
  }

  made(): void {
    if (this.isMade) return;
    this.isMade = true;
    if (this.overdueSince !== undefined) void this.keepLease();
  }

  /** Asks the run to stop; the first reason counts. */
  abort(reason: AbortReason): void {
    if (this.stoppedBy !== undefined) return;
    this.stoppedBy = reason;
    this.abortController?.abort(reason);
    if (this.settle === undefined) return;
    this.grace = setTimeout(() => this.end({ kind: 'aborted', reason }), abortGraceMs);
  }

  /**
   * Runs to the end. Never rejects. After an abort, the runner still decides the end if it ends soon. Call `close` once
   * the end is stored.
   */
  execute(runner: Runner): Promise<RunEnd> {
    return new Promise((resolve) => {
      if (this.stoppedBy !== undefined) return resolve({ kind: 'aborted', reason: this.stoppedBy });
      this.settle = resolve;
      this.startedAt = performance.now();
      const leftMs = Math.max(this.timeoutMs - this.ageMs, Math.min(this.timeoutMs, resumedMs));
      this.deadline = setTimeout(() => this.noteDeadline(), leftMs);
      const running = (async () => runner.run(this))(); // what it throws counts as a rejection
      running.then(
        (output) => this.end({ kind: 'output', output }),
        (error: unknown) => {
          const reason = this.stoppedBy;
          this.end(reason === undefined ? { kind: 'failure', error } : { kind: 'aborted', reason });
        },
      );
    });
  }

  /** The end is stored, or the lease is lost. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.deadline);
  }

  /** The first end counts. */
  private end(end: RunEnd): void {
    if (this.settle === undefined) return;
    clearTimeout(this.grace);
    if (end.kind === 'output') this.made();
    else clearTimeout(this.deadline);
    this.settle(end);
    this.settle = undefined;
  }

  private noteDeadline(): void {
    this.overdueSince = performance.now();
    if (this.isMade) void this.keepLease();
    else this.abort('timed_out');
  }

  /** Keeps the lease until the result is stored. Otherwise a rescue takes it 30 s after the deadline. */
  private async keepLease(): Promise<void> {
    if (performance.now() - this.overdueSince! > maxKeptMs) return;
    const isHeld = await this.books.keepLease(this).catch(() => undefined);
    if (isHeld === false) return this.abort('lost');
    if (this.isClosed) return;
    const afterMs = isHeld === undefined ? keptAgainAfterMs : keptEveryMs;
    this.deadline = setTimeout(() => void this.keepLease(), afterMs);
  }
}
