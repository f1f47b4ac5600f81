import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { findModelsWithWork } from '../../waiting/queries/waiting.js';
import { WorkerClaims } from '../worker-claims.js';

const maxPollRounds = 30;

/**
 * Wakes the waiting claims of workers, and polls for models with work, in case a message was lost. The poll slows down
 * while it finds nothing.
 */
@Injectable()
export class WorkerScheduler extends Duty {
  protected readonly intervalMs = 1_000;
  private pollEvery = 1;
  private polls = 0;

  constructor(
    private readonly database: Database,
    private readonly claims: WorkerClaims,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    this.claims.wakeAll();
    const models = this.claims.modelsWaitedFor;
    if (models.length === 0 || ++this.polls % this.pollEvery !== 0) return;
    const found = await findModelsWithWork(this.database, models);
    this.pollEvery = found.length > 0 ? 1 : Math.min(maxPollRounds, this.pollEvery * 2);
    for (const id of found) this.claims.wake(id);
  }
}
