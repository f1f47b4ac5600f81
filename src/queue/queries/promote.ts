import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { WaitingRequest } from './waiting.js';

/** One that is in its queue now; scheduled ones are new there. */
export type Promoted = WaitingRequest & { isScheduled: boolean };

/*
 * Purpose: lets requests whose backoff is over back into the queue, under their old key, and those into it that were
 *   scheduled for now, as if they came now.
 * Race: several nodes do this at once; SKIP LOCKED gives each entry to one, DELETE makes it single.
 * Index: delayed_entry_by_ready_at, then delayed_entry_pkey, request_pkey and queue_entry_pkey.
 */
const promoteStatement = statement('promote')`WITH ready AS MATERIALIZED (
  SELECT model_id, priority, seq FROM delayed_entry
  WHERE ready_at <= now()
  ORDER BY ready_at LIMIT 1000 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM delayed_entry AS entry USING ready
  WHERE (entry.model_id, entry.priority, entry.seq) = (ready.model_id, ready.priority, ready.seq)
  RETURNING entry.*
), arrived AS (
  UPDATE request
  SET seq = nextval('request_seq')
  FROM taken
  WHERE request.id = taken.request_id AND taken.is_scheduled
  RETURNING request.id, request.seq
), promoted AS (
  SELECT taken.model_id, taken.priority, coalesce(arrived.seq, taken.seq) AS seq, taken.request_id, taken.api_key_id,
         taken.attempt, taken.expires_at, taken.is_scheduled
  FROM taken
  LEFT JOIN arrived ON arrived.id = taken.request_id
), added AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, api_key_id, attempt, expires_at)
  SELECT model_id, priority, seq, request_id, api_key_id, attempt, expires_at FROM promoted
)
SELECT request_id AS id, model_id AS "modelId", priority, seq, attempt, is_scheduled AS "isScheduled" FROM promoted`;

export function promote(database: Database): Promise<Promoted[]> {
  return database.query(promoteStatement);
}

const nextReady = statement('next_ready')`
SELECT extract(epoch FROM min(ready_at) - clock_timestamp())::float8 * 1000 AS "inMs" FROM delayed_entry`;

/** Milliseconds until the next backoff is over; null: nothing is delayed. */
export async function nextReadyInMs(database: Database): Promise<number | null> {
  const [row] = await database.query<{ inMs: number | null }>(nextReady);
  return row?.inMs ?? null;
}
