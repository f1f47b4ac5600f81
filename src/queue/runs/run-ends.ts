import { Logger } from '@nestjs/common';
import type { Clock } from '../../database/clock.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { RepeatedLines } from '../../tools/repeated-lines.js';
import type { Requeue } from './queries/requeue.js';
import type { WaitingRequest } from '../waiting/queries/waiting.js';
import type { QueueEvents } from '../queue-events.js';
import { backoffMs } from './backoff.js';
import type { EndingRun } from './ending-run.js';
import { asRunFailure, finishOf, type RunFinish, runMessageOf, toAttemptFailure } from './run-finish.js';
import type { RunEnd } from './run-execution.js';
import type { Verdict } from '../suspects/suspects.js';
import { ResultUnstored, RunFailure } from './runner.js';
import type { UnstoredRests } from './unstored-rests.js';

const brokeWithOthers =
  'The model became unreachable while other runs were in progress there. The request uses up no attempt, and runs without others next.';
const brokeAfterChange =
  'The model became unreachable after its address or its circuit was changed. The request uses up no attempt.';
const nextIn = (delayMs: number): string => `The next attempt starts in ${Math.ceil(delayMs / 1000)} s.`;

/** The longest wait after an output that could not be stored. Another node may be able to store it sooner. */
const longestDelayMs = 30_000;

/** Writes the ends of runs. Both results show whether the run still held its lease. */
export interface EndWriter {
  /** Also publishes the end. */
  finish(item: RunFinish): Promise<boolean>;
  /** undefined: the run holds no lease, or was asked to stop. */
  requeue(item: Requeue): Promise<WaitingRequest | undefined>;
}

type HowRequeued = Pick<Requeue, 'attemptOutcome' | 'delayMs' | 'handed'>;

/**
 * Decides what happens to a request when one of its runs has ended: another attempt, a return to its place in the
 * queue, or an outcome.
 */
export class RunEnds {
  private readonly log = new Logger(RunEnds.name);
  private readonly unstored = new RepeatedLines();

  constructor(
    private readonly writer: EndWriter,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    private readonly maxOutputBytes: number,
    /** For runs that this node executes itself. */
    private readonly rests?: UnstoredRests,
  ) {}

  /** Returns whether the run still held its lease. */
  async complete(
    run: EndingRun,
    ended: RunEnd,
    { outage, parkedMs }: Verdict = { outage: undefined, parkedMs: 0 },
  ): Promise<boolean> {
    const end = this.bounded(ended);
    if (outage === 'free' || outage === 'shared' || outage === 'left') {
      const how = {
        attemptOutcome: outage === 'free' ? 'unreached' : 'returned',
        delayMs: parkedMs,
      } as const;
      // A long outage would fill the log of the request at the front: the circuit reports it.
      const words = { free: undefined, shared: brokeWithOthers, left: brokeAfterChange };
      return this.requeueUnlessCancelled(run, how, end, words[outage]);
    }
    if (end.kind === 'aborted' && (end.reason === 'shutdown' || end.reason === 'lost')) {
      // The lease may still be this node's, even if the run was lost: after an outage that kept all nodes out.
      const delayMs = (end.delayMs ?? 0) + parkedMs;
      return this.requeueUnlessCancelled(run, { attemptOutcome: 'returned', delayMs });
    }
    if (end.kind === 'failure' && end.error instanceof ResultUnstored) return this.giveBack(run, end.error);
    const how = nextAttempt(run, end);
    if (how !== undefined) {
      const delayMs = how.delayMs + parkedMs;
      const words = `Attempt ${run.attempt} failed: ${toAttemptFailure(run, end).message} ${nextIn(delayMs)}`;
      return this.requeueUnlessCancelled(run, { ...how, delayMs }, end, words);
    }
    return this.finish(run, end);
  }

  /**
   * Requeues without using up an attempt. The request is not run again at once, because its result could still not be
   * stored.
   */
  private async giveBack(run: EndingRun, unstored: ResultUnstored): Promise<boolean> {
    const { id: modelId } = run.model;
    const { id } = run.claimed;
    const delayMs = Math.min(this.rests?.begin(modelId) ?? longestDelayMs, longestDelayMs);
    this.unstored.add(modelId, (times) =>
      this.log.error({ times, modelId, requestId: id }, `the output of a run is lost: ${unstored.why}`),
    );
    const how = { attemptOutcome: 'returned', delayMs } as const;
    const words = `${unstored.message} ${nextIn(delayMs)}`;
    return this.requeueUnlessCancelled(run, how, undefined, words);
  }

  /** Requeues a worker's run that was never begun, if it was handed out exactly this often. */
  takeBack(run: EndingRun, handed: number): Promise<boolean> {
    return this.requeue(run, { attemptOutcome: 'returned', delayMs: 0, handed });
  }

  private bounded(end: RunEnd): RunEnd {
    if (end.kind !== 'output') return end;
    const bytes = Buffer.byteLength(end.output!);
    if (bytes <= this.maxOutputBytes) return Object.assign(end, { bytes });
    return modelError(`The model's output is larger than ${this.maxOutputBytes} bytes.`);
  }

  /** Completes the request as cancelled if its run was asked to stop. Returns whether the run still held its lease. */
  private async requeueUnlessCancelled(
    run: EndingRun,
    how: HowRequeued,
    end?: RunEnd,
    words?: string,
  ): Promise<boolean> {
    if (await this.requeue(run, how, end, words)) return true;
    return this.finish(run, { kind: 'aborted', reason: 'cancelled' });
  }

  /** `words`: for the log of the request. Returns false if the run no longer holds a lease or was asked to stop. */
  private async requeue(run: EndingRun, how: HowRequeued, end?: RunEnd, words?: string): Promise<boolean> {
    const { id: requestId, token } = run.claimed;
    const { attempt, runMs } = run;
    const { attemptOutcome: reason, delayMs } = how;
    const failure = end && toAttemptFailure(run, end);
    const failed = reason === 'failed' || reason === 'timed_out' ? failure : undefined;
    const line = words === undefined ? undefined : run.cappedLog.admit('WARN', words, 'queue');
    const entry = await this.writer.requeue({
      requestId,
      token,
      ...how,
      ...(failure && { errorCode: failure.code, errorMessage: runMessageOf(run, end) }),
      message: line?.message ?? null,
    });
    if (entry === undefined) return false;
    const { id, modelId } = entry;
    this.events.publish({ added: [entry], changed: [id], work: delayMs <= 0 ? [modelId] : [] });
    const ended = { runMs: failed && runMs, failure: failed };
    this.events.emit('request.requeued', () => [{ id, modelId, attempt, reason, delayMs, ...ended }]);
    return true;
  }

  private async finish(run: EndingRun, end: RunEnd): Promise<boolean> {
    try {
      const isTaken = await this.writer.finish(finishOf(run, end, this.clock.now()));
      if (end.kind === 'output') this.rests?.end(run.model.id);
      return isTaken;
    } catch (error) {
      if (error instanceof ResultUnstored) {
        // The output must not be kept in memory while the requeue waits for the database.
        if (end.kind === 'output') end.output = undefined;
        return this.giveBack(run, error);
      }
      if (end.kind !== 'output' || isDatabaseUnavailable(error)) throw error;
      this.log.error(`the output of ${run.claimed.id} cannot be stored: ${(error as Error).message}`);
      return this.finish(run, modelError("The model's output cannot be stored."));
    }
  }
}

/** undefined: the request ends with this run. */
function nextAttempt(
  { claimed, model: { attempts, retry } }: EndingRun,
  end: RunEnd,
): Pick<Requeue, 'attemptOutcome' | 'delayMs'> | undefined {
  const failures = claimed.failedAttempts + 1;
  if (end.kind === 'output' || failures >= attempts) return undefined;
  if (end.kind === 'aborted') {
    if (end.reason !== 'timed_out' || !retry.on.includes('timeout')) return undefined;
    return { attemptOutcome: 'timed_out', delayMs: backoffMs(retry, failures, undefined) };
  }
  const { retryable, retryAfterMs } = asRunFailure(end.error).options;
  if (!retryable || !retry.on.includes('error')) return undefined;
  return { attemptOutcome: 'failed', delayMs: backoffMs(retry, failures, retryAfterMs) };
}

export function modelError(message: string): RunEnd {
  return { kind: 'failure', error: new RunFailure(message) };
}
