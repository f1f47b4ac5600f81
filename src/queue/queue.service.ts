import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Clock } from '../database/clock.js';
import { DomainError } from '../errors/domain-error.js';
import { WaitingIndex } from './waiting/waiting-index.js';
import { cancel } from './queries/cancel.js';
import type { RequestError } from './request-errors.js';
import type { LogEntry } from './runs/run-log.js';
import { readLog } from './queries/read-log.js';
import type { StatusRow } from './status-row.js';
import { QueueStore } from './queue-store.js';
import { QueueEvents } from './queue-events.js';
import { RequestIds } from './submit/request-id.js';
import { requestErrors } from './request-errors.js';
import { SharedStatements } from './shared-statements.js';
import { Submissions } from './submit/submissions.js';

export interface NewRequest {
  modelId: string;
  keyId: string;
  /** JSON in UTF-8. */
  input: Buffer;
  /** How long it may wait; null: for ever. */
  expiresMs: number | null;
}

export interface Idempotency {
  key: string;
  /** SHA-256 of what was asked. */
  fingerprint: Buffer;
}

export interface Accepted {
  id: string;
  /** The request was there already: this is a repetition of its submission. */
  replayed: boolean;
}

export type CancelAnswer = 'cancelled' | 'requested' | 'already_cancelled' | 'already_completed' | 'unknown';

/** What callers do with the queue: submit, look, cancel. */
@Injectable()
export class QueueService {
  constructor(
    private readonly database: Database,
    private readonly store: QueueStore,
    private readonly statements: SharedStatements,
    private readonly submissions: Submissions,
    private readonly index: WaitingIndex,
    private readonly events: QueueEvents,
    private readonly ids: RequestIds,
    private readonly clock: Clock,
  ) {}

  /** Resolves with the id once the request is committed. */
  async submit({ modelId, keyId, input, expiresMs }: NewRequest): Promise<string> {
    const id = this.ids.next();
    await this.submissions.submit({ id, modelId, keyId, priority: 0, input, expiresMs });
    return id;
  }

  /** As `submit`, but only once for a key; throws when the key stands for another request. */
  async submitOnce(request: NewRequest, { key, fingerprint }: Idempotency): Promise<Accepted> {
    const id = this.ids.next();
    const result = await this.submissions.submitOnce({
      ...request,
      id,
      priority: 0,
      idempotencyKey: key,
      fingerprint,
    });
    if (result.kind === 'submitted') return { id, replayed: false };
    if (!result.sameRequest) {
      throw new DomainError(
        'idempotency_key_reused',
        'This Idempotency-Key came with another model or body within the last 24 hours. Use a new key.',
      );
    }
    return { id: result.id, replayed: true };
  }

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
