import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface ShareRow {
  keyId: string;
  keyName: string | null;
  weight: number | null;
  maxRunning: number | null;
  waiting: number;
  held: number;
  running: number;
  startsLastHour: number;
  runSecondsLastHour: number;
}

/*
 * Purpose: what each key has of a model now, and had in the last hour: the view key_shares for one model.
 * Race: none; it is a look.
 * Index: queue_entry_pkey and delayed_entry_pkey by model; attempt_pkey from a day ago on; request_pkey for those that
 *   ended within the hour.
 */
const sharesStatement = statement('shares')`WITH waiting AS (
  SELECT api_key_id, count(*) AS waiting, count(*) FILTER (WHERE is_held) AS held
  FROM (SELECT api_key_id, false AS is_held FROM queue_entry WHERE model_id = $1::text
        UNION ALL
        SELECT api_key_id, ready_at = 'infinity' FROM delayed_entry WHERE model_id = $1::text AND NOT is_scheduled) AS entry
  GROUP BY api_key_id
), run AS (
  SELECT request.api_key_id, lease.started_at, clock_timestamp() AS ended_at, true AS is_running
  FROM lease
  JOIN request ON request.id = lease.request_id
  WHERE lease.model_id = $1::text
  UNION ALL
  SELECT request.api_key_id, attempt.started_at, attempt.ended_at, false
  FROM attempt
  JOIN request ON request.id = attempt.request_id
  WHERE attempt.request_id >= uuid_at(now() - interval '1 day')
    AND attempt.ended_at > now() - interval '1 hour'
    AND request.model_id = $1::text
), used AS (
  SELECT api_key_id, count(*) FILTER (WHERE is_running) AS running,
         count(*) FILTER (WHERE started_at > now() - interval '1 hour') AS starts,
         sum(extract(epoch FROM ended_at - greatest(started_at, now() - interval '1 hour')))::float8 AS run_seconds
  FROM run
  GROUP BY api_key_id
)
SELECT api_key_id AS "keyId", api_key.name AS "keyName", api_key.weight, api_key.max_running AS "maxRunning",
       coalesce(waiting.waiting, 0) AS waiting, coalesce(waiting.held, 0) AS held,
       coalesce(used.running, 0) AS running, coalesce(used.starts, 0) AS "startsLastHour",
       coalesce(used.run_seconds, 0) AS "runSecondsLastHour"
FROM waiting
FULL JOIN used USING (api_key_id)
LEFT JOIN api_key ON api_key.id = api_key_id
ORDER BY coalesce(used.run_seconds, 0) DESC, coalesce(waiting.waiting, 0) DESC, api_key_id
LIMIT 200`;

export function readShares(database: Database, modelId: string): Promise<ShareRow[]> {
  return database.query<ShareRow>(sharesStatement, [modelId]);
}
