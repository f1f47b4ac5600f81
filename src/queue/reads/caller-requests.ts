import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../../database/database.js';
import { firstIdAt } from '../../database/days.js';
import { storedContext, type TraceContext } from '../../tracing/trace-context.js';
import { RequestEntity } from '../entities/request.entity.js';
import { History } from './history.js';
import { type Listed, listRequests } from './queries/list-requests.js';
import { QueueService } from '../queue.service.js';
import type { RequestFilter } from './request-filter.js';
import { Retention } from '../retention/retention.js';
import type { StatusRow } from './status-row.js';

/** The most rows that a page with filters reads. */
const maxLooks = 500;
/** A request's id and its row take their times from two readings of one clock, which may be set between them. */
const idSlackMs = 10_000;
const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface ListedPage {
  rows: StatusRow[];
  /** The last row that was read; null: there are no more. */
  lastId: string | null;
}

/** Lists and reads the requests of a key. */
@Injectable()
export class CallerRequests {
  constructor(
    private readonly database: Database,
    private readonly queue: QueueService,
    private readonly history: History,
    private readonly retention: Retention,
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
    const range = {
      firstId: createdAfterMs === undefined ? firstId : firstIdAt(createdAfterMs - idSlackMs),
      beforeId: before < bound ? before : bound,
    };
    const fitting: Listed[] = [];
    let end: Listed | undefined;
    for await (const span of this.history.spans(range)) {
      const terms = { keyId, filter: filter ?? {}, ...range, maxLooks: looks };
      const rows = await listRequests(this.database, span, { ...terms, max: limit + 1 - fitting.length });
      fitting.push(...rows.filter(({ fits }) => fits));
      if (fitting.length <= limit) end = rows.find((row) => row.looks === looks);
      if (fitting.length > limit || end !== undefined) break;
    }
    const page = fitting.slice(0, limit);
    if (fitting.length > limit) end = page.at(-1);
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
