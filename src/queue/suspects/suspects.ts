import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { persist } from '../../database/persist.js';
import type { Destination } from '../circuits/addresses.js';
import { Circuits } from '../circuits/circuits.js';
import { Cluster } from '../cluster/cluster.js';
import { QueueEvents } from '../queue-events.js';
import type { RunEnd, RunExecution } from '../runs/run-execution.js';
import type { Outage } from '../runs/runner.js';
import { acquitOthers, acquitSuspect, hasCompany, markSuspect, parkedMs } from './queries/suspects.js';

/** What the end of a run means for its request. */
export interface Verdict {
  /**
   * Neither of these is charged. `shared`: the model was lost while several runs were there. `left`: it was lost where
   * it has no circuit any more, so nobody knows which other runs were there.
   */
  outage: Outage | 'shared' | 'left' | undefined;
  /** Milliseconds for which the request is kept out of its queue, because it is to run without others. */
  parkedMs: number;
}

/**
 * Finds the input that breaks its model. A break is charged to a run that was the only one at its address, over all
 * nodes. Requests whose runs broke together with others are suspects: they run one at a time, until one breaks again or
 * all have succeeded.
 */
@Injectable()
export class Suspects {
  constructor(
    private readonly database: Database,
    private readonly circuits: Circuits,
    private readonly cluster: Cluster,
    private readonly events: QueueEvents,
  ) {}

  /** Judges a run that has ended and still holds its lease, before its end is written. */
  async judge(
    { model, claimed, isSuspect, followed }: RunExecution,
    end: RunEnd,
    { target }: Destination,
    outage: Outage | undefined,
  ): Promise<Verdict> {
    const free = { outage, parkedMs: 0 };
    if (target === undefined) return free;
    if (!target.models.includes(model.id)) {
      // A run that is resumed could break there again and again.
      const isLeft = outage === 'costly' && followed === undefined;
      return isLeft ? { outage: 'left', parkedMs: 0 } : free;
    }
    const { id: requestId, token } = claimed;
    const { address } = target;
    if (outage === 'costly') {
      const run = { requestId, token, modelId: model.id, address };
      const models = this.circuits.modelsAt(address);
      const isShared =
        this.circuits.runningAt(address) > 1 ||
        (await persist(() => hasCompany(this.database, run, models, this.cluster.nodeId)));
      if (isShared) {
        await persist(() => markSuspect(this.database, run));
        this.events.publish({ suspects: [model.id] });
        return { outage: 'shared', parkedMs };
      }
      if (!isSuspect) return free;
      await persist(() => acquitOthers(this.database, address, requestId));
      this.events.publish({ scheduled: true });
      return { outage, parkedMs };
    }
    if (!isSuspect) return free;
    if (outage === 'free') return { outage, parkedMs };
    // It was given back, so its next run is without others, too.
    if (end.kind === 'aborted' && end.reason !== 'timed_out') return { outage, parkedMs };
    await persist(() => acquitSuspect(this.database, requestId));
    return free;
  }
}
