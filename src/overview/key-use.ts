import { Injectable } from '@nestjs/common';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { ObservingDatabase } from '../database/observing-database.js';
import { QueueEvents } from '../queue/queue-events.js';
import { addKeyUse } from './queries/key-use.js';
import { type KeyUseNow, readKeyUse } from './queries/key-use-now.js';
import { dayMs, Tally } from './tally.js';

/**
 * How many requests each key submits a day (UTC), on all nodes. They are counted in memory and added to the table every
 * 20 s. A node that is killed loses what it had not added yet.
 */
@Injectable()
export class KeyUse {
  /** Called when there is something to write. */
  onPending = (): void => undefined;
  /** Counts by key. A submitted request counts as started. */
  private pending = new Tally();

  constructor(
    private readonly database: Database,
    private readonly observing: ObservingDatabase,
    clock: Clock,
    events: QueueEvents,
  ) {
    events.on('request.submitted', (requests) => {
      const now = clock.now();
      if (this.pending.isEmpty) this.onPending();
      for (const { keyId } of requests) this.pending.add(now - (now % dayMs), keyId, { started: 1 });
    });
  }

  get isPending(): boolean {
    return !this.pending.isEmpty;
  }

  /** Returns the use of these keys by id, with all that this node has counted. */
  async of(ids: readonly string[]): Promise<Map<string, KeyUseNow>> {
    await this.write();
    const rows = await readKeyUse(this.observing, ids);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Adds the counts of this node to those of all nodes. */
  async write(): Promise<void> {
    const counted = this.pending;
    if (counted.isEmpty) return;
    this.pending = new Tally();
    const rows = counted
      .rows()
      .map(({ at: day, modelId: keyId, started: submitted }) => ({ day, keyId, submitted }));
    try {
      await addKeyUse(this.database, rows);
    } catch (error) {
      this.pending.addAll(counted);
      throw error;
    }
  }
}

export type { KeyUseNow } from './queries/key-use-now.js';
