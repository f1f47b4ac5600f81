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

/** The counts of a key, which `orderKeyOf` identifies. */
export interface WaitingOfKey {
  orderKey: number;
  waiting: number;
  held: number;
}

/** At most this many requests at the front are counted, if no process keeps count. */
export const sampleSize = 10_000;

/** Counts in the memory of this process. */
const counted = `SELECT api_key.id AS api_key_id, counted.waiting, counted.held
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS counted (order_key, waiting, held)
  JOIN api_key ON ('x' || right(api_key.id::text, 12))::bit(48)::bigint = counted.order_key`;

const front = (table: string, isHeld: string, condition = ''): string => `
    (SELECT api_key_id, ${isHeld} AS is_held FROM ${table} WHERE model_id = $1::text${condition}
     ORDER BY priority, virtual_start, seq LIMIT ${sampleSize})`;

const sampled = `SELECT api_key_id, count(*) AS waiting, count(*) FILTER (WHERE is_held) AS held
  FROM (${front('queue_entry', 'false')}
    UNION ALL${front('delayed_entry', `ready_at = 'infinity'`, ' AND NOT is_scheduled')}) AS entry
  GROUP BY api_key_id`;

/*
 * Purpose: reads what each key has of a model now, and had in the last hour: the view key_shares for one model. A run
 *   that never reached the model does not count as the key's.
 * Race: none (read only).
 * Index: none of the queue if this process has counted it, otherwise its front by queue_entry_pkey and
 *   delayed_entry_in_queue, so that the depth costs nothing. attempt_pkey and request_pkey from a day ago on. Both have
 *   the condition, or the planner reads the whole history.
 */
const sharesOf = (name: string, waiting: string) => statement(name)`WITH waiting AS (
  ${waiting}
), run AS (
  SELECT request.api_key_id, lease.started_at, clock_timestamp() AS ended_at, true AS is_running
  FROM lease
  JOIN recent_request AS request ON request.id = lease.request_id
  WHERE lease.model_id = $1::text
  UNION ALL
  SELECT request.api_key_id, attempt.started_at, attempt.ended_at, false
  FROM recent_attempt AS attempt
  JOIN recent_request AS request ON request.id = attempt.request_id AND request.id >= uuid_at(now() - interval '1 day')
  WHERE attempt.request_id >= uuid_at(now() - interval '1 day')
    AND attempt.ended_at > now() - interval '1 hour'
    AND attempt.outcome <> 'unreached'
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

const sharesStatement = sharesOf('shares', counted);
const sampledSharesStatement = sharesOf('shares_sampled', sampled);

/** `waiting`: the counts of each key; undefined: nobody has counted, and a sample is read. */
export function readShares(
  database: Database,
  modelId: string,
  waiting: readonly WaitingOfKey[] | undefined,
): Promise<ShareRow[]> {
  if (waiting === undefined) return database.query<ShareRow>(sampledSharesStatement, [modelId]);
  return database.query<ShareRow>(sharesStatement, [
    modelId,
    waiting.map(({ orderKey }) => orderKey),
    waiting.map((key) => key.waiting),
    waiting.map(({ held }) => held),
  ]);
}
