import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { storedContext } from '../../tracing/trace-context.js';
import { Tracing } from '../../tracing/tracing.js';
import { BoundedKeys } from '../waiting/bounded-keys.js';
import { endOf, findLeases, findLeasesOf, type LeasedRun, type LeaseName } from './queries/worker-leases.js';
import { QueueEvents } from '../queue-events.js';
import type { AttemptOutcome } from '../request-state.js';
import type { EndingRun } from '../runs/ending-run.js';
import { endingOf } from '../runs/run-finish.js';
import type { RunEnd } from '../runs/run-execution.js';
import { RunEnds } from '../runs/run-ends.js';
import { RunLog } from '../runs/run-log.js';
import { RunStore } from '../runs/run-store.js';
import { RunFailure } from '../runs/runner.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { LeasedRuns } from './leased-runs.js';
import { KnownWorkers } from './known-workers.js';
import { WorkerStore } from './worker-store.js';

type Run = Omit<LeasedRun, 'input'>;

/** The result of a worker's report of its run's end; `lost`: the worker no longer has the lease. */
export type EndTaken = 'taken' | 'lost' | { endedAs: AttemptOutcome };

/** After these outcomes, the lease was taken from the worker, or the worker gave it back. */
const lostOutcomes: readonly AttemptOutcome[] = ['lost', 'timed_out', 'returned'];

/** Ends runs of workers by the rules of all runs, and does what follows from an end. */
@Injectable()
export class WorkerEnds {
  private readonly ends: RunEnds;
  private readonly log = new Logger(WorkerEnds.name);

  constructor(
    config: Config,
    store: WorkerStore,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: QueueEvents,
    private readonly models: ModelsService,
    private readonly boundedKeys: BoundedKeys,
    private readonly runs: LeasedRuns,
    private readonly workers: KnownWorkers,
    private readonly index: WaitingIndex,
    private readonly runStore: RunStore,
    private readonly tracing: Tracing,
  ) {
    this.ends = new RunEnds(store, events, clock, config.maxOutputBytes);
  }

  /** `output`: JSON text, or its bytes. Idempotent. */
  async succeed(lease: LeaseName, output: string | Buffer): Promise<EndTaken> {
    const run = await this.runs.find(lease);
    if (run !== undefined && (await this.end(run, { kind: 'output', output }))) {
      this.workers.noteEnd(run.workerId, true);
      return 'taken';
    }
    return this.endedBefore(lease, ['succeeded']);
  }

  /** The answer for a lease that is gone. */
  succeededBefore(lease: LeaseName): Promise<EndTaken> {
    return this.endedBefore(lease, ['succeeded']);
  }

  async fail(lease: LeaseName, failure: RunFailure): Promise<EndTaken> {
    const run = await this.runs.find(lease);
    if (run !== undefined && (await this.end(run, { kind: 'failure', error: failure }))) {
      // A refused input is no failure of the worker, nor is a run that was to be cancelled.
      if (failure.options.status === undefined && (await endOf(this.database, lease)) !== 'cancelled')
        this.workers.noteEnd(run.workerId, false);
      return 'taken';
    }
    return this.endedBefore(lease, ['failed', 'cancelled']);
  }

  /** Requeues the run at no cost, to start no sooner than `delayMs` from now; or ends it, if it was to be cancelled. */
  async release(lease: LeaseName, delayMs: number): Promise<EndTaken> {
    const run = await this.runs.find(lease);
    if (run !== undefined && (await this.end(run, { kind: 'aborted', reason: 'lost', delayMs })))
      return 'taken';
    return this.endedBefore(lease, ['returned', 'cancelled']);
  }

  /** Requeues all runs of a worker. */
  async releaseAll(workerId: string): Promise<void> {
    for (;;) {
      const runs = await findLeasesOf(this.database, workerId);
      if (runs.length === 0) return;
      await this.releaseThose(runs);
    }
  }

  /** Requeues those runs of a worker. Returns whether it has others. */
  async releaseSome(workerId: string, leases: readonly LeaseName[]): Promise<boolean> {
    const runs = await findLeases(this.database, leases);
    await this.releaseThose(runs.filter((run) => run.workerId === workerId));
    return (await findLeasesOf(this.database, workerId)).length > 0;
  }

  private async releaseThose(runs: readonly Run[]): Promise<void> {
    await Promise.all(runs.map((run) => this.end(run, { kind: 'aborted', reason: 'lost' })));
    this.events.publish({ lost: runs.map(({ id }) => id) });
  }

  async timeOut(run: Run): Promise<boolean> {
    const hasEnded = await this.end(run, { kind: 'aborted', reason: 'timed_out' });
    if (!hasEnded) return false;
    this.workers.noteEnd(run.workerId, false);
    this.events.publish({ lost: [run.id] });
    return true;
  }

  /**
   * Requeues runs whose answer was not read, unless the worker has asked for them again. Never rejects: the rescuer
   * tries again, and the leases expire anyway.
   */
  async giveBack(runs: readonly LeasedRun[]): Promise<void> {
    await Promise.all(
      runs.map((run) =>
        this.ends
          .takeBack(this.ending(run, new RunLog()), run.handed)
          .then((isBack) => isBack && this.follow(run))
          .catch((error: Error) => {
            this.log.debug(`${run.id} could not be given back: ${error.message}`);
            this.runs.noteUnknown([run]);
          }),
      ),
    );
  }

  /** Returns whether the run still had its lease. */
  private async end(run: Run, end: RunEnd): Promise<boolean> {
    const hasEnded = await this.ends.complete(this.ending(run, await this.logFor(run, end)), end);
    if (hasEnded) {
      this.follow(run);
      this.trace(run, end);
    }
    this.runs.forget(run);
    return hasEnded;
  }

  /** The claim and the end may have come to two nodes: the node of the end creates the span. */
  private trace(run: Run, end: RunEnd): void {
    const { modelId, attempt: starts, startedAtMs } = run;
    const { attempt } = this.ending(run, new RunLog());
    const of = { attempt, isFirst: starts === 1, startedAtMs };
    this.tracing.process(modelId, storedContext(run), of).end(endingOf(end));
  }

  /** A failure may be reported in the log, within its caps. */
  private async logFor({ id }: Run, { kind }: RunEnd): Promise<RunLog> {
    return kind === 'output' ? new RunLog() : new RunLog(await this.runStore.readLogUsage(id));
  }

  private follow({ boundedKeyId: keyId, modelId }: Run): void {
    if (keyId !== null) void this.boundedKeys.release({ keyId, modelId });
    // Another run may start now, wherever a worker asks for it.
    const model = this.models.get(modelId);
    if (model === undefined || model.concurrency === null) return;
    const sharing = model.group === null ? [model] : this.models.membersOf(model.group);
    const work = sharing.flatMap(({ id }) => (this.index.claimable(id) > 0 ? id : []));
    if (work.length > 0) this.events.publish({ work });
  }

  private ending(run: Run, cappedLog: RunLog): EndingRun {
    const model = this.models.get(run.modelId) ?? gone(run);
    return {
      claimed: run,
      model,
      attempt: run.failedAttempts + run.lostAttempts + 1,
      timeoutMs: run.timeoutMs ?? model.timeoutMs,
      runMs: Math.max(0, this.clock.now() - run.startedAtMs),
      cappedLog,
    };
  }

  private async endedBefore(lease: LeaseName, same: readonly AttemptOutcome[]): Promise<EndTaken> {
    const endedAs = await endOf(this.database, lease);
    if (endedAs !== undefined && same.includes(endedAs)) return 'taken';
    return endedAs === undefined || lostOutcomes.includes(endedAs) ? 'lost' : { endedAs };
  }
}

/** The model has left the file: any end of its runs is accepted, and they are not retried. */
function gone({ modelId, startedAtMs, deadlineAtMs }: Run): Model {
  const retry = { baseMs: 0, capMs: 0, on: [] };
  return { id: modelId, attempts: 1, retry, timeoutMs: deadlineAtMs - startedAtMs } as unknown as Model;
}
