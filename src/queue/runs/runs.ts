import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import type { Model } from '../../models/model.js';
import { storedContext } from '../../tracing/trace-context.js';
import { type Ending, Tracing } from '../../tracing/tracing.js';
import type { Probe } from '../circuits/circuit.js';
import { Circuits } from '../circuits/circuits.js';
import type { Claimed } from '../queries/claim.js';
import type { Requeue } from '../queries/requeue.js';
import { QueueEvents } from '../queue-events.js';
import type { AttemptFailure } from '../request-events.js';
import { backoffMs } from './backoff.js';
import type { EventWriter } from './event-writer.js';
import { asRunFailure, finishOf, toAttemptFailure } from './finish-of.js';
import { RunExecution, type RunEnd } from './run-execution.js';
import { RunEvents } from './run-events.js';
import { RunLog, storable } from './run-log.js';
import { RunStore } from './run-store.js';
import { RunFailure, type AbortReason, type Outage } from './runner.js';
import { RunnerRegistry } from './runner-registry.js';

/** The runs of this node: executes each from its claim to its committed end. */
@Injectable()
export class Runs {
  private readonly log = new Logger(Runs.name);
  private readonly going = new Map<string, RunExecution>();
  /** When a claim failed without our knowing whether it was committed. */
  orphansSuspectedAt: number | undefined;

  constructor(
    private readonly store: RunStore,
    private readonly runEvents: RunEvents,
    private readonly events: QueueEvents,
    private readonly runners: RunnerRegistry,
    private readonly circuits: Circuits,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly tracing: Tracing,
  ) {}

  get size(): number {
    return this.going.size;
  }

  holds(requestId: string, token: string): boolean {
    return this.going.get(requestId)?.claimed.token === token;
  }

  abort(requestId: string, reason: AbortReason): void {
    this.going.get(requestId)?.abort(reason);
  }

  abortAll(reason: AbortReason): void {
    for (const execution of [...this.going.values()]) execution.abort(reason);
  }

  /** Resolves when the run has ended and its end is committed, or its lease is lost. Rejects if that cannot be written. */
  async execute(claimed: Claimed, model: Model, probe?: Probe): Promise<void> {
    const execution = this.open(claimed, model);
    const isFirst = claimed.attempt === 1;
    const { attempt } = execution;
    const operation = this.tracing.process(model.id, storedContext(claimed), { attempt, isFirst });
    execution.trace = operation.context;
    let ending: Ending = { error: 'error' };
    if (probe !== undefined) execution.onReached = () => this.circuits.probeReached(model.id, probe);
    // Before anything is waited for: from here on the run can be asked to stop.
    this.going.set(claimed.id, execution);
    try {
      if (claimed.attempt > 1) execution.cappedLog = new RunLog(await this.store.logUsage(claimed.id));
      const end = await execution.execute(this.runners.for(model));
      // Before the slot is free again.
      const outage = this.circuits.outageOf(execution, end, probe);
      await execution.writer?.flush();
      await this.complete(execution, this.bounded(await this.whole(execution, end)), outage);
      ending = endingOf(end);
    } finally {
      this.going.delete(claimed.id);
      if (probe !== undefined) this.circuits.endProbe(model.id, probe);
      operation.end(ending);
    }
  }

  /** Gives a claimed request back that is not to be run here, or ends it if it was cancelled meanwhile. */
  async release(claimed: Claimed, model: Model, probe?: Probe): Promise<void> {
    if (probe !== undefined) this.circuits.skipProbe(model.id, probe);
    const execution = this.open(claimed, model);
    await this.complete(execution, { kind: 'aborted', reason: 'lost' });
  }

  private open(claimed: Claimed, model: Model): RunExecution {
    const open = ({ id, token }: Claimed): EventWriter => this.runEvents.writer({ requestId: id, token });
    return new RunExecution(claimed, model, open, () => this.clock.now());
  }

  /** With the output that it said in parts. */
  private async whole({ claimed, writer }: RunExecution, end: RunEnd): Promise<RunEnd> {
    if (end.kind !== 'output') return end;
    if (writer?.hasGap === true) return modelError("The model's output cannot be stored.");
    if (end.output !== undefined) return end;
    const output = await this.runEvents.joinedOutput(claimed.id, claimed.attempt);
    return output === undefined ? modelError('The model said no output.') : { kind: 'output', output };
  }

  private bounded(end: RunEnd): RunEnd {
    const { maxOutputBytes } = this.config;
    if (end.kind !== 'output') return end;
    const bytes = Buffer.byteLength(end.output!);
    if (bytes <= maxOutputBytes) return { ...end, bytes };
    return modelError(`The model's output is larger than ${maxOutputBytes} bytes.`);
  }

  private async complete(execution: RunExecution, end: RunEnd, outage?: Outage): Promise<void> {
    if (outage === 'free') {
      const how = { attemptOutcome: 'unreached', delayMs: 0 } as const;
      if (await this.requeue(execution, how, toAttemptFailure(execution, end))) return;
      return this.finish(execution, { kind: 'aborted', reason: 'cancelled' });
    }
    if (end.kind === 'aborted' && (end.reason === 'shutdown' || end.reason === 'lost')) {
      // Lost or not, the lease may still be ours, after an outage that kept all nodes out.
      if (await this.requeue(execution, { attemptOutcome: 'returned', delayMs: 0 })) return;
      return this.finish(execution, { kind: 'aborted', reason: 'cancelled' });
    }
    const how = nextAttempt(execution, end);
    if (how !== undefined && (await this.requeue(execution, how, toAttemptFailure(execution, end)))) return;
    await this.finish(execution, end);
  }

  /** False when the run holds no lease any more or was asked to stop. */
  private async requeue(
    execution: RunExecution,
    how: Pick<Requeue, 'attemptOutcome' | 'delayMs'>,
    failure?: AttemptFailure,
  ): Promise<boolean> {
    const { id: requestId, token } = execution.claimed;
    const { attempt, runMs } = execution;
    const { attemptOutcome: reason, delayMs } = how;
    // A long outage would fill the log of the request at the front: the circuit says what there is to say.
    const failed = reason === 'unreached' ? undefined : failure;
    const next = `The next one follows in ${Math.ceil(delayMs / 1000)} s.`;
    const line =
      failed &&
      execution.cappedLog.admit('WARN', `Attempt ${attempt} failed: ${failed.message} ${next}`, 'queue');
    const entry = await this.store.requeue({
      requestId,
      token,
      ...how,
      ...(failure && { errorCode: failure.code, errorMessage: storable(failure.message) }),
      message: line?.message ?? null,
    });
    if (entry === undefined) return false;
    const { id, modelId } = entry;
    this.events.publish({ added: [entry], changed: [id], work: delayMs <= 0 ? [modelId] : [] });
    const ended = { runMs: failed && runMs, failure: failed };
    this.events.emit('request.requeued', () => [{ id, modelId, attempt, reason, delayMs, ...ended }]);
    return true;
  }

  private async finish(execution: RunExecution, end: RunEnd): Promise<void> {
    try {
      await this.store.finish(finishOf(execution, end, this.clock.now()));
    } catch (error) {
      if (end.kind !== 'output') throw error;
      this.log.error(`the output of ${execution.claimed.id} cannot be stored: ${(error as Error).message}`);
      await this.finish(execution, modelError("The model's output cannot be stored."));
    }
  }
}

/** Undefined: the request ends with this run. */
function nextAttempt(
  { claimed, model: { attempts, retry } }: RunExecution,
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

function endingOf(end: RunEnd): Ending {
  if (end.kind === 'output') return {};
  if (end.kind === 'failure') return { error: asRunFailure(end.error).options.code };
  return end.reason === 'timed_out'
    ? { error: end.reason }
    : { attributes: { 'nowserving.ended': end.reason } };
}

function modelError(message: string): RunEnd {
  return { kind: 'failure', error: new RunFailure(message) };
}
