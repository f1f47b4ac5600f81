import type { Database } from '../../database/database.js';
import { columnsOf, statement } from '../../database/statement.js';

export interface FrontEntry {
  modelId: string;
  priority: number;
  start: number;
  seq: number;
  requestId: string;
  keyId: string;
  sinceMs: number;
}

const entries = (table: string, condition = ''): string => `
    (SELECT priority, virtual_start, seq, request_id, api_key_id FROM ${table}
     WHERE model_id = asked.model_id${condition}
     ORDER BY priority, virtual_start, seq LIMIT asked.max)`;

/*
 * Purpose: reads the front of the queues of several models, in their order: of each queue every `step`-th request.
 * Race: none (read only).
 * Index: queue_entry_pkey and delayed_entry_in_queue, in their order; request_pkey for each that is shown.
 */
const frontsStatement = statement('queue_fronts')`SELECT asked.model_id AS "modelId", first.priority,
  first.virtual_start AS start, first.seq, first.request_id AS "requestId", first.api_key_id AS "keyId",
  extract(epoch FROM greatest(request.created_at, request.not_before))::float8 * 1000 AS "sinceMs"
FROM unnest($1::text[], $2::integer[], $3::integer[]) AS asked (model_id, step, max)
CROSS JOIN LATERAL (
  SELECT *, row_number() OVER (ORDER BY priority, virtual_start, seq) AS place
  FROM (${entries('queue_entry')}
    UNION ALL${entries('delayed_entry', ' AND NOT is_scheduled')}
  ) AS entry
  ORDER BY priority, virtual_start, seq LIMIT asked.max
) AS first
JOIN recent_request AS request ON request.id = first.request_id
WHERE (first.place - 1) % asked.step = 0
ORDER BY asked.model_id, first.place`;

/** `step`: one of this many requests is returned. */
export function readFronts(
  database: Database,
  asked: readonly { modelId: string; step: number; max: number }[],
): Promise<FrontEntry[]> {
  return database.query<FrontEntry>(frontsStatement, columnsOf(asked, 'modelId', 'step', 'max'));
}
