import type { Database } from '../../../database/database.js';
import { columnsOf, statement } from '../../../database/statement.js';
import type { QueueKey } from '../../waiting/waiting-index.js';
import { oldestWaiting } from '../oldest-waiting.js';

/*
 * Purpose: counts the runs of each model that are in progress, on all nodes.
 * Race: none (read only).
 * Index: none: the table has one row per run in progress.
 */
const running = statement('count_running')`SELECT model_id AS id, count(*)::integer AS running
FROM lease
GROUP BY model_id`;

export async function countRunning(database: Database): Promise<Map<string, number>> {
  const rows = await database.query<{ id: string; running: number }>(running);
  return new Map(rows.map((row) => [row.id, row.running]));
}

/*
 * Purpose: reads since when the oldest request of each model waits, given the place of the oldest of each priority.
 * Race: none (read only).
 * Index: queue_entry_pkey from the key on; delayed_entry_pkey.
 */
const oldest = statement('oldest_waiting')`${oldestWaiting}`;

/** Returns milliseconds since 1970 by model. */
export async function findOldestWaiting(
  database: Database,
  places: readonly QueueKey[],
): Promise<Map<string, number>> {
  if (places.length === 0) return new Map();
  const rows = await database.query<{ modelId: string; sinceMs: number }>(oldest, [
    ...columnsOf(places, 'modelId', 'priority', 'start', 'seq'),
  ]);
  return new Map(rows.map(({ modelId, sinceMs }) => [modelId, sinceMs]));
}

export interface TypicalTimes {
  id: string;
  /** The median and the 95th percentile, in milliseconds. */
  runMs: [number, number];
  queueMs: [number, number] | null;
}

/*
 * Purpose: reads how long requests of a model run and wait, from those of the newest 5,000 attempts that ended within
 *   the hour.
 * Race: none (read only).
 * Index: attempt_pkey from its end, so that waiting requests are not read; request_pkey for each attempt.
 */
const times = statement('typical_times')`SELECT model_id AS id,
  percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY inference_ms::float8) AS "runMs",
  percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
    ORDER BY extract(epoch FROM request.started_at - greatest(created_at, not_before))::float8 * 1000
  ) FILTER (WHERE request.attempt = 1) AS "queueMs"
FROM (
  SELECT request_id, ended_at, outcome FROM recent_attempt
  ORDER BY request_id DESC, attempt DESC
  LIMIT 5000
) AS newest
JOIN recent_request AS request ON request.id = newest.request_id
WHERE newest.outcome = 'succeeded' AND newest.ended_at > now() - interval '1 hour'
GROUP BY model_id
HAVING count(*) >= 5`;

export function findTypicalTimes(database: Database): Promise<TypicalTimes[]> {
  return database.query<TypicalTimes>(times);
}
