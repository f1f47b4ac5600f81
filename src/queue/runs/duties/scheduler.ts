import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { findModelsWithWork } from '../../waiting/queries/waiting.js';
import { QueueEvents } from '../../queue-events.js';
import { Dispatcher } from '../dispatcher.js';
import { Duty } from '../../../tools/duty.js';

/**
 * Opens the dispatcher, and polls for models with work, in case a wake-up was lost. The poll slows down while it finds
 * nothing. The claims themselves are the dispatcher's.
 */
@Injectable()
export class Scheduler extends Duty {
  protected readonly intervalMs = 1_000;
  protected override readonly firstWithinMs = 0;
  private idleRounds = 0;

  constructor(
    private readonly database: Database,
    events: QueueEvents,
    private readonly dispatcher: Dispatcher,
  ) {
    super();
    events.subscribe(({ missed }) => {
      if (missed === true) this.scheduleWithin(0);
    });
  }

  override start(): void {
    this.dispatcher.open(() => {
      this.idleRounds = 0;
      this.scheduleWithin(this.intervalMs);
    });
    super.start();
  }

  override async stop(): Promise<void> {
    const closed = this.dispatcher.close();
    await super.stop();
    await closed;
  }

  async runOnce(): Promise<void> {
    const models = this.dispatcher.modelsWithRoom();
    if (models.length === 0) return;
    const found = await findModelsWithWork(this.database, models);
    this.idleRounds = found.length === 0 ? this.idleRounds + 1 : 0;
    for (const id of found) this.dispatcher.wake(id);
  }

  protected override nextIntervalMs(): number {
    return Math.min(30_000, this.intervalMs * 2 ** Math.min(this.idleRounds, 5));
  }
}
