import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { ModelsService } from '../../../models/models.service.js';
import { Cluster } from '../cluster.js';
import { divideSlots } from '../queries/divide-slots.js';
import { QueueEvents } from '../../queue-events.js';
import { Slots } from '../slots.js';
import { Duty } from '../../../tools/duty.js';

/** Divides the concurrency of models that nodes run, when it changes or nodes come and go, until every part is fair. */
@Injectable()
export class SlotKeeper extends Duty {
  protected readonly intervalMs = 1_000;
  /**
   * `changes` counts changes of nodes, models and circuits. `dividedAt`: that count when every node had its fair part.
   */
  private changes = 1;
  private dividedAt = 0;
  /** The nodes of that division. Between two heartbeats, a node may be given up and come back. */
  private dividedAmong = '';

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly cluster: Cluster,
    private readonly slots: Slots,
    private readonly events: QueueEvents,
  ) {
    super();
    cluster.changes.subscribe(() => this.divideAgain());
    models.changes.subscribe(() => this.divideAgain());
    events.subscribe(({ circuits = [], missed }) => {
      if ((circuits.length > 0 || missed === true) && cluster.hasPeers) this.divideAgain();
    });
  }

  async runOnce(): Promise<void> {
    const { changes } = this;
    if (this.isFair || !this.cluster.connected) return;
    const { generation } = this.slots;
    const ids = new Set([...this.models.takenBy('nodes').map(({ id }) => id), ...this.slots.modelsInUse]);
    const requested = [...ids].map((modelId) => {
      // No new run starts until the grants are known: the node retains only what runs under the old grant.
      const retained = Math.min(this.slots.granted(modelId), this.slots.inUse(modelId));
      this.slots.grant(modelId, retained, { limit: Math.min(retained, this.slots.limit(modelId)) });
      const model = this.models.get(modelId);
      const below = this.slots.grantedBelow(modelId);
      const retainedBelow: [number, number] = [
        Math.min(below[0], this.slots.inUse(modelId, 0)),
        Math.min(below[1], this.slots.inUse(modelId, 1)),
      ];
      const groupId = model?.group?.id ?? null;
      return { modelId, retained, retainedBelow, isGone: model?.takenBy !== 'nodes', groupId };
    });
    const division = await divideSlots(this.database, this.cluster.nodeId, requested);
    // An answer that arrives after the node was fenced is a grant that other nodes may have by now.
    const isVoid = this.slots.generation !== generation || !this.cluster.connected;
    if (division !== undefined && !isVoid) {
      const { grants, schedulers } = division;
      for (const { modelId, slots, limit, round, groupId, groupLimit, below } of grants) {
        this.slots.grant(modelId, slots, { limit, round });
        this.slots.grantToGroup(modelId, groupId, groupLimit);
        this.slots.grantBelow(modelId, below);
      }
      if (grants.every(({ isFair }) => isFair)) {
        this.dividedAt = changes;
        this.dividedAmong = schedulers.join();
      }
    }
    this.events.publish({ work: requested.map(({ modelId }) => modelId) });
  }

  /** True: every node had its fair part, and as far as is known nothing has changed since. */
  private get isFair(): boolean {
    return this.dividedAt === this.changes && this.dividedAmong === this.cluster.schedulers.join();
  }

  private divideAgain(): void {
    this.changes++;
    this.scheduleWithin(0);
  }
}
