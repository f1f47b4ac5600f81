import { Injectable } from '@nestjs/common';
import { Clock } from '../../../database/clock.js';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { Cluster } from '../../cluster/cluster.js';
import { BoundedKeys } from '../bounded-keys.js';
import { findExceededBounds, findUnboundedKeys, maxRecalled, recall } from '../queries/recall.js';
import { findReleasable } from '../queries/releasable.js';
import { QueueEvents } from '../../queue-events.js';
import { WaitingIndex } from '../waiting-index.js';

/** Nodes learn of a new bound one by one, within 5 s, and a submission may be on its way for a few seconds more. */
const recallsForMs = 15_000;
const idleMs = 60_000;

/** Releases requests that are held for no reason, after a crash or a changed bound. Applies new bounds. */
@Injectable()
export class Releaser extends Duty {
  protected readonly intervalMs = 1_000;
  /** The time at which this node noticed that a bound may be new. */
  private changedAt = -Infinity;
  /** The time at which the last round that read the database and succeeded began. */
  private lookedAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly boundedKeys: BoundedKeys,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly clock: Clock,
    cluster: Cluster,
  ) {
    super();
    cluster.controlsChanged.subscribe(() => (this.changedAt = performance.now()));
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.boundedKeys.idle();
  }

  async runOnce(): Promise<void> {
    const now = performance.now();
    if (!this.isDue(now)) return;
    // No bound is missed that was set while this process did not run or had no database.
    const sinceMs = this.clock.now() - (now - this.lookedAt) - recallsForMs;
    let found = await findReleasable(this.database, sinceMs);
    if (found.some(({ modelId }) => modelId === null)) {
      // A release counts only what a recall has marked.
      await this.recallAll(sinceMs);
      found = await findReleasable(this.database, sinceMs);
      found.push(...(await findExceededBounds(this.database, sinceMs)));
    }
    const { failures } = this.boundedKeys;
    for (const { keyId, modelId } of found)
      if (modelId !== null) await this.boundedKeys.release({ keyId, modelId });
    // Bounds whose release failed are still new in the next round.
    if (this.boundedKeys.failures === failures) this.lookedAt = now;
  }

  private isDue(now: number): boolean {
    const mayBeNew = this.lookedAt < this.changedAt + recallsForMs;
    return mayBeNew || this.index.holdsAny || now > this.lookedAt + idleMs;
  }

  private async recallAll(sinceMs: number): Promise<void> {
    for (const keyId of await findUnboundedKeys(this.database, sinceMs)) {
      for (let count = maxRecalled; count === maxRecalled;) {
        const held = await recall(this.database, keyId);
        count = held.length;
        if (count > 0) this.events.publish({ held });
      }
    }
  }
}
