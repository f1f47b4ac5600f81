import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { ObservingDatabase } from '../database/observing-database.js';
import { QueueEvents } from '../queue/queue-events.js';
import { Duty } from '../tools/duty.js';
import { addKeyUse, pruneKeyUse } from './queries/key-use.js';
import { type KeyUseNow, readKeyUse } from './queries/key-use-now.js';
import { dayMs, Tally } from './tally.js';

/** The row of a key is written this often at most, because thousands of keys may call all the time. */
const writeWithinMs = 20_000;

/**
 * How many requests each key submits a day (UTC), on all nodes. They are counted in memory and added to the table every
 * 20 s. A node that is killed loses what it had not added yet.
 */
@Injectable()
export class KeyUse extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly intervalMs = 3_600_000;
  private prunedAt = -Infinity;
  /** Counts by key. A submitted request counts as started. */
  private pending = new Tally();

  constructor(
    private readonly database: Database,
    private readonly observing: ObservingDatabase,
    clock: Clock,
    events: QueueEvents,
  ) {
    super();
    events.on('request.submitted', (requests) => {
      const now = clock.now();
      if (this.pending.isEmpty) this.scheduleWithin(writeWithinMs);
      for (const { keyId } of requests) this.pending.add(now - (now % dayMs), keyId, { started: 1 });
    });
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
    await this.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    await this.write();
    if (performance.now() - this.prunedAt < this.intervalMs) return;
    await pruneKeyUse(this.database);
    this.prunedAt = performance.now();
  }

  protected override nextIntervalMs(): number {
    return this.pending.isEmpty ? this.intervalMs : writeWithinMs;
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
