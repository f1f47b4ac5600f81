import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import { Duty } from '../../tools/duty.js';
import { countEnds, countWorkers, forgetWorkers, readWorkers, writeWorkers } from '../queries/workers.js';
import { WorkerBook } from '../workers/worker-book.js';

const endsMs = 200;
const idleMs = 30_000;
const forgetEveryMs = 3_600_000;

/** Writes what this node has heard of workers, of all of them in one statement, and reads what others and operators did. */
@Injectable()
export class WorkerKeeper extends Duty {
  protected readonly intervalMs = 3_000;
  private forgotAt = performance.now();

  constructor(
    private readonly database: Database,
    private readonly book: WorkerBook,
    private readonly models: ModelsService,
  ) {
    super();
    book.failures.subscribe(() => this.scheduleWithin(endsMs));
    models.changes.subscribe(() => this.scheduleWithin(this.intervalMs));
  }

  override start(): void {
    super.start();
    this.scheduleWithin(0);
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    if (!this.hasWorkerModels && this.book.size === 0) return;
    await this.write();
    const { uids } = this.book;
    const states = uids.length === 0 ? [] : await readWorkers(this.database, uids);
    this.book.read(states, await countWorkers(this.database));
    if (performance.now() - this.forgotAt < forgetEveryMs) return;
    this.forgotAt = performance.now();
    await forgetWorkers(this.database, null);
  }

  protected override nextIntervalMs(): number {
    return this.hasWorkerModels ? this.intervalMs : idleMs;
  }

  private get hasWorkerModels(): boolean {
    return this.models.all().some(({ runner }) => runner.isPulled);
  }

  private async write(): Promise<void> {
    const due = this.book.due();
    if (due.length > 0) await writeWorkers(this.database, due);
    this.book.written(due);
    // Of ends that cannot be written, failures are forgiven and successes not heard of.
    const ends = this.book.takeEnds();
    if (ends.length > 0) await countEnds(this.database, ends);
  }
}
