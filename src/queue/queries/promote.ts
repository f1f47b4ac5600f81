import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { QueueKey } from '../waiting/waiting-index.js';

/*
 * Purpose: lets requests whose backoff is over back into the queue, under their old key.
 * Race: several nodes do this at once; SKIP LOCKED gives each entry to one, DELETE makes it single.
 * Index: delayed_entry_by_ready_at, then delayed_entry_pkey and queue_entry_pkey.
 */
const promoteStatement = statement('promote')`WITH ready AS MATERIALIZED (
  SELECT model_id, priority, seq FROM delayed_entry
  WHERE ready_at <= now()
  ORDER BY ready_at LIMIT 1000 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM delayed_entry AS entry USING ready
  WHERE (entry.model_id, entry.priority, entry.seq) = (ready.model_id, ready.priority, ready.seq)
  RETURNING entry.*
)
INSERT INTO queue_entry (model_id, priority, seq, request_id, attempt, expires_at)
SELECT model_id, priority, seq, request_id, attempt, expires_at
FROM taken
RETURNING model_id AS "modelId", priority, seq`;

export function promote(database: Database): Promise<QueueKey[]> {
  return database.query(promoteStatement);
}

const nextReady = statement('next_ready')`
SELECT extract(epoch FROM min(ready_at) - clock_timestamp())::float8 * 1000 AS "inMs" FROM delayed_entry`;

/** Milliseconds until the next backoff is over; null: nothing is delayed. */
export async function nextReadyInMs(database: Database): Promise<number | null> {
  const [row] = await database.query<{ inMs: number | null }>(nextReady);
  return row?.inMs ?? null;
}
