import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Raw, type Repository } from 'typeorm';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { Cluster, lostAfterMs } from '../cluster/cluster.js';
import { LeaseEntity } from '../entities/lease.entity.js';
import { requeue } from '../queries/requeue.js';
import { rescue } from '../queries/rescue.js';
import { QueueEvents } from '../queue-events.js';
import { requestErrors } from '../request-errors.js';
import { lostLimit, publishRescued } from '../rescued.js';
import { Runs } from '../runs/runs.js';

/** After an outage all nodes are silent for a moment. Each gets time to beat again before any is given up. */
const beatsBeforeRescue = 3;

/** Takes up the runs of lost nodes, and claims of this node whose answer was lost. */
@Injectable()
export class Rescuer extends Duty {
  protected readonly intervalMs = 1_000;

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly runs: Runs,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    @InjectRepository(LeaseEntity) private readonly leases: Repository<LeaseEntity>,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    try {
      if (this.cluster.hasLostNodes && this.cluster.beats >= beatsBeforeRescue) await this.rescueNow();
    } finally {
      await this.returnOrphans();
    }
  }

  /** Rescues without asking whether a node seems lost. */
  async rescueNow(): Promise<void> {
    const now = this.clock.now();
    const lost = requestErrors.nodeLost(now);
    const { nodes, requests } = await rescue(this.database, {
      nodeId: this.cluster.nodeId,
      lostAfterMs,
      lostLimit,
      lost,
      cancelled: requestErrors.cancelled(now),
    });
    this.events.emit('node.lost', () => nodes);
    publishRescued(this.events, requests, lost);
  }

  /** Requeues leases that belong to no run: the database committed their claim, but its answer never arrived. */
  private async returnOrphans(): Promise<void> {
    const suspectedAt = this.runs.orphansSuspectedAt;
    if (suspectedAt === undefined) return;
    const leases = await this.leases.findBy({
      nodeId: this.cluster.nodeId,
      // Older than any claim that may still be in progress.
      startedAt: Raw((column) => `${column} < clock_timestamp() - interval '12 seconds'`),
    });
    for (const { requestId, token } of leases) {
      if (this.runs.holds(requestId, token)) continue;
      const returned = { requestId, token, attemptOutcome: 'returned', delayMs: 0 } as const;
      const entry = await requeue(this.database, returned);
      if (entry !== undefined)
        this.events.publish({ added: [entry], work: [entry.modelId], changed: [entry.id] });
    }
    // A later round sees leases that are too young to be read now.
    const isNewest = this.runs.orphansSuspectedAt === suspectedAt;
    if (isNewest && performance.now() - suspectedAt > 20_000) this.runs.orphansSuspectedAt = undefined;
  }
}
