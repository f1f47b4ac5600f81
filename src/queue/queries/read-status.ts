import { type Queries, statement } from '../../database/statement.js';
import type { StatusRow } from '../status-row.js';

const ms = (column: string): string => `extract(epoch FROM ${column})::float8 * 1000`;

/** Of the table, or of what stands for it under its name. */
export const statusColumns = `request.id, model_id AS "modelId", api_key_id AS "keyId", state, outcome, priority, seq, attempt,
       failed_attempts AS "failedAttempts", lost_attempts AS "lostAttempts", error, tags,
       retry_of AS "retryOf", retried_as AS "retriedAs", has_own_expiry AS "hasOwnExpiry",
       (extract(epoch FROM coalesce(started_at, completed_at) - created_at) * 1000)::float8 AS "queueMs",
       inference_ms AS "inferenceMs", ${ms('created_at')} AS "createdAtMs", ${ms('started_at')} AS "startedAtMs",
       ${ms('completed_at')} AS "completedAtMs", ${ms('not_before')} AS "notBeforeMs", ${ms('erased_at')} AS "erasedAtMs",
       CASE WHEN state = 'IN_QUEUE' AND failed_attempts > 0 THEN EXISTS (
         SELECT FROM delayed_entry AS entry
         WHERE (entry.model_id, entry.priority, entry.seq) = (request.model_id, request.priority, request.seq)
       ) ELSE false END AS "isDelayed",
       coalesce((SELECT max(event.id) FROM request_event AS event WHERE event.request_id = request.id), 0)
         AS "lastEventId"`;

/*
 * Purpose: what status, stream and access checks need to know, for one caller or for many at once.
 * Race: row and newest event id come from one snapshot, so a stream never announces a state without its events.
 * Index: request_pkey and request_event_pkey; the nested loop prunes to the day's partition for each id.
 */
const readOne = statement('read_status_one')`SELECT ${statusColumns} FROM request WHERE id = $1::uuid`;

const readMany = statement('read_status_many')`SELECT ${statusColumns} FROM unnest($1::uuid[]) AS wanted (id)
JOIN request ON request.id = wanted.id`;

/** One result an id, undefined where there is no such request. */
export async function readStatus(database: Queries, ids: string[]): Promise<(StatusRow | undefined)[]> {
  if (ids.length === 1) return [(await database.query<StatusRow>(readOne, ids))[0]];
  const rows = await database.query<StatusRow>(readMany, [[...new Set(ids)]]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
