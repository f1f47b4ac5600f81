import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../database/clock.js';
import { firstIdAt } from '../../database/days.js';
import {
  type OperatorRow,
  countAll,
  type FailureCount,
  type IdRange,
  isLookedUp,
  listAll,
  sliceOf,
} from './queries/operator-requests.js';
import type { OperatorFilter } from './request-filter.js';
import {
  type LifeEvent,
  type LifeLogEntry,
  payloadSizes,
  type PositionPoint,
  readLife,
  readLogPage,
  readPayload,
  readPositions,
} from './request-life.js';
import { QueueService } from '../queue.service.js';
import { WaitingIndex } from '../waiting/waiting-index.js';

export type { OperatorRow, FailureCount } from './queries/operator-requests.js';

/**
 * The most rows that a page reads in order, or looks up one by one. Either takes at most 30 ms, and the next page
 * continues behind them.
 */
const [maxLooks, maxLookUps] = [12_000, 3_000];
/** A larger count is returned as this number. */
export const maxCounted = 10_000;
const idSlackMs = 10_000;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Writes the slice of ids that the SELECT `text` returns, and returns what became of them. */
export type SliceWriter = (
  manager: EntityManager,
  text: string,
  values: unknown[],
) => Promise<{ written: number; looks: number; lastId: string | null }>;

/** The requests of all keys, for operators. Its reads use the small pool with the usual planner. */
@Injectable()
export class OperatorRequests {
  /** At most this many rows are read per slice when ids are written as members of an operation. */
  sliceLooks = 20_000;

  constructor(
    private readonly source: DataSource,
    private readonly queue: QueueService,
    private readonly index: WaitingIndex,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the newest first. A page may be short although more requests follow. `lastId`: the last row that was
   * read; null: there are no more.
   */
  async list(
    filter: OperatorFilter,
    { before, limit }: { before?: string | undefined; limit: number },
  ): Promise<{ rows: OperatorRow[]; lastId: string | null }> {
    const page = { ...this.pageOf(filter, before), max: limit + 1 };
    const rows = await listAll(this.source, page);
    const fitting = rows.filter(({ fits }) => fits);
    const shown = fitting.slice(0, limit);
    const end = fitting.length > limit ? shown.at(-1) : rows.find(({ looks }) => looks === page.maxLooks);
    return { rows: shown, lastId: end?.lookedId ?? null };
  }

  /** If `isExact` is false, there are at least `value` requests. */
  async count(
    filter: OperatorFilter,
  ): Promise<{ value: number; isExact: boolean; failures?: FailureCount[] | undefined }> {
    const page = { ...this.pageOf(filter), max: 0 };
    const { count, looks, failures } = await countAll(this.source, page);
    const isExact = looks < page.maxLooks && count <= maxCounted;
    return { value: Math.min(count, maxCounted), isExact, failures };
  }

  async find(id: string): Promise<OperatorRow | undefined> {
    return (await this.list({ ids: [id] }, { limit: 1 })).rows[0];
  }

  life(id: string): Promise<LifeEvent[]> {
    return readLife(this.source, id);
  }

  log(id: string, page: { after: number; limit: number }): Promise<LifeLogEntry[]> {
    return readLogPage(this.source, id, page);
  }

  payload(id: string, part: 'input' | 'output', slice: { from: number; to: number }) {
    return readPayload(this.source, id, part, slice);
  }

  payloadSizes(id: string) {
    return payloadSizes(this.source, id);
  }

  positions(row: OperatorRow): Promise<PositionPoint[]> {
    const { position } = this.queue.waiting(row);
    return readPositions(this.source, { ...row, now: this.clock.now(), position });
  }

  /** True if the request is held because its key already runs as many requests as its bound allows. */
  isHeld(row: OperatorRow): boolean {
    return row.state === 'IN_QUEUE' && this.index.isHeld(row);
  }

  /**
   * Lets `write` write the ids of the requests of one slice that match the filter. The slice begins behind the id
   * `before` and is small enough to take only a moment. `write` receives a SELECT of the slice's ids (`text`) and its
   * `values`.
   */
  async slice(
    filter: OperatorFilter,
    before: string | null,
    manager: EntityManager,
    write: SliceWriter,
  ): Promise<{ written: number; lastId: string | null; isLast: boolean }> {
    const page = { ...this.pageOf(filter, before ?? undefined), max: 0, maxLooks: this.sliceLooks };
    const { text, values } = sliceOf(page);
    const { written, looks, lastId } = await write(manager, text, values);
    return { written, lastId, isLast: looks < this.sliceLooks || lastId === null };
  }

  rangeOf({ createdAfterMs, createdBeforeMs, idPrefix }: OperatorFilter, before = lastId): IdRange {
    const bound = createdBeforeMs === undefined ? lastId : firstIdAt(createdBeforeMs + idSlackMs);
    const prefix = idPrefix && rangeOfPrefix(idPrefix);
    const firstId = firstIdAt(createdAfterMs === undefined ? 0 : createdAfterMs - idSlackMs);
    const min = (a: string, b: string): string => (a < b ? a : b);
    return {
      firstId: prefix && prefix.firstId > firstId ? prefix.firstId : firstId,
      beforeId: min(min(before, bound), prefix ? prefix.beforeId : lastId),
    };
  }

  private pageOf(filter: OperatorFilter, before?: string) {
    const waiting = [...this.index.depths().values()].reduce((sum, depth) => sum + depth, 0);
    const isFewOpen = waiting < maxLooks;
    const looks = isLookedUp(filter, isFewOpen) ? maxLookUps : maxLooks;
    return { filter, ...this.rangeOf(filter, before), isFewOpen, maxLooks: looks };
  }
}

/** Returns the range of the ids that begin with these hexadecimal digits and hyphens. */
function rangeOfPrefix(prefix: string): IdRange {
  const digits = prefix.replaceAll('-', '').slice(0, 32);
  const id = (fill: string): string =>
    digits.padEnd(32, fill).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { firstId: id('0'), beforeId: digits.length === 32 ? `${id('0')}~` : id('f') };
}
