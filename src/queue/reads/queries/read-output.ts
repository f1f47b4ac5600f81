import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';

export interface OutputRow {
  index: number;
  /** JSON text. */
  delta: string;
}

/*
 * Purpose: reads the parts of the output of an attempt from an index on, in order.
 * Race: indexes are drawn under the lock of the lease, which holds until the commit: no row appears before a row that
 *   was seen. Partitions are dropped whole and the oldest first, so the rest has no gap but at its beginning.
 * Index: output_delta_pkey of each partition. One or two from before the attempt are opened, because the database's
 *   clock may have been set back since then.
 */
const readStatement = statement('read_output')`SELECT index, delta::text AS delta
FROM output_delta
WHERE request_id = $1::uuid
  AND attempt = $2::integer
  AND index >= $3::integer
  AND at >= to_timestamp($4::float8 / 1000) - interval '10 minutes'
ORDER BY index LIMIT $5::integer`;

export interface OutputPlace {
  requestId: string;
  /** The number of starts of the request, from the lease. */
  attempt: number;
  index: number;
  /** The time at which the attempt began, in milliseconds since 1970. */
  sinceMs: number;
}

export function readOutput(
  database: Database,
  { requestId, attempt, index, sinceMs }: OutputPlace,
  limit: number,
): Promise<OutputRow[]> {
  return database.query(readStatement, [requestId, attempt, index, sinceMs, limit]);
}

/*
 * Purpose: reads the deltas of all parts of the output of an attempt, unless they are too large for their reader. The
 *   delta of a part with chunks is in its first line, which has at most 32 bytes more. OFFSET cuts each part once.
 * Race: none: what is read is the output as of one moment.
 * Index: output_delta_pkey of each partition.
 */
const readSmallStatement = statement('read_small_output')`SELECT
  CASE WHEN sum(octet_length(part) - CASE right(part, 1) WHEN E'\n' THEN 32 ELSE 0 END) <= $3::integer
    THEN array_agg(part ORDER BY index)
  END AS parts
FROM (
  SELECT index, CASE strpos(delta::text, E'\n') WHEN 0 THEN delta::text
    ELSE left(delta::text, strpos(delta::text, E'\n')) END AS part
  FROM output_delta
  WHERE request_id = $1::uuid AND attempt = $2::integer
  OFFSET 0
) AS shown`;

/** Returns parts without their chunks. Empty if there are none, or more bytes of deltas than this. */
export async function readSmallOutput(
  database: Database,
  requestId: string,
  attempt: number,
  maxBytes: number,
): Promise<string[]> {
  const values = [requestId, attempt, maxBytes];
  const [row] = await database.query<{ parts: string[] | null }>(readSmallStatement, values);
  return row?.parts ?? [];
}

const readAllStatement = statement('read_output_of')`SELECT delta::text AS delta
FROM output_delta
WHERE request_id = $1::uuid AND attempt = $2::integer
ORDER BY index`;

/** Returns all parts of an attempt that has not ended, so none of them is dropped. */
export async function readOutputOf(
  database: Database,
  requestId: string,
  attempt: number,
): Promise<string[]> {
  const rows = await database.query<{ delta: string }>(readAllStatement, [requestId, attempt]);
  return rows.map(({ delta }) => delta);
}
