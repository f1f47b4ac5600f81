import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import type { Queries } from '../database/statement.js';
import { cancelMany } from './queries/cancel-many.js';
import { cancel } from './queries/cancel.js';
import {
  type AnyRow,
  countAll,
  type FailureCount,
  type IdRange,
  isLookedUp,
  listAll,
  sliceOf,
} from './queries/all-requests.js';
import { erase } from './queries/erase.js';
import { QueueEvents } from './queue-events.js';
import { requestErrors } from './request-errors.js';
import type { AnyRequestFilter } from './request-filter.js';
import type { RequestState } from './request-state.js';
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
import { QueueService } from './queue.service.js';
import { firstIdAt } from './submit/request-id.js';
import { WaitingIndex } from './waiting/waiting-index.js';

export type { AnyRow, FailureCount } from './queries/all-requests.js';

/** Rows that a page reads in order, or looks up: at most 30 ms, and the next page goes on from there. */
const [maxLooks, maxLookUps] = [12_000, 3_000];
/** A larger count is given as this. */
export const maxCounted = 10_000;
const idSlackMs = 10_000;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** What became of a slice of ids. */
export type SliceWriter = (
  manager: EntityManager,
  text: string,
  values: unknown[],
) => Promise<{ written: number; looks: number; lastId: string | null }>;

/** The requests of all keys, for operators. Its looks run on the small pool with the usual planner. */
@Injectable()
export class AllRequests {
  /** Of those that are written as members of something. */
  sliceLooks = 20_000;

  constructor(
    private readonly source: DataSource,
    private readonly database: Database,
    private readonly queue: QueueService,
    private readonly index: WaitingIndex,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {}

  /** Newest first; a page may be short where there are more. `lastId`: the last that was looked at; null: no more. */
  async list(
    filter: AnyRequestFilter,
    { before, limit }: { before?: string | undefined; limit: number },
  ): Promise<{ rows: AnyRow[]; lastId: string | null }> {
    const page = { ...this.pageOf(filter, before), max: limit + 1 };
    const rows = await listAll(this.source, page);
    const fitting = rows.filter(({ fits }) => fits);
    const shown = fitting.slice(0, limit);
    const end = fitting.length > limit ? shown.at(-1) : rows.find(({ looks }) => looks === page.maxLooks);
    return { rows: shown, lastId: end?.lookedId ?? null };
  }

  /** Not exact: there are so many at least. */
  async count(
    filter: AnyRequestFilter,
  ): Promise<{ value: number; isExact: boolean; failures?: FailureCount[] | undefined }> {
    const page = { ...this.pageOf(filter), max: 0 };
    const { count, looks, failures } = await countAll(this.source, page);
    const isExact = looks < page.maxLooks && count <= maxCounted;
    return { value: Math.min(count, maxCounted), isExact, failures };
  }

  async find(id: string): Promise<AnyRow | undefined> {
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

  positions(row: AnyRow): Promise<PositionPoint[]> {
    const { position } = this.queue.waiting(row);
    return readPositions(this.source, { ...row, now: this.clock.now(), position });
  }

  /** Whether it waits because as many of its key run as may at once. */
  isHeld({ modelId, seq, state }: AnyRow): boolean {
    return state === 'IN_QUEUE' && this.index.isHeld({ modelId, seq });
  }

  /** As a caller's cancel; `accounting` hears what became of it before that is committed. */
  async cancel(id: string, accounting: (queries: Queries, result: string) => Promise<void>) {
    const error = requestErrors.cancelled(this.clock.now());
    for (;;) {
      const found = await this.database.transaction(async (query) => {
        const queries = { query };
        const cancelled = await cancel(queries, id, error);
        if (cancelled !== undefined && cancelled.result !== 'moved')
          await accounting(queries, cancelled.result);
        return cancelled;
      });
      if (found?.result === 'moved') continue;
      if (found?.result === 'cancelled') this.events.publishEnded('cancelled', [{ id, ...found }]);
      if (found?.result === 'requested') this.events.publish({ cancelled: [id] });
      return found?.result;
    }
  }

  /**
   * Many at once, in the transaction of `queries`; of those in another state than `state` none. `left`: they moved while we
   * looked; `publish`: once it is committed.
   */
  async cancelAmong(queries: Queries, ids: readonly string[], state: RequestState | null) {
    const error = requestErrors.cancelled(this.clock.now());
    const { targets, cancelled, requested } = await cancelMany(queries, { keyId: null, state }, ids, error);
    const byId = new Map(targets.map((target) => [target.id, target]));
    const ended = cancelled.map((id) => byId.get(id)!);
    for (const id of [...cancelled, ...requested]) byId.delete(id);
    const left = new Set([...byId.values()].flatMap(({ id, state }) => (state === 'COMPLETED' ? [] : id)));
    const publish = (): void => this.events.publishEnded('cancelled', ended, requested);
    return { cancelled: cancelled.length, requested: requested.length, left, publish };
  }

  /** False: it has not completed, or was erased before. */
  erase(id: string, accounting: (queries: Queries) => Promise<void>): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const isErased = await erase({ query }, id);
      if (isErased) await accounting({ query });
      return isErased;
    });
  }

  eraseIn(queries: Queries, id: string): Promise<boolean> {
    return erase(queries, id);
  }

  /**
   * Writes the ids of those that fit by `write`, of a slice that takes a moment, behind the id `before`.
   * `text`: a SELECT of the slice's ids, with `values`.
   */
  async slice(
    filter: AnyRequestFilter,
    before: string | null,
    manager: EntityManager,
    write: SliceWriter,
  ): Promise<{ written: number; lastId: string | null; isLast: boolean }> {
    const page = { ...this.pageOf(filter, before ?? undefined), max: 0, maxLooks: this.sliceLooks };
    const { text, values } = sliceOf(page);
    const { written, looks, lastId } = await write(manager, text, values);
    return { written, lastId, isLast: looks < this.sliceLooks || lastId === null };
  }

  rangeOf({ createdAfterMs, createdBeforeMs, idPrefix }: AnyRequestFilter, before = lastId): IdRange {
    const bound = createdBeforeMs === undefined ? lastId : firstIdAt(createdBeforeMs + idSlackMs);
    const prefix = idPrefix && rangeOfPrefix(idPrefix);
    const firstId = firstIdAt(createdAfterMs === undefined ? 0 : createdAfterMs - idSlackMs);
    const min = (a: string, b: string): string => (a < b ? a : b);
    return {
      firstId: prefix && prefix.firstId > firstId ? prefix.firstId : firstId,
      beforeId: min(min(before, bound), prefix ? prefix.beforeId : lastId),
    };
  }

  private pageOf(filter: AnyRequestFilter, before?: string) {
    const waiting = [...this.index.depths().values()].reduce((sum, depth) => sum + depth, 0);
    const isFewOpen = waiting < maxLooks;
    const looks = isLookedUp(filter, isFewOpen) ? maxLookUps : maxLooks;
    return { filter, ...this.rangeOf(filter, before), isFewOpen, maxLooks: looks };
  }
}

/** The ids that begin with these hexadecimal digits and hyphens. */
function rangeOfPrefix(prefix: string): IdRange {
  const digits = prefix.replaceAll('-', '').slice(0, 32);
  const id = (fill: string): string =>
    digits.padEnd(32, fill).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { firstId: id('0'), beforeId: digits.length === 32 ? `${id('0')}~` : id('f') };
}
