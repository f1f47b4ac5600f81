import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { Cluster, lostAfterMs } from '../cluster/cluster.js';
import { rescue, type Rescued } from '../queries/rescue.js';
import { QueueEvents } from '../queue-events.js';
import { type RequestError, requestErrors } from '../request-errors.js';
import { Duty } from '../../tools/duty.js';

/** A request whose nodes were lost this often is not tried again: it may be what kills them. */
const lostLimit = 2;
/** After an outage all nodes are silent for a moment: each must be heard again before any is given up. */
const beatsBeforeRescue = 3;

/** Takes up the runs of nodes that were lost. */
@Injectable()
export class Rescuer extends Duty {
  protected readonly intervalMs = 1_000;

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    if (!this.cluster.hasLostNodes || this.cluster.beats < beatsBeforeRescue) return;
    await this.rescueNow();
  }

  /** Without asking whether a node seems lost. */
  async rescueNow(): Promise<void> {
    const now = this.clock.now();
    const nodeLost = requestErrors.nodeLost(now);
    const { nodes, requests } = await rescue(this.database, {
      nodeId: this.cluster.nodeId,
      lostAfterMs,
      lostLimit,
      nodeLost,
      cancelled: requestErrors.cancelled(now),
    });
    this.events.emit('node.lost', () => nodes);
    if (requests.length > 0) this.publish(requests, nodeLost);
  }

  private publish(rescued: Rescued[], nodeLost: RequestError): void {
    const requeued = rescued.filter(({ outcome }) => outcome === null);
    this.events.publish({
      added: requeued,
      work: [...new Set(requeued.map(({ modelId }) => modelId))],
      changed: rescued.map(({ id }) => id),
    });
    this.events.emit('request.requeued', () =>
      requeued.map(({ id, modelId, attempt }) => ({ id, modelId, attempt, reason: 'lost', delayMs: 0 })),
    );
    this.events.emit('request.completed', () =>
      rescued.flatMap(({ id, modelId, attempt, outcome }) =>
        outcome === null
          ? []
          : { id, modelId, attempt, outcome, ...(outcome === 'failed' ? { failure: nodeLost } : {}) },
      ),
    );
  }
}
