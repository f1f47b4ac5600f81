import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { Cluster } from '../../cluster/cluster.js';
import { Estimates } from '../estimates.js';
import { addRunTimes, readRunTimes, type StoredRunTimes } from '../queries/run-times.js';
import { QueueEvents } from '../../queue-events.js';

/**
 * After this many rounds without a change of any request, all nodes have written and read all run times: rounds get
 * rare.
 */
const quietAfter = 3;
const idleMs = 60_000;

/** Keeps the run times that estimates use across a restart, and shares them with the other nodes. */
@Injectable()
export class RunTimesKeeper extends Duty {
  protected readonly intervalMs = 10_000;
  protected override readonly firstWithinMs = 0;
  private hasRead = false;
  private quietRounds = 0;

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly estimates: Estimates,
    events: QueueEvents,
  ) {
    super();
    events.subscribe(() => {
      this.quietRounds = 0;
      this.scheduleWithin(this.intervalMs);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    this.quietRounds++;
    await this.write();
    if (this.hasRead && !this.cluster.hasPeers) return;
    this.set(await readRunTimes(this.database));
    this.hasRead = true;
  }

  protected override nextIntervalMs(): number {
    return this.quietRounds > quietAfter ? idleMs : this.intervalMs;
  }

  private async write(): Promise<void> {
    const runs = [...this.estimates.models].flatMap(([modelId, { runTimes }]) => {
      const taken = runTimes.take();
      return taken === undefined ? [] : [{ modelId, memory: runTimes.memory, runTimes, taken }];
    });
    if (runs.length === 0) return;
    try {
      const rows = runs.map(({ modelId, memory, taken }) => ({ modelId, memory, ...taken }));
      this.set(await addRunTimes(this.database, rows));
    } catch (error) {
      for (const { runTimes, taken } of runs) runTimes.giveBack(taken);
      throw error;
    }
  }

  private set(rows: readonly StoredRunTimes[]): void {
    for (const { modelId, ...stored } of rows) this.estimates.models.get(modelId)?.runTimes.set(stored);
  }
}
