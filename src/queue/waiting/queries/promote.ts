import type { Database } from '../../../database/database.js';
import { columnsOf, statement } from '../../../database/statement.js';
import { held, insertEntries } from './insert-entries.js';
import { entryColumns, type WaitingRequest } from './waiting.js';

/** A request that is in its queue now. A scheduled one is new there. */
export type Promoted = WaitingRequest & { keyId: string; isScheduled: boolean; isHeld: boolean };

/** A scheduled request whose time has come, with what decides its place. */
export interface Scheduled {
  id: string;
  modelId: string;
  priority: number;
  keyId: string;
  weight: number;
  /** True: it is held first, because its key has a bound. */
  isBounded: boolean;
}

/*
 * Purpose: reads the scheduled requests that are to join their queues, in the order of their times.
 * Race: none (read only). `promote` takes those that are still there.
 * Index: delayed_entry_by_ready_at; api_key_pkey for each.
 */
const scheduledReady = statement('scheduled_ready')`SELECT request_id AS id, model_id AS "modelId", priority,
  api_key_id AS "keyId", coalesce(weight, 1) AS weight, max_running IS NOT NULL AS "isBounded"
FROM delayed_entry
LEFT JOIN api_key ON api_key.id = api_key_id
WHERE ready_at <= now() AND is_scheduled
ORDER BY ready_at LIMIT 1000`;

export function findScheduledReady(database: Database): Promise<Scheduled[]> {
  return database.query(scheduledReady);
}

/*
 * Purpose: moves requests whose backoff is over back into the queue under their old key. Also moves scheduled
 *   requests whose virtual starts are given into it, as if they were submitted now; some of these are held, for a
 *   bound.
 * Race: several nodes do this at once. SKIP LOCKED gives each entry to one, and DELETE removes it once.
 * Index: delayed_entry_by_ready_at, then delayed_entry_pkey, request_pkey and queue_entry_pkey.
 */
const promoteStatement = statement('promote')`WITH ready AS MATERIALIZED (
  SELECT model_id, priority, virtual_start, seq FROM delayed_entry
  WHERE ready_at <= now() AND (NOT is_scheduled OR request_id = ANY ($1::uuid[]))
  ORDER BY ready_at LIMIT 1000 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM delayed_entry AS entry USING ready
  WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
    = (ready.model_id, ready.priority, ready.virtual_start, ready.seq)
  RETURNING entry.*
), arrived AS (
  UPDATE recent_request AS request
  SET seq = nextval('request_seq'), virtual_start = placed.virtual_start
  FROM taken
  JOIN unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS placed (request_id, virtual_start, is_bounded)
    USING (request_id)
  WHERE request.id = taken.request_id AND taken.is_scheduled
  RETURNING request.id, request.virtual_start, request.seq, placed.is_bounded
), promoted AS (
  SELECT taken.model_id, taken.priority, coalesce(arrived.virtual_start, taken.virtual_start) AS virtual_start,
         coalesce(arrived.seq, taken.seq) AS seq, taken.request_id, taken.api_key_id, taken.attempt,
         taken.expires_at, taken.is_scheduled, taken.bounded_key_id, coalesce(arrived.is_bounded, false) AS is_held
  FROM taken
  LEFT JOIN arrived ON arrived.id = taken.request_id
), added AS (
  ${insertEntries('queue_entry', 'promoted')}
  WHERE NOT is_held
), held AS (
  ${insertEntries('delayed_entry', 'promoted', held)}
  WHERE is_held
)
SELECT request_id AS id, ${entryColumns}, api_key_id AS "keyId", is_scheduled AS "isScheduled", is_held AS "isHeld"
FROM promoted`;

export function promote(
  database: Database,
  scheduled: readonly { id: string; virtualStart: number; isBounded: boolean }[],
): Promise<Promoted[]> {
  return database.query(promoteStatement, columnsOf(scheduled, 'id', 'virtualStart', 'isBounded'));
}

const nextReady = statement('next_ready')`
SELECT extract(epoch FROM min(ready_at) - clock_timestamp())::float8 * 1000 AS "inMs" FROM delayed_entry
WHERE ready_at < 'infinity'`;

/**
 * Returns the milliseconds until the next delayed or scheduled request is due; null: there is none. Held requests
 * do not count.
 */
export async function nextReadyInMs(database: Database): Promise<number | null> {
  const [row] = await database.query<{ inMs: number | null }>(nextReady);
  return row?.inMs ?? null;
}
