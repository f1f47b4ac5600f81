import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { BoundedKeys } from '../bounded-keys.js';
import { findBoundedModels, maxRecalled, recall } from '../queries/recall.js';
import { findReleasable } from '../queries/releasable.js';
import { QueueEvents } from '../../queue-events.js';
import { WaitingIndex } from '../waiting-index.js';

/** While requests wait and none is held, a new bound is noticed within this time. */
const unboundedMs = 3_000;
const idleMs = 60_000;

/** Releases requests that are held for no reason, after a crash or a changed bound. Applies new bounds. */
@Injectable()
export class Releaser extends Duty {
  protected readonly intervalMs = 1_000;

  constructor(
    private readonly database: Database,
    private readonly boundedKeys: BoundedKeys,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
  ) {
    super();
    events.subscribe(({ added, held }) => {
      if (held !== undefined) this.scheduleWithin(this.intervalMs);
      else if (added !== undefined) this.scheduleWithin(unboundedMs);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.boundedKeys.idle();
  }

  async runOnce(): Promise<void> {
    for (const { keyId, modelId } of await findReleasable(this.database)) {
      if (modelId === null) await this.recall(keyId);
      else await this.boundedKeys.release({ keyId, modelId });
    }
  }

  private async recall(keyId: string): Promise<void> {
    const models = new Set(await findBoundedModels(this.database, keyId));
    for (let count = maxRecalled; count === maxRecalled;) {
      const held = await recall(this.database, keyId);
      count = held.length;
      if (count > 0) this.events.publish({ held });
      for (const { modelId } of held) models.add(modelId);
    }
    for (const modelId of models) await this.boundedKeys.release({ keyId, modelId });
  }

  protected override nextIntervalMs(): number {
    if (this.index.holdsAny) return this.intervalMs;
    return this.index.isEmpty ? idleMs : unboundedMs;
  }
}
