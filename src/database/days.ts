import type { Statement } from './statement.js';

// The history is partitioned by days, which are ranges of ids: docs/adr/0001-days-are-ranges-of-ids.md.

const dayMs = 86_400_000;
const maxIdMs = 2 ** 48 - 1;
/** A statement keeps its texts of this many ranges of days: today's, yesterday's, both, and a few of older ones. */
const maxTexts = 16;

/** Returns the smallest id that a request of this time or a later one may have: ids begin with their milliseconds. */
export const firstIdAt = (atMs: number): string => `${timeDigits(atMs)}-0000-0000-000000000000`;

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
const dayOf = (id: string): number => Math.floor(idTimeMs(id) / dayMs);

/** Groups ids by their days. */
export function byDay(ids: readonly string[]): string[][] {
  const days = new Map<number, string[]>();
  for (const id of ids) {
    const day = dayOf(id);
    const known = days.get(day);
    if (known === undefined) days.set(day, [id]);
    else known.push(id);
  }
  return [...days.values()];
}

/** Returns the condition that a column with ids of requests is within the days of a statement. */
export type Within = (column: string) => string;

/**
 * A statement about requests whose ids are given and may be of any age. Its text has the first and the last of their
 * days as literals, so that a plan that is kept for all values locks only the tables of these days. It is prepared for
 * today and yesterday. For older days it is planned at each call, so that a connection does not collect a plan of each
 * day.
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
    const isRecent = first >= Math.floor(Date.now() / dayMs) - 1;
    const key = `${name}_${first}_${last}`;
    const known = built.get(key);
    if (known !== undefined && (known.preparedAs === key) === isRecent) return known;
    const text = textOf((column) => inDays(column, first, last));
    const made: Statement = { name, text, preparedAs: isRecent ? key : '' };
    if (built.size >= maxTexts) built.delete(built.keys().next().value!);
    built.set(key, made);
    return made;
  };
}

/**
 * Each bound is an OR of two operators: the planner prunes partitions by it, but cannot look it up in an index. A bound
 * that it could look up may seem cheaper to it than the look-up of an id, and then it reads the whole day.
 */
function inDays(column: string, firstDay: number, lastDay: number): string {
  const first = firstIdAt(firstDay * dayMs);
  const last = lastIdAt((lastDay + 1) * dayMs - 1);
  return `(${column} > '${first}' OR ${column} = '${first}') AND (${column} < '${last}' OR ${column} = '${last}')`;
}
