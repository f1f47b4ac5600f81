import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { isNewBound } from './recall.js';
import type { HeldQueue } from './release.js';

/*
 * Purpose: reads the keys and models with a held request that need not be, and the keys whose bounds are new.
 * Race: none (read only). `release` counts again.
 * Index: delayed_entry_held, from one key and model to the next, however many requests each has held; for each of
 *   them api_key_pkey and the indexes of a release; api_key_by_bounded_at.
 */
const releasable = statement('releasable')`WITH RECURSIVE held_queue AS (
  (SELECT bounded_key_id, model_id FROM delayed_entry
   WHERE ready_at = 'infinity'
   ORDER BY bounded_key_id, model_id LIMIT 1)
  UNION ALL
  SELECT next.* FROM held_queue
  CROSS JOIN LATERAL (
    SELECT entry.bounded_key_id, entry.model_id FROM delayed_entry AS entry
    WHERE entry.ready_at = 'infinity'
      AND (entry.bounded_key_id, entry.model_id) > (held_queue.bounded_key_id, held_queue.model_id)
    ORDER BY entry.bounded_key_id, entry.model_id LIMIT 1
  ) AS next
)
SELECT held_queue.bounded_key_id AS "keyId", held_queue.model_id AS "modelId" FROM held_queue
LEFT JOIN api_key ON api_key.id = held_queue.bounded_key_id
WHERE max_running IS NULL
   OR max_running > (
     SELECT count(*) FROM queue_entry AS entry
     WHERE entry.bounded_key_id = held_queue.bounded_key_id AND entry.model_id = held_queue.model_id
   ) + (
     SELECT count(*) FROM lease
     WHERE lease.bounded_key_id = held_queue.bounded_key_id AND lease.model_id = held_queue.model_id
   ) + (
     SELECT count(*) FROM delayed_entry AS entry
     WHERE entry.bounded_key_id = held_queue.bounded_key_id AND entry.model_id = held_queue.model_id
       AND entry.ready_at < 'infinity' AND NOT entry.is_scheduled
   )
UNION ALL
SELECT id, NULL FROM api_key
WHERE ${isNewBound}`;

/** null: the key's bound is new, for all models. */
type Releasable = Omit<HeldQueue, 'modelId'> & { modelId: string | null };

/** `sinceMs`: bounds that were set after this time are new, in milliseconds since 1970 by the database's clock. */
export function findReleasable(database: Database, sinceMs: number): Promise<Releasable[]> {
  return database.query(releasable, [sinceMs]);
}
