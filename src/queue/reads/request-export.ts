import type { DataSource } from 'typeorm';
import { clock } from '../../database/clock.js';
import { dayOf, firstIdAt, firstIdOf } from '../../database/days.js';
import { type ExportFilter, exportRequests, type ExportRow } from './queries/export-requests.js';
import { firstDay } from './queries/days-with-tables.js';

export type { ExportFilter, ExportRow } from './queries/export-requests.js';

export interface ExportOptions extends ExportFilter {
  /** Milliseconds since 1970 of the submission, as its id has them. undefined: from the first request on. */
  sinceMs?: number | undefined;
  /** Later submissions, and those of this millisecond, are left out. undefined: those from now on are. */
  untilMs?: number | undefined;
  /** The most requests of a page, and the bytes of payloads after which a page ends. */
  maxRows?: number;
  maxBytes?: number;
}

/**
 * Reads requests of all keys, the oldest first, day by day in pages. Memory holds one page. No transaction stays open
 * between the pages.
 */
export async function* exportedRequests(
  source: DataSource,
  { sinceMs = 0, untilMs = Infinity, maxRows = 500, maxBytes = 8 * 1024 ** 2, ...filter }: ExportOptions,
  signal?: AbortSignal,
): AsyncGenerator<ExportRow> {
  const first = await firstDay({ query: ({ text }, values) => source.query(text, values) });
  // No request has one of these two ids, because they have no version.
  const [sinceId, untilId] = [firstIdAt(sinceMs), firstIdAt(Math.min(untilMs, clock.now()))];
  for (let day = Math.max(dayOf(sinceId), dayOf(first)); day <= dayOf(untilId); day++) {
    const beforeId = smaller(untilId, firstIdOf(day + 1));
    let afterId = larger(sinceId, firstIdOf(day));
    for (;;) {
      signal?.throwIfAborted();
      const rows = await exportRequests(source, { filter, day, afterId, beforeId, maxRows, maxBytes });
      yield* rows;
      if (rows.length === 0) break;
      afterId = rows.at(-1)!.id;
    }
  }
}

const smaller = (one: string, other: string): string => (one < other ? one : other);
const larger = (one: string, other: string): string => (one > other ? one : other);
