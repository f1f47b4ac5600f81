import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { statusesOfOperators } from '../../queue/request-errors.js';

/** How the last runs of a model ended. */
export interface RecentEnds {
  modelId: string;
  /** At most 20 runs. */
  runs: number;
  failed: number;
  /** The failed runs whose input the model refused. */
  refused: number;
  /** The most frequent code of those that failed; null: none did. */
  code: string | null;
  /** The message of the last failed run that has one; null: there is none. */
  message: string | null;
  /** The time at which the last of them ended, in milliseconds since 1970. */
  lastAtMs: number;
}

const maxRuns = 20;

/*
 * Purpose: reads how the last runs of each model ended. Of the newest 2,000 attempts, those count that ended within the
 *   hour and reached the model.
 * Race: none (read only).
 * Index: attempt_pkey from its end, so that what waits is not read; request_pkey for each.
 */
const endsStatement = statement('recent_ends')`SELECT model_id AS "modelId", count(*)::integer AS runs,
  extract(epoch FROM max(ended_at))::float8 * 1000 AS "lastAtMs",
  count(*) FILTER (WHERE outcome <> 'succeeded')::integer AS failed,
  count(*) FILTER (WHERE is_refused)::integer AS refused,
  mode() WITHIN GROUP (ORDER BY code) FILTER (WHERE outcome <> 'succeeded') AS code,
  (array_agg(message ORDER BY ended_at DESC) FILTER (WHERE outcome <> 'succeeded' AND message IS NOT NULL))[1] AS message
FROM (
  SELECT request.model_id, newest.outcome, newest.ended_at, error_message AS message,
    CASE newest.outcome WHEN 'lost' THEN 'node_lost' WHEN 'timed_out' THEN 'timed_out' ELSE error_code END AS code,
    newest.outcome = 'failed' AND newest.attempt = request.attempt AND error_code = 'model_error'
      AND (request.error ->> 'status')::integer BETWEEN 400 AND 499
      AND (request.error ->> 'status')::integer NOT IN (${statusesOfOperators.join(', ')}) AS is_refused,
    row_number() OVER (PARTITION BY request.model_id ORDER BY newest.ended_at DESC) AS nth
  FROM (
    SELECT request_id, attempt, ended_at, outcome, error_code, error_message FROM recent_attempt
    ORDER BY request_id DESC, attempt DESC
    LIMIT 2000
  ) AS newest
  JOIN recent_request AS request ON request.id = newest.request_id
  WHERE newest.ended_at > now() - interval '1 hour'
    AND newest.outcome IN ('succeeded', 'failed', 'timed_out', 'lost')
) AS ended
WHERE nth <= ${String(maxRuns)}
GROUP BY model_id`;

export function readRecentEnds(database: Database): Promise<RecentEnds[]> {
  return database.query<RecentEnds>(endsStatement);
}
