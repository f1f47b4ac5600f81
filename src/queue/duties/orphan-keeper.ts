import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { NodeIdentity } from '../cluster/node-identity.js';
import { requeue } from '../queries/requeue.js';
import { QueueStore } from '../queue-store.js';
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
    private readonly store: QueueStore,
    private readonly node: NodeIdentity,
    private readonly runs: Runs,
    private readonly events: QueueEvents,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    const suspectedAt = this.runs.orphansSuspectedAt;
    if (suspectedAt === undefined) return;
    for (const { requestId, token } of await this.store.oldLeases(this.node.id)) {
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
