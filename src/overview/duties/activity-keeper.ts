import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { Activity } from '../activity.js';
import { pruneActivity } from '../queries/activity.js';

const writeWithinMs = 2_000;

/** Writes what this node has started and ended, soon after. It writes nothing while nothing happens. */
@Injectable()
export class ActivityKeeper extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly intervalMs = 3_600_000;
  private prunedAt = -Infinity;

  constructor(
    private readonly activity: Activity,
    private readonly database: Database,
  ) {
    super();
    activity.onPending = () => this.scheduleWithin(writeWithinMs);
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
    await this.activity.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    await this.activity.write();
    if (performance.now() - this.prunedAt < this.intervalMs) return;
    await pruneActivity(this.database);
    this.prunedAt = performance.now();
  }

  /** Counts that came during a round, or could not be written, wait for the next round. */
  protected override nextIntervalMs(): number {
    return this.activity.isPending ? writeWithinMs : this.intervalMs;
  }
}
