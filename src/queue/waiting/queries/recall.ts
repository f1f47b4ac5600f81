import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { held, insertEntries } from './insert-entries.js';
import { lockKey } from './release.js';
import { entryColumns, type WaitingRequest } from './waiting.js';

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

const modelsOfKey = statement('bounded_models')`SELECT DISTINCT model_id AS "modelId" FROM queue_entry
WHERE bounded_key_id = $1::uuid`;

/** Returns the models with a request in the queue that counts against the bound of the key. */
export async function findBoundedModels(database: Database, keyId: string): Promise<string[]> {
  const rows = await database.query<{ modelId: string }>(modelsOfKey, [keyId]);
  return rows.map(({ modelId }) => modelId);
}
