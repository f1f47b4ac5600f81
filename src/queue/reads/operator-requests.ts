import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../database/clock.js';
import { dayOf, type DaySpan, firstIdAt, firstIdOf } from '../../database/days.js';
import { History, type IdRange } from './history.js';
import {
  type OperatorRow,
  countAll,
  type FailureCount,
  isLookedUp,
  listAll,
  type OperatorPage,
  rangeWithin,
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
/** At most this many kinds of failures are listed. */
const maxFailures = 20;
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
  constructor(
    private readonly source: DataSource,
    private readonly queue: QueueService,
    private readonly history: History,
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
    const page = this.pageOf(filter, before);
    const fitting: Awaited<ReturnType<typeof listAll>> = [];
    let end: { lookedId: string } | undefined;
    for await (const span of this.history.spans(page)) {
      const rows = await listAll(this.source, { ...page, span, max: limit + 1 - fitting.length });
      fitting.push(...rows.filter(({ fits }) => fits));
      if (fitting.length <= limit) end = rows.find(({ looks }) => looks === page.maxLooks);
      if (fitting.length > limit || end !== undefined) break;
    }
    const shown = fitting.slice(0, limit);
    if (fitting.length > limit) end = shown.at(-1);
    return { rows: shown, lastId: end?.lookedId ?? null };
  }

  /** If `isExact` is false, there are at least `value` requests. */
  async count(
    filter: OperatorFilter,
  ): Promise<{ value: number; isExact: boolean; failures?: FailureCount[] | undefined }> {
    const page = this.pageOf(filter);
    let [count, left] = [0, page.maxLooks];
    const failures = new Map<string, FailureCount>();
    for await (const span of this.history.spans(page)) {
      const found = await countAll(this.source, { ...page, span, max: 0, maxLooks: left });
      count += found.count;
      left -= found.looks;
      for (const failure of found.failures ?? []) addFailure(failures, failure);
      if (left <= 0 || count > maxCounted) break;
    }
    const isExact = left > 0 && count <= maxCounted;
    const value = Math.min(count, maxCounted);
    if (filter.outcome !== 'failed') return { value, isExact };
    const mostFirst = [...failures.values()].sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
    return { value, isExact, failures: mostFirst.slice(0, maxFailures) };
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
   * `before`, and at most `looks` rows are read. `write` receives a SELECT of the slice's ids (`text`) and its
   * `values`.
   */
  async slice(
    filter: OperatorFilter,
    { before, looks: maxLooks }: { before: string | null; looks: number },
    manager: EntityManager,
    write: SliceWriter,
  ): Promise<{ written: number; lastId: string | null; isLast: boolean }> {
    const page = { ...this.pageOf(filter, before ?? undefined), max: 0, maxLooks };
    const spans = this.history.spans(page);
    const span = (await spans.next()).value as DaySpan;
    const { text, values } = sliceOf({ ...page, span });
    const { written, looks, lastId } = await write(manager, text, values);
    if (looks === maxLooks && lastId !== null) return { written, lastId, isLast: false };
    const isLast = (await spans.next()).done === true;
    return { written, lastId: isLast ? lastId : rangeWithin(page, span).firstId, isLast };
  }

  rangeOf({ createdAfterMs, createdBeforeMs, idPrefix, ids }: OperatorFilter, before = lastId): IdRange {
    const ranges = [
      { firstId: firstIdAt(createdAfterMs === undefined ? 0 : createdAfterMs - idSlackMs), beforeId: before },
      ...(createdBeforeMs === undefined
        ? []
        : [{ firstId: firstIdAt(0), beforeId: firstIdAt(createdBeforeMs + idSlackMs) }]),
      ...(idPrefix ? [rangeOfPrefix(idPrefix)] : []),
      ...(ids === undefined || ids.length === 0 ? [] : [daysOf(ids)]),
    ];
    return ranges.reduce((one, other) => ({
      firstId: one.firstId > other.firstId ? one.firstId : other.firstId,
      beforeId: one.beforeId < other.beforeId ? one.beforeId : other.beforeId,
    }));
  }

  private pageOf(filter: OperatorFilter, before?: string): Omit<OperatorPage, 'span' | 'max'> {
    const waiting = [...this.index.depths().values()].reduce((sum, depth) => sum + depth, 0);
    const isFewOpen = waiting < maxLooks;
    const looks = isLookedUp(filter, isFewOpen) ? maxLookUps : maxLooks;
    return { filter, ...this.rangeOf(filter, before), isFewOpen, maxLooks: looks };
  }
}

/** Returns the range from the first of these ids to the end of the day of the last. */
function daysOf(ids: readonly string[]): IdRange {
  const sorted = ids.map((id) => id.toLowerCase()).sort();
  return { firstId: sorted[0]!, beforeId: firstIdOf(dayOf(sorted.at(-1)!) + 1) };
}

/** Returns the range of the ids that begin with these hexadecimal digits and hyphens. */
function rangeOfPrefix(prefix: string): IdRange {
  const digits = prefix.replaceAll('-', '').slice(0, 32);
  const first = BigInt(`0x${digits.padEnd(32, '0')}`);
  const end = first + 16n ** BigInt(32 - digits.length);
  return { firstId: idOfNumber(first), beforeId: end < 16n ** 32n ? idOfNumber(end) : lastId };
}

const idOfNumber = (number: bigint): string =>
  number
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Adds the failures of an older span to those of the same kind. The message is that of the newest. */
function addFailure(failures: Map<string, FailureCount>, failure: FailureCount): void {
  const kind = `${failure.modelId} ${failure.code} ${failure.status}`;
  const known = failures.get(kind);
  if (known === undefined) failures.set(kind, failure);
  else known.count += failure.count;
}
