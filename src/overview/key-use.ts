import { Injectable } from '@nestjs/common';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { ObservingDatabase } from '../database/observing-database.js';
import { QueueEvents } from '../queue/queue-events.js';
import { CountingDuty } from './counting-duty.js';
import { addKeyUse, pruneKeyUse } from './queries/key-use.js';
import { type KeyUseNow, readKeyUse } from './queries/key-use-now.js';
import { dayMs, type Tally } from './tally.js';

/** The row of a key is written this often at most, because thousands of keys may call all the time. */
const writeWithinMs = 20_000;

/**
 * How many requests each key submits a day (UTC), on all nodes. They are counted in memory and added to the table every
 * 20 s, before jitter. A node that is killed loses what it had not added yet.
 */
@Injectable()
export class KeyUse extends CountingDuty {
  constructor(
    private readonly database: Database,
    private readonly observing: ObservingDatabase,
    clock: Clock,
    events: QueueEvents,
  ) {
    super(writeWithinMs);
    events.on('request.submitted', (requests) => {
      const now = clock.now();
      // The counts are by key. A submitted request counts as started.
      for (const { keyId } of requests) this.count(now - (now % dayMs), keyId, { started: 1 });
    });
  }

  /** Returns the use of these keys by id, with all that this node has counted. */
  async of(ids: readonly string[]): Promise<Map<string, KeyUseNow>> {
    await this.write();
    const rows = await readKeyUse(this.observing, ids);
    return new Map(rows.map((row) => [row.id, row]));
  }

  write(): Promise<void> {
    return this.add(this.take());
  }

  protected addToTable(counted: Tally): Promise<void> {
    const rows = counted
      .rows()
      .map(({ at: day, modelId: keyId, started: submitted }) => ({ day, keyId, submitted }));
    return addKeyUse(this.database, rows);
  }

  protected prune(): Promise<void> {
    return pruneKeyUse(this.database);
  }
}

export type { KeyUseNow } from './queries/key-use-now.js';
