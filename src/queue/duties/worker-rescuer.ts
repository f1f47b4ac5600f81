import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { Cluster } from '../cluster/cluster.js';
import { rescueFromWorkers } from '../queries/rescue.js';
import { findModelsWithWork } from '../queries/waiting.js';
import { findOverdue, findUnread } from '../queries/worker-leases.js';
import { QueueEvents } from '../queue-events.js';
import { requestErrors } from '../request-errors.js';
import { lostLimit, publishRescued } from '../rescued.js';
import { LeasedRuns } from '../workers/leased-runs.js';
import { WorkerClaims } from '../workers/worker-claims.js';
import { WorkerEnds } from '../workers/worker-ends.js';

/**
 * After an outage, workers have to reach the service again: their runs are given up only after this many heartbeats
 * (15 s).
 */
const beatsBeforeRescue = 10;
const maxPollRounds = 30;

/**
 * Takes up the runs of workers that are silent, ends runs past their deadlines, and gives back runs whose claim was
 * never answered. Also polls for work of which waiting claims were not notified.
 */
@Injectable()
export class WorkerRescuer extends Duty {
  protected readonly intervalMs = 1_000;
  private pollEvery = 1;
  private polls = 0;

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    private readonly claims: WorkerClaims,
    private readonly runs: LeasedRuns,
    private readonly ends: WorkerEnds,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    this.claims.wakeAll();
    await this.poll();
    if (this.cluster.hasOverdueLeases) {
      await this.endOverdue();
      if (this.cluster.beats >= beatsBeforeRescue) await this.rescueNow();
    }
    const { unknownTokens } = this.runs;
    if (unknownTokens.length > 0) await this.ends.giveBack(await findUnread(this.database, unknownTokens));
  }

  /** Rescues without asking whether a lease seems to be over. */
  async rescueNow(): Promise<void> {
    const now = this.clock.now();
    const lost = requestErrors.workerLost(now);
    const requests = await rescueFromWorkers(this.database, {
      ...{ lostLimit, lost },
      cancelled: requestErrors.cancelled(now),
    });
    publishRescued(this.events, requests, lost);
    if (requests.length > 0) this.events.publish({ lost: requests.map(({ id }) => id) });
  }

  async endOverdue(): Promise<void> {
    const overdue = await findOverdue(this.database);
    await Promise.all(overdue.map((run) => this.ends.timeOut(run)));
  }

  /** Makes up for lost messages. It polls more and more slowly while it finds nothing. */
  private async poll(): Promise<void> {
    const models = this.claims.modelsWaitedFor;
    if (models.length === 0 || ++this.polls % this.pollEvery !== 0) return;
    const found = await findModelsWithWork(this.database, models);
    this.pollEvery = found.length > 0 ? 1 : Math.min(maxPollRounds, this.pollEvery * 2);
    for (const id of found) this.claims.wake(id);
  }
}
