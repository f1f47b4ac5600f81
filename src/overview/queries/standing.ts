import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { QueueKey } from '../../queue/waiting/waiting-index.js';
import { epochMs } from '../../database/epoch-ms.js';

export interface StandingRow extends QueueKey {
  requestId: string;
  state: 'running' | 'waiting' | 'held' | 'delayed';
  keyId: string;
  keyName: string | null;
  sinceMs: number;
  attempt: number;
  startedAtMs: number | null;
  node: string | null;
  notBeforeMs: number | null;
}

const since = epochMs('greatest(request.created_at, request.not_before)');
const of = `request.api_key_id AS "keyId", api_key.name AS "keyName", ${since} AS "sinceMs"`;

const part = (table: string, state: string, readyAt: string, condition = ''): string => `
  (SELECT model_id, priority, virtual_start, seq, request_id, attempt, ${state} AS state, ${readyAt} AS ready_at
   FROM ${table}
   WHERE model_id = $1::text AND (priority, virtual_start, seq) > ($2::smallint, $3::bigint, $4::bigint)${condition}
   ORDER BY priority, virtual_start, seq LIMIT $5::integer)`;

/*
 * Purpose: reads which requests stand where in a queue, from a queue key on.
 * Race: none (read only).
 * Index: queue_entry_pkey and delayed_entry_in_queue, in their order; request_pkey and api_key_pkey for each.
 */
const standingStatement = statement('standing')`SELECT entry.model_id AS "modelId", entry.priority,
  entry.virtual_start AS start, entry.seq, entry.request_id AS "requestId", entry.state, ${of}, entry.attempt,
  NULL AS "startedAtMs", NULL AS node, ${epochMs('entry.ready_at')} AS "notBeforeMs"
FROM (
  SELECT * FROM (${part('queue_entry', `'waiting'`, 'NULL::timestamptz')}
  UNION ALL${part(
    'delayed_entry',
    `CASE WHEN ready_at = 'infinity' THEN 'held' ELSE 'delayed' END`,
    `nullif(ready_at, 'infinity')`,
    ' AND NOT is_scheduled',
  )}) AS both_of
  ORDER BY priority, virtual_start, seq LIMIT $5::integer
) AS entry
JOIN recent_request AS request ON request.id = entry.request_id
LEFT JOIN api_key ON api_key.id = request.api_key_id
ORDER BY entry.priority, entry.virtual_start, entry.seq`;

export function readStanding(
  database: Database,
  { modelId, priority, start, seq }: QueueKey,
  limit: number,
): Promise<StandingRow[]> {
  return database.query<StandingRow>(standingStatement, [modelId, priority, start, seq, limit]);
}

/*
 * Purpose: reads what runs of a model, and where.
 * Race: none (read only).
 * Index: none for lease, which is as long as what runs; request_pkey, node_pkey and api_key_pkey for each.
 */
const runningStatement = statement('running_of_model')`SELECT lease.model_id AS "modelId", request.priority,
  request.virtual_start AS start, request.seq, lease.request_id AS "requestId", 'running' AS state, ${of},
  lease.attempt, ${epochMs('lease.started_at')} AS "startedAtMs", coalesce(node.name, worker.name, 'lost') AS node,
  NULL AS "notBeforeMs"
FROM lease
JOIN recent_request AS request ON request.id = lease.request_id
LEFT JOIN node ON node.id = lease.node_id
LEFT JOIN worker ON worker.uid = lease.worker_id
LEFT JOIN api_key ON api_key.id = request.api_key_id
WHERE lease.model_id = $1::text
ORDER BY lease.started_at, lease.request_id
LIMIT $2::integer`;

export function readRunning(database: Database, modelId: string, limit: number): Promise<StandingRow[]> {
  return database.query<StandingRow>(runningStatement, [modelId, limit]);
}
