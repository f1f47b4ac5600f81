import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { EntryChange } from '../waiting-index.js';
import { insertEntries } from './insert-entries.js';
import { entryColumns } from './waiting.js';

/** The requests of one model that count against the bound of one key. */
export interface HeldQueue {
  keyId: string;
  modelId: string;
}

/** A request that may be claimed now, or that is held again for a more urgent one. */
type Released = EntryChange & { id: string; isHeld: boolean };

/** Taken by every statement that changes what counts against the bound of a key. */
export const lockKey = statement('lock_bounded_key')`
SELECT pg_advisory_xact_lock(hashtextextended($1::text, 20))`;

const ofLine = 'bounded_key_id = $1::uuid AND model_id = $2::text';
const isHeld = `${ofLine} AND ready_at = 'infinity'`;
const inOrder = 'priority, virtual_start, seq';

/** At most this many requests per statement. */
export const maxReleased = 1_000;
const most = String(maxReleased);

/*
 * Purpose: moves the first held requests into the queue, while fewer of the key's requests than its bound run, wait
 *   in the queue or wait for another attempt. A later request in the queue gives way to an earlier held one, if its
 *   priority is lower or the bound is. At most 1,000 at once; all held ones if there is no bound any more.
 * Race: no other statement releases, and each statement that moves a request between queue, lease and delay moves
 *   what counts against the bound along. So the count can only fall between snapshot and commit, if no two of these
 *   overlap. A lock in the statement before ensures that: this snapshot then has what the last release wrote. Rows
 *   that a claim or a cancel locks are skipped, and only as many are released as were really taken back.
 * Index: queue_entry_bounded, lease_bounded, delayed_entry_bounded, each as long as the bound; delayed_entry_held,
 *   from its front. The locked rows are deleted by their ctids, which cannot change any more.
 */
const releaseStatement = statement('release')`WITH waiting AS MATERIALIZED (
  SELECT ctid AS entry, ${inOrder} FROM queue_entry WHERE ${ofLine}
), held_queue AS MATERIALIZED (
  SELECT max_running IS NOT NULL AS is_bounded,
         least(${most}, coalesce(max_running - counted.waiting - counted.elsewhere, ${most})) AS room, counted.waiting
  FROM (
    SELECT (SELECT count(*) FROM waiting) AS waiting,
           (SELECT count(*) FROM lease WHERE ${ofLine})
           + (SELECT count(*) FROM delayed_entry WHERE ${ofLine} AND ready_at < 'infinity' AND NOT is_scheduled)
             AS elsewhere
  ) AS counted
  LEFT JOIN api_key ON api_key.id = $1::uuid
), held AS MATERIALIZED (
  SELECT ${inOrder} FROM delayed_entry
  WHERE ${isHeld}
  ORDER BY ${inOrder} LIMIT (SELECT greatest(0, room + waiting) FROM held_queue)
), late AS MATERIALIZED (
  SELECT entry FROM (
    SELECT entry, ${inOrder} FROM waiting
    UNION ALL
    SELECT NULL, ${inOrder} FROM held
    ORDER BY ${inOrder} OFFSET (SELECT greatest(0, room + waiting) FROM held_queue)
  ) AS beyond
  WHERE entry IS NOT NULL
), taken_back AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM queue_entry
    WHERE ctid = ANY (ARRAY (SELECT entry FROM late)) FOR UPDATE SKIP LOCKED
  ))
  RETURNING *
), held_again AS (
  ${insertEntries('delayed_entry', 'taken_back', { ready_at: `'infinity'` })}
), let_in AS (
  DELETE FROM delayed_entry
  WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM delayed_entry
    WHERE ${isHeld}
    ORDER BY ${inOrder}
    LIMIT (SELECT greatest(0, room + (SELECT count(*) FROM taken_back)) FROM held_queue) FOR UPDATE SKIP LOCKED
  ))
  RETURNING *
), added AS (
  ${insertEntries('queue_entry', 'let_in', {
    bounded_key_id: 'CASE WHEN (SELECT is_bounded FROM held_queue) THEN bounded_key_id END',
  })}
)
SELECT request_id AS id, ${entryColumns}, true AS "isHeld" FROM taken_back
UNION ALL
SELECT request_id, ${entryColumns}, false FROM let_in`;

export function release(database: Database, { keyId, modelId }: HeldQueue): Promise<Released[]> {
  return database.atomically<Released>([lockKey, [keyId]], [releaseStatement, [keyId, modelId]]);
}
