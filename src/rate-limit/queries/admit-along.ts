import type { RateLimits } from '../../config/rate-limits.js';
import type { Increment } from '../usage.js';

export interface AlongAsk {
  subject: string;
  routeClass: string;
  limits: RateLimits;
  /** How it is counted if the caller's row still has this version. */
  expected: { version: string; increment: Increment } | undefined;
}

/** It was counted as expected if only `counts` is null, of which `ends` then has the end. */
export interface AlongRow {
  /** null: somebody else was counting for the caller, and nothing was decided; then nothing else is sure either. */
  granted: number | null;
  /** Per window, after what was granted. */
  remaining: number[] | null;
  /** Per window, until its oldest admission leaves it. */
  reset_ms: number[] | null;
  /** Of the caller's row, as it is now. */
  version: string;
  ends: number[];
  counts: number[] | null;
}

/**
 * Counts one call in a statement that does more; `first` is the number of its first parameter.
 *
 * Most often the process knows the caller's row and has decided already. Then the row is changed as it says, provided
 * that nobody has changed it since and that the database's clock agrees. Its xmin tells, and the end of its last
 * entry, for a database that lost its latest commits uses their numbers again. Otherwise `rate_admit_with_usage`
 * decides. A locked row is not waited for, by either.
 *
 * Index: rate_usage_pkey. The update is HOT, as those of `rate_admit_one` are.
 */
export const admitAlong = (first: number): string => {
  const [subject, routeClass, windowsMs, limits, version, last, keep, count, since, until, idleMs] =
    parameters(first);
  return `as_expected AS MATERIALIZED (
  UPDATE rate_usage
  SET ends = ends[:${keep}::integer] || (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
      counts = counts[:${keep}::integer] || ${count}::integer,
      idle_at = clock_timestamp() + ${idleMs}::float8 * interval '1 millisecond'
  WHERE ctid = (
    SELECT ctid
    FROM rate_usage
    WHERE subject = ${subject}::text AND route_class = ${routeClass}::text AND xmin = ${version}::xid
      AND ends[cardinality(ends)] = ${last}::bigint
      AND clock_timestamp() BETWEEN to_timestamp(${since}::float8) AND to_timestamp(${until}::float8)
    FOR UPDATE SKIP LOCKED
  )
  RETURNING xmin::text AS version, ends[cardinality(ends)]::float8 AS end_us
), toll AS MATERIALIZED (
  SELECT 1 AS granted, NULL::integer[] AS remaining, NULL::float8[] AS reset_ms, version,
         ARRAY[end_us] AS ends, NULL::integer[] AS counts
  FROM as_expected
  UNION ALL
  SELECT granted, remaining, reset_ms, version, ends, counts
  FROM rate_admit_with_usage(${subject}::text, ${routeClass}::text, ${windowsMs}::bigint[], ${limits}::integer[])
  WHERE NOT EXISTS (SELECT FROM as_expected)
)`;
};

const parameters = (first: number): string[] => Array.from({ length: 11 }, (_, i) => `$${first + i}`);

const nothing = { lastUs: 0, keep: 0, count: 0, sinceUs: 0, untilUs: 0 };

export function alongValues({ subject, routeClass, limits, expected }: AlongAsk): unknown[] {
  const windowsMs = limits.map(({ windowMs }) => windowMs);
  const { lastUs, keep, count, sinceUs, untilUs } = expected?.increment ?? nothing;
  return [
    subject,
    routeClass,
    windowsMs,
    limits.map(({ limit }) => limit),
    expected?.version ?? null,
    lastUs,
    keep,
    count,
    sinceUs / 1_000_000,
    untilUs / 1_000_000,
    // Two parts of the smallest window are its twentieth.
    Math.max(...windowsMs) + Math.min(...windowsMs) / 20,
  ];
}
