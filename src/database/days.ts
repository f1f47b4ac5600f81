import { clock } from './clock.js';
import type { Statement } from './statement.js';

// The history is partitioned by days, which are ranges of ids: docs/adr/0001-days-are-ranges-of-ids.md.

const dayMs = 86_400_000;
const maxIdMs = 2 ** 48 - 1;
/** A statement keeps its texts of this many ranges of days: those of the recent days, and a few of others. */
const maxTexts = 16;

/** Returns the smallest id that a request of this time or a later one may have: ids begin with their milliseconds. */
export const firstIdAt = (atMs: number): string => `${timeDigits(atMs)}-0000-0000-000000000000`;

/** Returns the smallest id of a day. */
export const firstIdOf = (day: number): string => firstIdAt(day * dayMs);

/** Returns the largest id that a request of this millisecond may have. */
const lastIdAt = (atMs: number): string => `${timeDigits(atMs)}-ffff-ffff-ffffffffffff`;

function timeDigits(atMs: number): string {
  const ms = Math.min(Math.max(Math.floor(atMs), 0), maxIdMs);
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Returns the time of the submission, in milliseconds since 1970. */
export const idTimeMs = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Returns the number of the id's day in UTC, counted from 1970. */
export const dayOf = (id: string): number => Math.floor(idTimeMs(id) / dayMs);

/** Returns the number of the day now, by the database's clock. */
export const today = (): number => Math.floor(clock.now() / dayMs);

/** True for yesterday, today and tomorrow: clocks differ, and a new day begins while calls are in progress. */
const isRecent = (day: number): boolean => Math.abs(day - today()) <= 1;

/** Returns the condition that a column with ids of requests is within the days of a statement. */
export type Within = (column: string) => string;

/** Days of the history. */
export interface DaySpan {
  /** The numbers of the first and the last day, counted from 1970. undefined: all days from the first on. */
  firstDay: number;
  lastDay: number | undefined;
}

/** A list locks the tables of about this many days at once. */
const daysOfSpan = 32;

/**
 * Divides the days of the ids in [firstId, beforeId) into spans, the newest first. Spans begin on fixed days, so that
 * few texts are needed. The newest has the last 32 days, up to 32 days before them, and all days to come.
 */
export function* spansOfDays(firstId: string, beforeId: string): Generator<DaySpan> {
  const [first, end] = [dayOf(firstId), dayOf(beforeId)];
  const last = beforeId === firstIdOf(end) ? end - 1 : end;
  const startOf = (day: number): number => day - (day % daysOfSpan);
  const newest = startOf(today() - daysOfSpan);
  let start = Math.min(newest, startOf(last));
  for (; ; start -= daysOfSpan) {
    yield { firstDay: start, lastDay: start === newest ? undefined : start + daysOfSpan - 1 };
    if (start <= first) return;
  }
}

/** Groups rows by the spans of their ids' days, so that a statement about a group locks the tables of few days. */
export const bySpan = <Row>(rows: readonly Row[], idOf: (row: Row) => string): Row[][] =>
  groups(rows, (row) => Math.floor(dayOf(idOf(row)) / daysOfSpan));

/**
 * Groups ids for statements of days: those of each recent day, whose statements are prepared, and the others by spans.
 */
export const forStatements = (ids: readonly string[]): string[][] =>
  groups(ids, (id) => {
    const day = dayOf(id);
    return isRecent(day) ? `${day}` : Math.floor(day / daysOfSpan);
  });

function groups<Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): Row[][] {
  const byKey = new Map<unknown, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [row]);
    else known.push(row);
  }
  return [...byKey.values()];
}

/** Returns the condition that a column is within these days. */
export const withinSpan =
  ({ firstDay, lastDay }: DaySpan): Within =>
  (column) =>
    inDays(column, firstDay, lastDay);

/** Returns the condition that a column is within the days from that of one id to that of another. */
export const withinDaysOf = (firstId: string, lastId = firstId): Within =>
  withinSpan({ firstDay: dayOf(firstId), lastDay: dayOf(lastId) });

/**
 * A statement about the requests of a span. Its text has the bounds of the span as literals, as those of
 * `statementOfDays`. It is prepared for the newest span only.
 */
export function statementOfSpan(
  name: string,
  textOf: (within: Within) => string,
): (span: DaySpan) => Statement {
  const built = new Map<string, Statement>();
  return (span) => {
    const key = `${name}_${span.firstDay}_${span.lastDay ?? ''}`;
    return keptText(built, key, () => {
      const preparedAs = span.lastDay === undefined ? key : '';
      return { name, text: textOf(withinSpan(span)), preparedAs };
    });
  };
}

/** Returns the statement of that key, or makes it. At most `maxTexts` are kept. */
function keptText(built: Map<string, Statement>, key: string, make: () => Statement): Statement {
  const known = built.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (built.size >= maxTexts) built.delete(built.keys().next().value!);
  built.set(key, made);
  return made;
}

/**
 * A statement about requests whose ids are given and may be of any age. Its text has the first and the last of their
 * days as literals, so that a plan that is kept for all values locks only the tables of these days. It is prepared if
 * both are recent. For other days, which callers may invent, it is planned at each call, so that a connection does not
 * collect a plan of each day.
 */
export function statementOfDays(
  name: string,
  textOf: (within: Within) => string,
): (...ids: readonly string[]) => Statement {
  const built = new Map<string, Statement>();
  return (...ids) => {
    // Ids in lower case are in the order of their times.
    const first = dayOf(ids.reduce((a, b) => (b < a ? b : a)));
    const last = dayOf(ids.reduce((a, b) => (b > a ? b : a)));
    const isPrepared = isRecent(first) && isRecent(last);
    const key = `${name}_${first}_${last}`;
    const known = built.get(key);
    if (known !== undefined && (known.preparedAs === key) !== isPrepared) built.delete(key);
    return keptText(built, key, () => {
      const text = textOf((column) => inDays(column, first, last));
      return { name, text, preparedAs: isPrepared ? key : '' };
    });
  };
}

/**
 * Each bound is an OR of two operators: the planner prunes partitions by it, but cannot look it up in an index. A bound
 * that it could look up may seem cheaper to it than the look-up of an id, and then it reads the whole day.
 */
function inDays(column: string, firstDay: number, lastDay: number | undefined): string {
  const first = firstIdAt(firstDay * dayMs);
  const from = `(${column} > '${first}' OR ${column} = '${first}')`;
  if (lastDay === undefined) return from;
  const last = lastIdAt((lastDay + 1) * dayMs - 1);
  return `${from} AND (${column} < '${last}' OR ${column} = '${last}')`;
}
