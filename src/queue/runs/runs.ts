import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import type { Model } from '../../models/model.js';
import { backoffMs } from './backoff.js';
import { asRunFailure, finishOf, toAttemptFailure } from './finish-of.js';
import { LogWriter } from './log-writer.js';
import type { Claimed } from '../queries/claim.js';
import { requeue, type Requeue } from '../queries/requeue.js';
import { QueueStore } from '../queue-store.js';
import { QueueEvents } from '../queue-events.js';
import { RunExecution, type RunEnd } from './run-execution.js';
import { type CappedEntry, RunLog, storable } from './run-log.js';
import { RunFailure, type AbortReason } from './runner.js';
import { RunnerRegistry } from './runner-registry.js';
import { SharedStatements } from '../shared-statements.js';

const retryWriteMs = 500;

type Unsuccessful = Exclude<RunEnd, { kind: 'output' }>;

/** The runs of this node: executes each from its claim to its committed end. */
@Injectable()
export class Runs {
  private readonly log = new Logger(Runs.name);
  private readonly going = new Map<string, RunExecution>();
  /** When a claim failed without our knowing whether it was committed. */
  orphansSuspectedAt: number | undefined;

  constructor(
    private readonly database: Database,
    private readonly store: QueueStore,
    private readonly statements: SharedStatements,
    private readonly events: QueueEvents,
    private readonly runners: RunnerRegistry,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  get size(): number {
    return this.going.size;
  }

  suspectOrphans(): void {
    this.orphansSuspectedAt = performance.now();
  }

  /** Whether a run of this node belongs to the lease. */
  holds(requestId: string, token: string): boolean {
    return this.going.get(requestId)?.claimed.token === token;
  }

  /** Request ids of the runs going on. */
  ids(): string[] {
    return [...this.going.keys()];
  }

  /** Asks a run of this node to stop; nothing happens if it has none. */
  abort(requestId: string, reason: AbortReason): void {
    this.going.get(requestId)?.abort(reason);
  }

  abortAll(reason: AbortReason): void {
    for (const id of this.ids()) this.abort(id, reason);
  }

  /** Resolves when the run has ended and its end is committed, or its lease is lost. Rejects if that cannot be written. */
  async execute(claimed: Claimed, model: Model): Promise<void> {
    const execution = new RunExecution(claimed, model, this.writeLog);
    // Before anything is waited for: from here on the run can be asked to stop.
    this.going.set(claimed.id, execution);
    try {
      if (claimed.attempt > 1) execution.cappedLog = await this.reopenLog(claimed);
      const end = await execution.execute(this.runners.for(model));
      if (execution.writer !== undefined) await execution.writer.flushed();
      await this.complete(execution, end);
    } finally {
      this.going.delete(claimed.id);
    }
  }

  /** Gives a claimed request back that is not to be run here, or ends it if it was cancelled meanwhile. */
  release(claimed: Claimed, model: Model): Promise<void> {
    const execution = new RunExecution(claimed, model, this.writeLog);
    return this.complete(execution, { kind: 'aborted', reason: 'lost' });
  }

  private readonly writeLog = (execution: RunExecution, entry: CappedEntry): void => {
    execution.writer ??= this.logWriter(execution.claimed);
    execution.writer.add(entry, this.clock.now());
  };

  private logWriter({ id, token }: Claimed): LogWriter {
    return new LogWriter({ requestId: id, token }, async (lines) => {
      await this.persist(() => this.statements.appendLog(lines)).catch((error: Error) => {
        this.log.error(`log lines of ${id} cannot be stored: ${error.message}`);
      });
      this.events.publish({ changed: [id] });
    });
  }

  private async reopenLog({ id }: Claimed): Promise<RunLog> {
    return new RunLog(await this.persist(() => this.store.logUsage(id)));
  }

  private complete(execution: RunExecution, ended: RunEnd): Promise<void> {
    const end = this.bounded(ended);
    return end.kind === 'output' ? this.finish(execution, end) : this.completeUnsuccessful(execution, end);
  }

  private async completeUnsuccessful(execution: RunExecution, end: Unsuccessful): Promise<void> {
    const { claimed, model } = execution;
    if (end.kind === 'aborted' && (end.reason === 'shutdown' || end.reason === 'lost')) {
      // Lost or not, the lease may still be ours, after an outage that kept all nodes out.
      if (await this.handBack(execution)) return;
      return this.finish(execution, { kind: 'aborted', reason: 'cancelled' });
    }
    if (end.kind === 'failure') {
      const failure = asRunFailure(end.error);
      const failures = claimed.failedAttempts + 1;
      if (failure.options.retryable && failures < model.attempts) {
        const delayMs = backoffMs(failures, failure.options.retryAfterMs);
        const how = { attemptOutcome: 'failed', delayMs } as const;
        if (await this.requeue(execution, how, end.error)) return;
      }
    }
    await this.finish(execution, end);
  }

  /** Returns a claimed request to its queue; false when its lease is lost or it is to be cancelled. */
  private handBack(execution: RunExecution): Promise<boolean> {
    return this.requeue(execution, { attemptOutcome: 'returned', delayMs: 0 });
  }

  private bounded(end: RunEnd): RunEnd {
    const { maxOutputBytes } = this.config;
    if (end.kind !== 'output' || Buffer.byteLength(end.output) <= maxOutputBytes) return end;
    const message = `The model's output is larger than ${maxOutputBytes} bytes.`;
    return { kind: 'failure', error: new RunFailure(message, { code: 'model_error', retryable: false }) };
  }

  /** False when the run holds no lease any more or was asked to stop. */
  private async requeue(
    { claimed, cappedLog }: RunExecution,
    how: Pick<Requeue, 'attemptOutcome' | 'delayMs'>,
    error?: unknown,
  ): Promise<boolean> {
    const failure = error === undefined ? undefined : asRunFailure(error);
    const seconds = Math.ceil(how.delayMs / 1000);
    const message =
      failure &&
      cappedLog.admit(
        'WARN',
        `Attempt ${claimed.attempt} failed: ${failure.message} The next one follows in ${seconds} s.`,
        'queue',
      )?.message;
    const entry = await this.persist(() =>
      requeue(this.database, {
        requestId: claimed.id,
        token: claimed.token,
        ...how,
        errorCode: failure?.options.code ?? null,
        errorMessage: failure === undefined ? null : storable(failure.message),
        message: message ?? null,
      }),
    );
    if (entry === undefined) return false;
    this.events.publish({
      added: [entry],
      changed: [entry.id],
      work: how.delayMs <= 0 ? [entry.modelId] : [],
    });
    const { id, modelId, attempt } = entry;
    const { attemptOutcome: reason, delayMs } = how;
    this.events.emit('request.requeued', () => [
      { id, modelId, attempt, reason, delayMs, failure: failure && toAttemptFailure(error) },
    ]);
    return true;
  }

  private finish(execution: RunExecution, end: RunEnd): Promise<void> {
    const finish = finishOf(execution, end, this.clock.now());
    return this.persist(() => this.statements.finish(finish)).then(nothing, (error: Error) => {
      if (end.kind !== 'output') throw error;
      this.log.error(`the output of ${execution.claimed.id} cannot be stored: ${error.message}`);
      const failure = new RunFailure("The model's output cannot be stored.", {
        code: 'model_error',
        retryable: false,
      });
      return this.finish(execution, { kind: 'failure', error: failure });
    });
  }

  /** Tries a write of a run until the database takes it; whether the run still may write, its token decides. */
  private persist<T>(write: () => Promise<T>): Promise<T> {
    return write().catch((error: unknown) => this.persistAfter(error, write));
  }

  private async persistAfter<T>(first: unknown, write: () => Promise<T>): Promise<T> {
    for (let error = first; ;) {
      if (!isDatabaseUnavailable(error)) throw error;
      await delay(retryWriteMs);
      try {
        return await write();
      } catch (next) {
        error = next;
      }
    }
  }
}

const nothing = (): void => undefined;
