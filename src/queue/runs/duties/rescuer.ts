import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Raw, type Repository } from 'typeorm';
import { Clock } from '../../../database/clock.js';
import { Database } from '../../../database/database.js';
import { defaultLostAttempts } from '../../../models/model.js';
import { ModelsService } from '../../../models/models.service.js';
import { Duty } from '../../../tools/duty.js';
import { Cluster, lostAfterMs } from '../../cluster/cluster.js';
import { LeaseEntity } from '../entities/lease.entity.js';
import { requeue } from '../queries/requeue.js';
import { rescue, type Rescued, rescueFromWorkers, type RescueTerms } from '../queries/rescue.js';
import { findOverdue, findUnread } from '../../workers/queries/worker-leases.js';
import { QueueEvents } from '../../queue-events.js';
import { type RequestError, requestErrors } from '../../request-errors.js';
import { RunStore } from '../run-store.js';
import { Runs } from '../runs.js';
import { LeasedRuns } from '../../workers/leased-runs.js';
import { WorkerEnds } from '../../workers/worker-ends.js';

/**
 * Runs are given up after this many heartbeats in a row. After an outage all nodes are silent for a moment, and each
 * gets time to beat again. Workers have to reach the service again: they get 15 s.
 */
const beatsBeforeRescue = { nodes: 3, workers: 10 };

/**
 * A claim that failed is looked for until this node has sent as many heartbeats in a row, about 20 s: a commit that
 * hangs in an outage becomes visible only after it, however long that lasts.
 */
const beatsOfLostClaim = 14;

/**
 * Requeues the runs of lost nodes and of silent workers, ends runs of workers past their deadlines, and requeues runs
 * that never began: their claim was committed, but its answer was lost.
 */
@Injectable()
export class Rescuer extends Duty {
  protected readonly intervalMs = 1_000;

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    private readonly runs: Runs,
    private readonly store: RunStore,
    @InjectRepository(LeaseEntity) private readonly leases: Repository<LeaseEntity>,
    private readonly workerRuns: LeasedRuns,
    private readonly workerEnds: WorkerEnds,
    private readonly models: ModelsService,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    // Neither waits for the other or is stopped by its failure.
    const both = [this.rescueRunsOfNodes(), this.rescueRunsOfWorkers()];
    await Promise.allSettled(both);
    await Promise.all(both);
  }

  private async rescueRunsOfNodes(): Promise<void> {
    const { hasLostNodes, beats } = this.cluster;
    try {
      if (hasLostNodes && beats >= beatsBeforeRescue.nodes) await this.rescueFromNodes();
    } finally {
      await this.returnLostClaims();
    }
  }

  private async rescueRunsOfWorkers(): Promise<void> {
    if (this.cluster.hasOverdueLeases) {
      const overdue = await findOverdue(this.database);
      await Promise.all(overdue.map((run) => this.workerEnds.timeOut(run)));
      if (this.cluster.beats >= beatsBeforeRescue.workers) await this.rescueFromWorkers();
    }
    const { unknownRuns } = this.workerRuns;
    if (unknownRuns.length > 0) await this.workerEnds.giveBack(await findUnread(this.database, unknownRuns));
  }

  /** Takes the leases of lost nodes, also if this node has noticed no loss. */
  async rescueFromNodes(): Promise<void> {
    const { nodeId } = this.cluster;
    const terms = this.termsOf('nodeLost');
    const { nodes, requests } = await rescue(this.database, { nodeId, lostAfterMs, ...terms });
    this.events.emit('node.lost', () => nodes);
    this.publish(requests, terms.lost);
  }

  /** Takes the expired leases of workers, also if this node has noticed none. */
  async rescueFromWorkers(): Promise<void> {
    const terms = this.termsOf('workerLost');
    const requests = await rescueFromWorkers(this.database, terms);
    this.publish(requests, terms.lost);
  }

  private termsOf(how: 'nodeLost' | 'workerLost'): RescueTerms {
    const nowMs = this.clock.now();
    const limits = this.models.all().map(({ id, lostAttempts }) => [id, lostAttempts] as const);
    return {
      lostLimit: defaultLostAttempts,
      lostLimits: Object.fromEntries(limits.filter(([, limit]) => limit !== defaultLostAttempts)),
      lost: requestErrors[how](nowMs),
      cancelled: requestErrors.cancelled(nowMs),
      nowMs,
    };
  }

  /** `failure`: the error of the requests that are not retried. */
  private publish(requests: readonly Rescued[], failure: RequestError): void {
    if (requests.length === 0) return;
    const lost = failure.code === 'worker_lost' ? 'worker' : 'node';
    const requeued = requests.filter(({ outcome }) => outcome === null);
    this.events.publish({
      added: requeued,
      work: [...new Set(requeued.map(({ modelId }) => modelId))],
      changed: requests.map(({ id }) => id),
      lost: requests.map(({ id }) => id),
    });
    this.events.emit('request.requeued', () =>
      requeued.map(({ id, modelId, lostAttempt: attempt, isFollowed }) => ({
        id,
        modelId,
        attempt,
        delayMs: 0,
        ...(isFollowed ? ({ reason: 'returned' } as const) : ({ reason: 'lost', lost } as const)),
      })),
    );
    this.events.emit('request.completed', () =>
      requests.flatMap(({ id, modelId, lostAttempt: attempt, outcome }) => {
        const failed = outcome === 'failed' && { failure };
        return outcome === null ? [] : { id, modelId, attempt, outcome, attemptOutcome: 'lost', ...failed };
      }),
    );
  }

  /**
   * Requeues leases that belong to no run: the database committed their claim, but its answer never arrived. A request
   * that was cancelled meanwhile ends as cancelled.
   */
  private async returnLostClaims(): Promise<void> {
    const suspectedAt = this.runs.lostClaimAt;
    if (suspectedAt === undefined) return;
    const leases = await this.leases.findBy({
      nodeId: this.cluster.nodeId,
      // Older than any claim that may still be in progress.
      startedAt: Raw((column) => `${column} < clock_timestamp() - interval '12 seconds'`),
    });
    for (const { requestId, token, modelId, attempt } of leases) {
      if (this.runs.holds(requestId, token)) continue;
      const returned = { requestId, token, attemptOutcome: 'returned', delayMs: 0 } as const;
      const entry = await requeue(this.database, returned);
      if (entry !== undefined)
        this.events.publish({ added: [entry], work: [entry.modelId], changed: [entry.id] });
      else {
        const error = requestErrors.cancelled(this.clock.now());
        const run = { requestId, token, modelId, attempt, runMs: undefined };
        await this.store.finish({ ...run, attemptOutcome: 'cancelled', output: null, message: null, error });
      }
    }
    // A later round sees leases that are too young to be read now.
    const isNewest = this.runs.lostClaimAt === suspectedAt;
    const isOver = performance.now() - suspectedAt > 20_000 && this.cluster.beats >= beatsOfLostClaim;
    if (isNewest && isOver) this.runs.lostClaimAt = undefined;
  }
}
