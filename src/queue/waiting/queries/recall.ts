import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { held, insertEntries } from './insert-entries.js';
import { type HeldQueue, lockKey } from './release.js';
import { entryColumns, type WaitingRequest } from './waiting.js';

/** SQL: the key has a bound that was set after $1, in milliseconds since 1970. -Infinity: at any time. */
export const isNewBound = 'bounded_at > to_timestamp($1::float8 / 1000) AND max_running IS NOT NULL';

/** At most this many requests per statement. */
export const maxRecalled = 20_000;

/*
 * Purpose: applies a bound to the earlier requests of a key. Waiting requests are held. Requests that run or wait
 *   for another attempt count from now on.
 * Race: nodes learn of a new bound one by one, within 5 s, and until then some submit without it: this is repeated
 *   until all have learned of it. Rows that others lock are skipped, and found the next time. It takes the lock of a
 *   release, whose count must not rise meanwhile.
 * Index: none by key: queue_entry, lease and delayed_entry are scanned, when a bound is changed and then a few times.
 */
const recallStatement = statement('recall')`WITH key AS MATERIALIZED (
  SELECT id FROM api_key WHERE id = $1::uuid AND max_running IS NOT NULL
), moved AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (
    SELECT queue_entry.ctid FROM queue_entry, key
    WHERE api_key_id = key.id AND bounded_key_id IS NULL
    LIMIT ${String(maxRecalled)} FOR UPDATE OF queue_entry SKIP LOCKED
  ))
  RETURNING *
), held AS (
  ${insertEntries('delayed_entry', 'moved', held)}
), between_attempts AS (
  UPDATE delayed_entry SET bounded_key_id = api_key_id
  WHERE ctid = ANY (ARRAY (
    SELECT delayed_entry.ctid FROM delayed_entry, key
    WHERE api_key_id = key.id AND bounded_key_id IS NULL AND NOT is_scheduled
    FOR UPDATE OF delayed_entry SKIP LOCKED
  ))
), running AS (
  UPDATE lease SET bounded_key_id = $1::uuid
  WHERE ctid = ANY (ARRAY (
    SELECT lease.ctid FROM lease JOIN recent_request AS request ON request.id = lease.request_id, key
    WHERE request.api_key_id = key.id AND lease.bounded_key_id IS NULL FOR UPDATE OF lease SKIP LOCKED
  ))
)
SELECT request_id AS id, ${entryColumns} FROM moved`;

/** Returns the requests that are held now. */
export function recall(database: Database, keyId: string): Promise<WaitingRequest[]> {
  return database.atomically<WaitingRequest>([lockKey, [keyId]], [recallStatement, [keyId]]);
}

/*
 * Purpose: reads the keys with a new bound that does not count all their requests yet.
 * Race: none (read only). `recall` looks again.
 * Index: none for the entries: each table is scanned once for all keys, in the rounds after a bound was set and in the
 *   first round of a process, if any key has a bound. api_key_pkey for each key found.
 */
const unboundedKeys = statement('unbounded_keys')`SELECT api_key.id
FROM (
  SELECT DISTINCT api_key_id FROM (
    SELECT api_key_id FROM queue_entry WHERE bounded_key_id IS NULL
    UNION ALL
    SELECT api_key_id FROM delayed_entry WHERE bounded_key_id IS NULL AND NOT is_scheduled
    UNION ALL
    SELECT (SELECT api_key_id FROM recent_request WHERE id = request_id) FROM lease WHERE bounded_key_id IS NULL
  ) AS entry
) AS unbounded
JOIN api_key ON api_key.id = unbounded.api_key_id
WHERE ${isNewBound}`;

export async function findUnboundedKeys(database: Database, sinceMs: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(unboundedKeys, [sinceMs]);
  return rows.map(({ id }) => id);
}

/*
 * Purpose: reads the keys with a new bound and the models of which more of their requests run or are in the queue.
 * Race: none (read only). `release` counts again.
 * Index: queue_entry_bounded, lease_bounded, delayed_entry_bounded, each in whole, when `unbounded_keys` is read.
 */
const exceededStatement = statement(
  'exceeded_bounds',
)`SELECT counted.key_id AS "keyId", counted.model_id AS "modelId"
FROM (
  SELECT bounded_key_id AS key_id, model_id FROM queue_entry WHERE bounded_key_id IS NOT NULL
  UNION ALL
  SELECT bounded_key_id, model_id FROM lease WHERE bounded_key_id IS NOT NULL
  UNION ALL
  SELECT bounded_key_id, model_id FROM delayed_entry
  WHERE bounded_key_id IS NOT NULL AND ready_at < 'infinity' AND NOT is_scheduled
) AS counted
JOIN api_key ON api_key.id = counted.key_id
WHERE ${isNewBound}
GROUP BY counted.key_id, counted.model_id, max_running
HAVING count(*) > max_running`;

/** Returns the queues from which a release may have to take requests back. */
export function findExceededBounds(database: Database, sinceMs: number): Promise<HeldQueue[]> {
  return database.query(exceededStatement, [sinceMs]);
}
