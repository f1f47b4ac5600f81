import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import type { Model } from '../../models/model.js';
import { storedContext } from '../../tracing/trace-context.js';
import { type Ending, Tracing } from '../../tracing/tracing.js';
import type { Destination } from '../circuits/addresses.js';
import { Circuits } from '../circuits/circuits.js';
import type { Claimed } from './queries/claim.js';
import { QueueEvents } from '../queue-events.js';
import { parkedMs } from '../suspects/queries/suspects.js';
import { Suspects } from '../suspects/suspects.js';
import type { EventWriter } from './event-writer.js';
import { endingOf } from './run-finish.js';
import { FollowedRuns } from './followed-runs.js';
import { modelError, RunEnds } from './run-ends.js';
import { UnstoredRests } from './unstored-rests.js';
import { UnstoredResults } from './unstored-results.js';
import { type RunBooks, RunExecution, type RunEnd } from './run-execution.js';
import { RunEvents } from './run-events.js';
import { RunLog } from './run-log.js';
import { RunStore } from './run-store.js';
import { type AbortReason, ResultUnstored } from './runner.js';
import { RunnerRegistry } from './runner-registry.js';

/** The runs of this node. Executes each from its claim to its committed end. */
@Injectable()
export class Runs {
  private readonly going = new Map<string, RunExecution>();
  /** The time at which a claim failed and may or may not have been committed. */
  lostClaimAt: number | undefined;
  private readonly ends: RunEnds;
  private readonly rests = new UnstoredRests((modelId) => this.events.publish({ work: [modelId] }));

  constructor(
    private readonly store: RunStore,
    private readonly runEvents: RunEvents,
    private readonly events: QueueEvents,
    private readonly runners: RunnerRegistry,
    private readonly circuits: Circuits,
    private readonly clock: Clock,
    config: Config,
    private readonly tracing: Tracing,
    private readonly unstored: UnstoredResults,
    private readonly followed: FollowedRuns,
    private readonly suspects: Suspects,
  ) {
    this.ends = new RunEnds(store, events, clock, config.maxOutputBytes, this.rests);
  }

  get size(): number {
    return this.going.size;
  }

  /** True if no run of the model may start here now, because its results could not be stored. */
  isResting(modelId: string): boolean {
    return this.rests.isResting(modelId);
  }

  holds(requestId: string, token: string): boolean {
    return this.going.get(requestId)?.claimed.token === token;
  }

  abort(requestId: string, reason: AbortReason): void {
    this.going.get(requestId)?.abort(reason);
  }

  /** Stops the run of a request if its lease is gone. The loss may be that of an earlier run: the token decides. */
  async stopIfLost(requestId: string): Promise<void> {
    const execution = this.going.get(requestId);
    if (execution === undefined) return;
    const isHeld = await this.store.holdsLease(execution.claimed).catch(() => true);
    if (!isHeld) execution.abort('lost');
  }

  abortAll(reason: AbortReason): void {
    for (const execution of this.going.values()) execution.abort(reason);
  }

  /**
   * Resolves when the run has ended and its end is committed, or its lease is lost. Rejects if it cannot be written.
   */
  async execute(claimed: Claimed, model: Model, chosen: Destination): Promise<void> {
    const execution = this.open(claimed, model);
    let destination = chosen;
    execution.address = destination.target?.url;
    execution.isSuspect = destination.isSuspect === true;
    const isFirst = claimed.attempt === 1;
    const { attempt } = execution;
    const operation = this.tracing.process(model.id, storedContext(claimed), { attempt, isFirst });
    execution.trace = operation.context;
    let ending: Ending = { error: 'error' };
    if (destination.probe !== undefined) execution.onReached = () => this.circuits.probeReached(destination);
    // The claim shows that an earlier run of the request has lost its lease.
    this.going.get(claimed.id)?.abort('lost');
    // Before the first await: from here on the run can be asked to stop.
    this.going.set(claimed.id, execution);
    try {
      if (claimed.attempt > 1) execution.cappedLog = new RunLog(await this.store.logUsage(claimed.id));
      const begun = await this.followed.find(execution);
      if (begun !== undefined) {
        execution.resume(begun, begun.ageMs);
        destination = this.circuits.moveRun(model.id, destination, begun.address);
      }
      const end = await execution.execute(this.runners.for(model));
      // Before the slot is free again.
      const outage = this.circuits.outageOf(execution, end, destination);
      await execution.writer?.flush();
      const mayBeSuspect = outage !== undefined || execution.isSuspect;
      const verdict = mayBeSuspect
        ? await this.suspects.judge(execution, end, destination, outage)
        : undefined;
      await this.ends.complete(execution, await this.whole(execution, end), verdict);
      ending = endingOf(end);
    } finally {
      execution.close();
      // A run that is slow to stop may outlive its lease, and this node may have the next run of its request by then.
      if (this.going.get(claimed.id) === execution) this.going.delete(claimed.id);
      this.circuits.endRun(destination);
      if (execution.isFollowed) this.followed.ends.next();
      operation.end(ending);
    }
  }

  /**
   * Requeues a claimed request that must not run here, or ends it if it was cancelled meanwhile. `isSuspect`: its next
   * run is to be without others.
   */
  async release(claimed: Claimed, model: Model, isSuspect = false): Promise<void> {
    const execution = this.open(claimed, model);
    const delayMs = isSuspect ? parkedMs : 0;
    await this.ends.complete(execution, { kind: 'aborted', reason: 'lost', delayMs });
  }

  private open(claimed: Claimed, model: Model): RunExecution {
    const open = ({ id, token }: Claimed, onLost: () => void): EventWriter =>
      this.runEvents.writer({ requestId: id, token }, onLost);
    const books: RunBooks = {
      facts: (id) => this.store.facts(id),
      keepLease: (run) => this.store.keepLease(run.claimed),
      keepFollowed: (run, answer) => this.followed.keep(run, answer),
      forgetFollowed: (run) => this.followed.forget(run),
    };
    return new RunExecution(claimed, model, open, () => this.clock.now(), this.unstored, books);
  }

  /** Adds the output that the run emitted in parts. */
  private async whole({ claimed, writer }: RunExecution, end: RunEnd): Promise<RunEnd> {
    if (end.kind !== 'output') return end;
    if (writer?.isUnstored === true) {
      const error = new ResultUnstored('The database cannot store it now.', undefined);
      return { kind: 'failure', error };
    }
    if (writer?.hasGap === true) return modelError("The model's output cannot be stored.");
    if (end.output !== undefined) return end;
    const output = await this.runEvents.joinedOutput(claimed.id, claimed.attempt);
    return output === undefined ? modelError('The model returned no output.') : { kind: 'output', output };
  }
}
