import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Clock } from '../database/clock.js';
import { WaitingIndex } from './waiting/waiting-index.js';
import { cancel } from './queries/cancel.js';
import type { RequestError } from './request-errors.js';
import type { LogEntry } from './runs/run-log.js';
import { readLog } from './queries/read-log.js';
import type { StatusRow } from './status-row.js';
import { QueueStore } from './queue-store.js';
import { QueueEvents } from './queue-events.js';
import { requestErrors } from './request-errors.js';
import { SharedStatements } from './shared-statements.js';

export type CancelAnswer = 'cancelled' | 'requested' | 'already_cancelled' | 'already_completed' | 'unknown';

/** What callers do with requests that were submitted: look, cancel. */
@Injectable()
export class QueueService {
  constructor(
    private readonly database: Database,
    private readonly store: QueueStore,
    private readonly statements: SharedStatements,
    private readonly index: WaitingIndex,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {}

  /** undefined: there is no such request. */
  status(requestId: string): Promise<StatusRow | undefined> {
    return this.statements.readStatus(requestId);
  }

  /** How many requests of its model will be started before it; exact, and 0 at the front. */
  position(row: StatusRow): number {
    return this.index.position(row);
  }

  /** Log entries after one event and up to another. */
  log(requestId: string, after: number, upTo: number): Promise<LogEntry[]> {
    return readLog(this.database, requestId, after, upTo);
  }

  /** JSON text. */
  output(requestId: string): Promise<string | null> {
    return this.store.output(requestId);
  }

  async cancel(requestId: string): Promise<CancelAnswer> {
    const error: RequestError = requestErrors.cancelled(this.clock.now());
    for (;;) {
      const found = await cancel(this.database, requestId, error);
      switch (found?.result) {
        case undefined:
          return 'unknown';
        case 'cancelled':
          this.events.publish({ removed: [found], changed: [requestId] });
          this.events.emit('request.completed', () => [
            { id: requestId, modelId: found.modelId, outcome: 'cancelled', attempt: found.attempt },
          ]);
          return 'cancelled';
        case 'requested':
          this.events.publish({ cancelled: [requestId] });
          return 'requested';
        case 'completed':
          return found.outcome === 'cancelled' ? 'already_cancelled' : 'already_completed';
        case 'moved': // it was claimed, handed back or finished while we looked: look again
      }
    }
  }
}
