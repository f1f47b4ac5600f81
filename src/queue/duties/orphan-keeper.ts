import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Raw, type Repository } from 'typeorm';
import { Database } from '../../database/database.js';
import { Cluster } from '../cluster/cluster.js';
import { LeaseEntity } from '../entities/lease.entity.js';
import { requeue } from '../queries/requeue.js';
import { QueueEvents } from '../queue-events.js';
import { Runs } from '../runs/runs.js';
import { Duty } from '../../tools/duty.js';

/**
 * Hands back leases of this node that no run belongs to: those of a claim that the database committed but whose
 * answer never arrived. Idle unless a claim has failed.
 */
@Injectable()
export class OrphanKeeper extends Duty {
  protected readonly intervalMs = 5_000;

  constructor(
    private readonly database: Database,
    @InjectRepository(LeaseEntity) private readonly leases: Repository<LeaseEntity>,
    private readonly cluster: Cluster,
    private readonly runs: Runs,
    private readonly events: QueueEvents,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    const suspectedAt = this.runs.orphansSuspectedAt;
    if (suspectedAt === undefined) return;
    const leases = await this.leases.find({
      select: { requestId: true, token: true },
      // Older than any claim that may still be under way.
      where: {
        nodeId: this.cluster.nodeId,
        startedAt: Raw((at) => `${at} < clock_timestamp() - interval '12 seconds'`),
      },
    });
    for (const { requestId, token } of leases) {
      if (this.runs.holds(requestId, token)) continue;
      const entry = await requeue(this.database, {
        requestId,
        token,
        attemptOutcome: 'returned',
        delayMs: 0,
        errorCode: null,
        errorMessage: null,
        message: null,
      });
      if (entry !== undefined)
        this.events.publish({ added: [entry], work: [entry.modelId], changed: [entry.id] });
    }
    // Leases too young to be read are seen by a later round.
    const isNewest = this.runs.orphansSuspectedAt === suspectedAt;
    if (isNewest && performance.now() - suspectedAt > 20_000) this.runs.orphansSuspectedAt = undefined;
  }
}
