import type { Model } from '../models/model.js';
import type { Claimed } from './queries/claim.js';
import { type CappedEntry, RunLog } from './run-log.js';
import type { AbortReason, Run, Runner } from './runner.js';

export type RunEnd =
  | { kind: 'output'; output: string }
  | { kind: 'failure'; error: unknown }
  | { kind: 'aborted'; reason: AbortReason };

/** A runner that ignores its signal is not waited for longer than this. */
const abortGraceMs = 5_000;

/** One run going on: its signal, its timeout, its log. Knows nothing of the database. */
export class RunExecution {
  readonly startedAt = performance.now();
  /** Set before it runs, to one that knows what earlier attempts have written. */
  log = new RunLog();
  private stoppedBy: AbortReason | undefined;
  /** Made when the runner asks for the signal: to many a quick run it is the larger part of the work. */
  private abortController: AbortController | undefined;
  private giveUp: ((end: RunEnd) => void) | undefined;
  private giveUpTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly claimed: Claimed,
    readonly model: Model,
    private readonly onLog: (entry: CappedEntry) => void,
  ) {}

  /** Tells the run to stop; the first reason counts. */
  abort(reason: AbortReason): void {
    if (this.stoppedBy !== undefined) return;
    this.stoppedBy = reason;
    this.abortController?.abort(reason);
    const { giveUp } = this;
    if (giveUp !== undefined)
      this.giveUpTimer = setTimeout(() => giveUp({ kind: 'aborted', reason }), abortGraceMs);
  }

  /** Runs to the end. Never rejects. What the runner does after an abort still decides, if it does it soon. */
  async execute(runner: Runner): Promise<RunEnd> {
    if (this.stoppedBy !== undefined) return { kind: 'aborted', reason: this.stoppedBy };
    const timeout = setTimeout(() => this.abort('timed_out'), this.model.timeoutMs);
    try {
      return await new Promise<RunEnd>((resolve) => {
        this.giveUp = resolve;
        void this.run(runner).then(resolve);
      });
    } finally {
      clearTimeout(timeout);
      clearTimeout(this.giveUpTimer);
      this.giveUp = undefined; // told to stop after its end, it has nothing to give up
    }
  }

  private signal(): AbortSignal {
    if (this.abortController === undefined) {
      this.abortController = new AbortController();
      if (this.stoppedBy !== undefined) this.abortController.abort(this.stoppedBy);
    }
    return this.abortController.signal;
  }

  private async run(runner: Runner): Promise<RunEnd> {
    const signal = (): AbortSignal => this.signal();
    try {
      const run: Run = {
        requestId: this.claimed.id,
        model: this.model,
        attempt: this.claimed.attempt,
        input: this.claimed.input,
        get signal() {
          return signal();
        },
        log: (level, message, source = 'runner') => {
          const entry = this.log.admit(level, message, source);
          if (entry !== undefined) this.onLog(entry);
        },
      };
      return { kind: 'output', output: await runner.run(run) };
    } catch (error) {
      if (this.stoppedBy !== undefined) return { kind: 'aborted', reason: this.stoppedBy };
      return { kind: 'failure', error };
    }
  }
}
