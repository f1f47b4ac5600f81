import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { Batcher } from '../../tools/batcher.js';
import { inRounds } from '../../tools/in-rounds.js';
import { FileUses } from '../retention/file-uses.js';
import { requeue, type Requeue } from '../runs/queries/requeue.js';
import type { WaitingRequest } from '../waiting/queries/waiting.js';
import { QueueEvents } from '../queue-events.js';
import { requestErrors } from '../request-errors.js';
import type { RunFinish } from '../runs/run-finish.js';
import type { EndWriter } from '../runs/run-ends.js';
import { finishAndPublish, finishBatches } from '../runs/run-store.js';

/** Writes the ends of workers' runs without a retry, because a worker sends again what was not taken. */
@Injectable()
export class WorkerStore implements EndWriter {
  private readonly finishes: Batcher<RunFinish, boolean>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    events: QueueEvents,
    files: FileUses,
  ) {
    this.finishes = new Batcher(
      // The end of a run may be sent again while the first is in progress.
      (items) =>
        inRounds(
          items,
          ({ requestId }) => requestId,
          (once) => finishAndPublish(database, events, files, once, 'worker'),
        ),
      finishBatches,
    );
  }

  /** A cancel wins over all but an output, whether or not the worker knew of it. */
  async finish(item: RunFinish): Promise<boolean> {
    if (await this.finishes.add(item)) return true;
    if (item.attemptOutcome === 'succeeded' || item.attemptOutcome === 'cancelled') return false;
    const error = requestErrors.cancelled(this.clock.now());
    return this.finishes.add({ ...item, attemptOutcome: 'cancelled', error, message: null });
  }

  requeue(item: Requeue): Promise<WaitingRequest | undefined> {
    return requeue(this.database, item);
  }
}
