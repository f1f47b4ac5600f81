import type { Database } from '../../database/database.js';
import { parameters, statement } from '../../database/statement.js';
import type { Submitted } from './submit.js';
import { insertCopy } from './submission.js';

export interface Retry {
  /** Of the new request. */
  id: string;
  originalId: string;
  /** What the model and the key allow now; null: as long as it likes. */
  maxExpiresMs: number | null;
  maxTimeoutMs: number;
  minPriority: number;
}

/*
 * Purpose: submits a completed request again, with the input and the options that it had.
 * Race: against an erasure: FOR UPDATE waits for it and then finds no input; that of one read before is the new
 *   request's own.
 * Index: request_pkey, in the partition of the original's day; the rest is as in submit.
 */
const { placeholders: $, bind } = parameters({
  id: 'uuid',
  originalId: 'uuid',
  maxExpiresMs: 'float8',
  maxTimeoutMs: 'integer',
  minPriority: 'smallint',
});
const retryStatement = statement('retry')`WITH original AS MATERIALIZED (
  SELECT * FROM request
  WHERE id = ${$.originalId} AND state = 'COMPLETED' AND input IS NOT NULL FOR UPDATE
), marked AS (
  UPDATE request SET retried_as = ${$.id}
  WHERE id = ${$.originalId} AND EXISTS (SELECT FROM original)
), written AS (
  ${insertCopy('original', {
    id: $.id,
    priority: `greatest(original.priority, ${$.minPriority})`,
    expires_at: `now() + least(
           original.expires_at - coalesce(original.not_before, original.created_at),
           ${$.maxExpiresMs} * interval '1 millisecond'
         )`,
    timeout_ms: `CASE WHEN original.timeout_ms IS NOT NULL THEN least(original.timeout_ms, ${$.maxTimeoutMs}) END`,
    not_before: 'NULL',
    retry_of: 'original.id',
  })}
  RETURNING id, model_id, api_key_id, priority, seq, expires_at
), added AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, api_key_id, expires_at)
  SELECT model_id, priority, seq, id, api_key_id, expires_at FROM written
)
SELECT id, priority, seq FROM written`;

/** undefined: its input is gone. */
export async function retry(
  database: Database,
  item: Retry,
): Promise<(Submitted & { priority: number }) | undefined> {
  const [row] = await database.query<Submitted & { priority: number }>(retryStatement, bind({ ...item }));
  return row;
}
