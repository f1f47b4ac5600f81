import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { ModelsService } from '../../../models/models.service.js';
import { Duty } from '../../../tools/duty.js';
import {
  countEnds,
  countWorkers,
  forgetWorkers,
  readWorkers,
  trimWorkers,
  writeWorkers,
} from '../queries/workers.js';
import { QueueEvents } from '../../queue-events.js';
import { KnownWorkers, maxWorkersOfKey } from '../known-workers.js';

const endsMs = 200;
const idleMs = 60_000;
const forgetEveryMs = 3_600_000;

/**
 * Writes what this node knows of its workers, all in one statement, and reads what other nodes and operators have
 * written.
 */
@Injectable()
export class WorkerKeeper extends Duty {
  protected readonly intervalMs = 3_000;
  protected override readonly firstWithinMs = 0;
  private forgotAt = performance.now();
  /** True: since the last read, a worker has come to another node, or an operator has given an order to a worker. */
  private isAsked = false;

  constructor(
    private readonly database: Database,
    private readonly workers: KnownWorkers,
    private readonly models: ModelsService,
    private readonly events: QueueEvents,
  ) {
    super();
    workers.failures.subscribe(() => this.scheduleWithin(endsMs));
    models.changes.subscribe(() => this.scheduleWithin(this.intervalMs));
    workers.arrivals.subscribe(() => this.scheduleWithin(this.intervalMs));
    events.subscribe(({ workers = [] }) => {
      if (workers.length === 0) return;
      this.isAsked = true;
      this.scheduleWithin(0);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    this.isAsked = false;
    if (!this.hasWorkerModels && this.workers.size === 0) return;
    await this.write();
    const { uids } = this.workers;
    const states = uids.length === 0 ? [] : await readWorkers(this.database, uids);
    this.workers.read(states, await countWorkers(this.database));
    if (performance.now() - this.forgotAt < forgetEveryMs) return;
    this.forgotAt = performance.now();
    await forgetWorkers(this.database, null);
  }

  protected override nextIntervalMs(): number {
    if (this.isAsked) return 0;
    return this.hasWorkerModels && !this.workers.isEmpty ? this.intervalMs : idleMs;
  }

  private get hasWorkerModels(): boolean {
    return this.models.takenBy('workers').length > 0;
  }

  private async write(): Promise<void> {
    const due = this.workers.due();
    if (due.length > 0) await writeWorkers(this.database, due);
    const added = this.workers.written(due);
    if (added.length > 0) {
      this.events.publish({ workers: added });
      const keyIds = [...new Set(due.map(({ keyId }) => keyId))];
      await trimWorkers(this.database, keyIds, maxWorkersOfKey);
    }
    // If the ends cannot be written, failures are forgiven and successes are not counted.
    const ends = this.workers.takeEnds();
    if (ends.length > 0) await countEnds(this.database, ends);
  }
}
