import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface NodeTimes {
  modelId: string;
  nodeId: string;
  /** Runs that were looked at. */
  runs: number;
  failed: number;
  /** The median and the 95th percentile of those that succeeded, in milliseconds; null: there are fewer than 5. */
  runMs: [number, number] | null;
}

/*
 * Purpose: reads how long runs of a model take on each node, and how many fail there. Of the newest 5,000 attempts,
 *   those count that ended within the hour and reached the model.
 * Race: none (read only).
 * Index: attempt_pkey from its end, so that what waits is not read; request_pkey for each.
 */
const timesStatement = statement('node_times')`SELECT model_id AS "modelId", node_id AS "nodeId",
  count(*)::integer AS runs,
  count(*) FILTER (WHERE newest.outcome IN ('failed', 'timed_out', 'lost'))::integer AS failed,
  CASE WHEN count(*) FILTER (WHERE newest.outcome = 'succeeded') >= 5 THEN
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
      ORDER BY extract(epoch FROM newest.ended_at - newest.started_at)::float8 * 1000
    ) FILTER (WHERE newest.outcome = 'succeeded') END AS "runMs"
FROM (
  SELECT request_id, node_id, started_at, ended_at, outcome FROM recent_attempt
  ORDER BY request_id DESC, attempt DESC
  LIMIT 5000
) AS newest
JOIN recent_request AS request ON request.id = newest.request_id
WHERE newest.ended_at > now() - interval '1 hour' AND newest.node_id IS NOT NULL AND newest.outcome <> 'unreached'
GROUP BY model_id, node_id`;

export function readNodeTimes(database: Database): Promise<NodeTimes[]> {
  return database.query<NodeTimes>(timesStatement);
}
