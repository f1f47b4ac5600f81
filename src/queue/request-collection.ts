import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { storedContext, type TraceContext } from '../tracing/trace-context.js';
import { RequestEntity } from './entities/request.entity.js';
import { cancelMany } from './queries/cancel-many.js';
import { erase } from './queries/erase.js';
import { listRequests, openRequests } from './queries/list-requests.js';
import { QueueEvents } from './queue-events.js';
import { QueueService } from './queue.service.js';
import { requestErrors } from './request-errors.js';
import type { RequestFilter } from './request-filter.js';
import type { RequestState } from './request-state.js';
import { Retention } from './retention.js';
import type { StatusRow } from './status-row.js';
import { firstIdAt } from './submit/request-id.js';

/** The most rows that a page with filters reads. */
const maxLooks = 500;
const maxCancelled = 10_000;
/** A request's id and its row take their times from two readings of one clock, which may be set between them. */
const idSlackMs = 10_000;
const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface ListedPage {
  rows: StatusRow[];
  /** The last row that was read; null: there are no more. */
  lastId: string | null;
}

export interface CancelCounts {
  cancelled: number;
  cancellationRequested: number;
  alreadyCompleted: number;
  unknown: number;
}

/** Lists, reads, cancels and erases the requests of a key. */
@Injectable()
export class RequestCollection {
  constructor(
    private readonly database: Database,
    private readonly queue: QueueService,
    private readonly retention: Retention,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    @InjectRepository(RequestEntity) private readonly rows: Repository<RequestEntity>,
  ) {}

  /** Returns the newest first, older than `before`. A page may be short although there are more. */
  async list(
    keyId: string,
    filter: RequestFilter | undefined,
    { before = lastId, limit }: { before?: string | undefined; limit: number },
  ): Promise<ListedPage> {
    const { createdAfterMs, createdBeforeMs } = filter ?? {};
    const looks = filter === undefined ? limit + 1 : maxLooks;
    const bound = createdBeforeMs === undefined ? lastId : firstIdAt(createdBeforeMs + idSlackMs);
    const rows = await listRequests(this.database, {
      keyId,
      filter: filter ?? {},
      firstId: createdAfterMs === undefined ? firstId : firstIdAt(createdAfterMs - idSlackMs),
      beforeId: before < bound ? before : bound,
      max: limit + 1,
      maxLooks: looks,
    });
    const fitting = rows.filter(({ fits }) => fits);
    const page = fitting.slice(0, limit);
    const end = fitting.length > limit ? page.at(-1) : rows.find((row) => row.looks === looks);
    return { rows: page.filter((row) => !this.retention.isOver(row)), lastId: end?.id ?? null };
  }

  /**
   * Returns the rows in the order of the ids; undefined: the request is unknown, another key's, erased or past its
   * retention.
   */
  async statuses(keyId: string, requestIds: readonly string[]): Promise<(StatusRow | undefined)[]> {
    const rows = await Promise.all(requestIds.map((id) => this.queue.status(id)));
    return rows.map((row) => (row?.keyId === keyId && !this.isGone(row) ? row : undefined));
  }

  /** `requestIds`: each once. `state`: requests in another state are left out, as if they had not been named. */
  async cancelMany(
    keyId: string,
    requestIds: readonly string[],
    state?: RequestState,
  ): Promise<CancelCounts> {
    const error = requestErrors.cancelled(this.clock.now());
    const counts = { cancelled: 0, cancellationRequested: 0, alreadyCompleted: 0, unknown: 0 };
    // Requests that were claimed, requeued or locked meanwhile are tried again, in the end one by one.
    let left = requestIds;
    for (let looks = 0; looks < 3 && left.length > 0; looks++) {
      const { targets, cancelled, requested } = await cancelMany(
        this.database,
        { keyId, state: state ?? null },
        left,
        error,
      );
      const byId = new Map(targets.map((target) => [target.id, target]));
      const ended = cancelled.map((id) => byId.get(id)!);
      this.events.publishEnded('cancelled', ended, requested);
      counts.cancelled += cancelled.length;
      counts.cancellationRequested += requested.length;
      if (state === undefined) counts.unknown += left.length - targets.length;
      for (const id of [...cancelled, ...requested]) byId.delete(id);
      const moved: string[] = [];
      for (const target of byId.values()) {
        if (target.state !== 'COMPLETED') moved.push(target.id);
        else if (this.isGone(target)) counts.unknown++;
        else counts.alreadyCompleted++;
      }
      left = moved;
    }
    for (const id of left) {
      if (state !== undefined && (await this.queue.status(id))?.state !== state) continue;
      const answer = await this.queue.cancel(id);
      if (answer === 'cancelled') counts.cancelled++;
      else if (answer === 'requested') counts.cancellationRequested++;
      else counts.alreadyCompleted++;
    }
    return counts;
  }

  /** Cancels the requests that wait or run and match the filter; `more`: there are others. */
  async cancelFitting(keyId: string, filter: RequestFilter): Promise<CancelCounts & { more: boolean }> {
    const ids = await openRequests(this.database, keyId, filter, maxCancelled + 1);
    const counts = await this.cancelMany(keyId, ids.slice(0, maxCancelled), filter.state);
    return { ...counts, more: ids.length > maxCancelled };
  }

  /** Returns false if it was erased before. */
  erase(requestId: string): Promise<boolean> {
    return erase(this.database, requestId);
  }

  /** Returns the trace that a request was part of. */
  async traceOf(requestId: string): Promise<TraceContext | undefined> {
    const select = { id: true, traceparent: true, tracestate: true };
    const row = await this.rows.findOne({ select, where: { id: requestId } });
    return row === null ? undefined : storedContext(row);
  }

  private isGone(row: Pick<StatusRow, 'modelId' | 'completedAtMs' | 'erasedAtMs'>): boolean {
    return row.erasedAtMs !== null || this.retention.isOver(row);
  }
}
