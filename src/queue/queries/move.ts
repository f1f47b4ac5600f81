import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { Advance } from '../waiting/fair-queue.js';
import type { MovedEntry } from '../waiting/waiting-index.js';
import { entryColumns, orderKey } from './waiting.js';

/** At most this many requests per statement: those taken are joined with those wanted, row by row. */
export const maxMoved = 200;

const locked = (table: string, condition = ''): string => `SELECT entry.ctid
  FROM wanted CROSS JOIN LATERAL (
    SELECT ctid FROM ${table} AS entry
    WHERE (model_id, priority, virtual_start, seq) = ($1::text, $2::smallint, wanted.virtual_start, wanted.seq)
      ${condition}FOR UPDATE SKIP LOCKED
  ) AS entry`;
const copied = 'request_id, api_key_id, attempt, expires_at, bounded_key_id';

/*
 * Purpose: gives waiting or parked requests earlier virtual starts, in their queue and in their rows.
 * Race: against claims, cancels, expiries, releases and other moves. SKIP LOCKED leaves them the rows they lock, the
 *   key shows whether an entry still is where it was seen, and DELETE decides. The entry is deleted and added,
 *   because a claim that finds an updated row locks it and cannot take it. A cancel that read the old virtual start
 *   finds no entry there and tries again.
 * Index: queue_entry_pkey and delayed_entry_pkey by full key. The locked rows are deleted by their ctids, which
 *   cannot change any more. request_pkey by id.
 */
const moveStatement = statement('move')`WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS wanted (seq, virtual_start, earlier)
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (${locked('queue_entry')}))
  RETURNING *
), taken_held AS (
  DELETE FROM delayed_entry
  WHERE ctid = ANY (ARRAY (${locked('delayed_entry', `AND ready_at = 'infinity'\n      `)}))
  RETURNING *
), waits AS (
  INSERT INTO queue_entry (model_id, priority, virtual_start, seq, ${copied})
  SELECT model_id, priority, earlier, seq, ${copied} FROM taken JOIN wanted USING (seq)
), is_held AS (
  INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, ${copied}, ready_at)
  SELECT model_id, priority, earlier, seq, ${copied}, 'infinity' FROM taken_held JOIN wanted USING (seq)
), moved AS (
  SELECT request_id, earlier, wanted.virtual_start AS "from"
  FROM (SELECT seq, request_id FROM taken UNION ALL SELECT seq, request_id FROM taken_held) AS entry
  JOIN wanted USING (seq)
), noted AS (
  UPDATE request SET virtual_start = earlier
  FROM moved
  WHERE request.id = moved.request_id
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq, attempt, "from"
)
SELECT id, ${entryColumns}, "from" FROM noted`;

/** Returns the requests that were still there. */
export function move(
  database: Database,
  modelId: string,
  priority: number,
  advances: readonly Advance[],
): Promise<(MovedEntry & { id: string })[]> {
  return database.query(moveStatement, [
    modelId,
    priority,
    advances.map(({ seq }) => seq),
    advances.map(({ from }) => from),
    advances.map(({ start }) => start),
  ]);
}

const weightsStatement = statement(
  'key_weights',
)`SELECT ${orderKey.replace('api_key_id', 'id')} AS "orderKey", weight
FROM api_key
WHERE weight <> 1`;

/** Returns the weights other than 1 of keys, by their order keys. */
export async function findWeights(database: Database): Promise<Map<number, number>> {
  const rows = await database.query<{ orderKey: number; weight: number }>(weightsStatement);
  return new Map(rows.map(({ orderKey, weight }) => [orderKey, weight]));
}
