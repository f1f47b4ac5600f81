import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { nextReadyInMs, promote } from '../queries/promote.js';
import { QueueEvents } from '../queue-events.js';
import { Duty } from '../../tools/duty.js';

/** Lets requests whose backoff is over, or whose scheduled time has come, into their queue. */
@Injectable()
export class Promoter extends Duty {
  /** Events tell what is delayed; this is for one that is lost. */
  protected readonly intervalMs = 20_000;
  private untilNextMs: number | null = 0;

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
  ) {
    super();
    events.subscribe(({ added, scheduled }) => {
      if (scheduled === true || added?.some(({ attempt }) => attempt > 0) === true) this.scheduleWithin(50);
    });
  }

  async runOnce(): Promise<void> {
    this.untilNextMs = 1_000; // should the database be lost
    this.untilNextMs = await nextReadyInMs(this.database);
    if (this.untilNextMs === null || this.untilNextMs > 0) return;
    const promoted = await promote(this.database);
    if (promoted.length > 0) {
      this.events.publish({
        added: promoted.filter(({ isScheduled }) => isScheduled),
        changed: promoted.map(({ id }) => id),
        work: [...new Set(promoted.map(({ modelId }) => modelId))],
      });
    }
    this.untilNextMs = await nextReadyInMs(this.database);
  }

  protected override nextIntervalMs(): number {
    return Math.min(this.intervalMs, Math.max(10, this.untilNextMs ?? Infinity));
  }
}
