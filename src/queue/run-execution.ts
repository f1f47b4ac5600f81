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
  private readonly abortController = new AbortController();
  private timeout: NodeJS.Timeout | undefined;

  constructor(
    readonly claimed: Claimed,
    readonly model: Model,
    private readonly onLog: (entry: CappedEntry) => void,
  ) {}

  /** Tells the run to stop; the first reason counts. */
  abort(reason: AbortReason): void {
    if (!this.abortController.signal.aborted) this.abortController.abort(reason);
  }

  /** Runs to the end. Never rejects. What the runner does after an abort still decides, if it does it soon. */
  async execute(runner: Runner): Promise<RunEnd> {
    const { signal } = this.abortController;
    if (signal.aborted) return { kind: 'aborted', reason: signal.reason as AbortReason };
    this.timeout = setTimeout(() => this.abort('timed_out'), this.model.timeoutMs);
    let giveUp: NodeJS.Timeout | undefined;
    const ignored = new Promise<RunEnd>((resolve) => {
      signal.addEventListener('abort', () => {
        giveUp = setTimeout(
          () => resolve({ kind: 'aborted', reason: signal.reason as AbortReason }),
          abortGraceMs,
        );
      });
    });
    const ended = this.run(runner, signal);
    try {
      return await Promise.race([ended, ignored]);
    } finally {
      clearTimeout(this.timeout);
      clearTimeout(giveUp);
    }
  }

  private async run(runner: Runner, signal: AbortSignal): Promise<RunEnd> {
    try {
      const run: Run = {
        requestId: this.claimed.id,
        model: this.model,
        attempt: this.claimed.attempt,
        input: this.claimed.input,
        signal,
        log: (level, message, source = 'runner') => {
          const entry = this.log.admit(level, message, source);
          if (entry !== undefined) this.onLog(entry);
        },
      };
      return { kind: 'output', output: await runner.run(run) };
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted', reason: signal.reason as AbortReason };
      return { kind: 'failure', error };
    }
  }
}
