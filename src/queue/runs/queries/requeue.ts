import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { AttemptOutcome } from '../../request-state.js';
import { acquit } from '../../suspects/queries/suspects.js';
import { insertEntries, ofRequest } from '../../waiting/queries/insert-entries.js';
import { tokenHash } from '../../workers/queries/worker-leases.js';
import { entryColumns, type WaitingRequest } from '../../waiting/queries/waiting.js';
import { runMs } from './run-ms.js';

export interface Requeue {
  requestId: string;
  token: string;
  attemptOutcome: Extract<AttemptOutcome, 'failed' | 'timed_out' | 'returned' | 'unreached'>;
  /** Milliseconds from now until the next attempt may start; 0: at once. */
  delayMs: number;
  errorCode?: string | null;
  errorMessage?: string | null;
  /** Shown among the logs, unless the log is full. */
  message?: string | null;
  /** Requeues a worker's lease only if it was handed out this often, so that no repetition of the claim has it. */
  handed?: number | undefined;
}

/*
 * Purpose: returns a request to the queue under its old key, after a failed attempt, after a run that never reached
 *   its model, or from a node that stops. A run that never reached its model leaves no trace in the times. A request
 *   that joins its queue is no suspect.
 * Race: guarded by the token like finish, so a run that lost its lease cannot put a request in the queue twice. A
 *   cancel that was requested meanwhile keeps the row: nothing is returned, and the caller finishes the run as
 *   cancelled. A worker that repeats its claim has the run from then on: giving the run back for the lost answer then
 *   comes too late.
 * Index: lease_pkey, request_pkey, queue_entry_pkey or delayed_entry_pkey, suspect_pkey.
 */
const requeueStatement = statement('requeue')`WITH released AS (
  DELETE FROM lease
  WHERE request_id = $1::uuid
    AND token = $2::uuid
    AND cancel_requested_at IS NULL
    AND ($8::integer IS NULL OR handed = $8::integer)
  RETURNING request_id, node_id, worker_id, ${tokenHash('lease')} AS token_hash, bounded_key_id, started_at,
            usage, clock_timestamp() AS ended_at
), returned AS (
  UPDATE recent_request AS request
  SET state = 'IN_QUEUE',
      failed_attempts = failed_attempts + ($3::text IN ('failed', 'timed_out'))::integer,
      started_at = CASE WHEN $3::text <> 'unreached' OR failed_attempts + lost_attempts > 0 THEN request.started_at END,
      inference_ms = CASE WHEN $3::text = 'unreached' THEN inference_ms
                          ELSE ${runMs('released')} END
  FROM released
  WHERE request.id = released.request_id AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq,
            request.attempt, request.expires_at, released.node_id, released.worker_id, released.token_hash,
            released.started_at, released.ended_at, released.usage, released.bounded_key_id
), waiting AS (
  ${insertEntries('queue_entry', 'returned', ofRequest)}
  WHERE $4::float8 <= 0
), delayed AS (
  ${insertEntries('delayed_entry', 'returned', {
    ...ofRequest,
    ready_at: `ended_at + $4::float8 * interval '1 millisecond'`,
  })}
  WHERE $4::float8 > 0
), acquitted AS (
  ${acquit('returned')} AND $4::float8 <= 0
), recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, worker_id, token_hash, started_at, ended_at, outcome, error_code,
                       error_message, usage)
  SELECT id, attempt, node_id, worker_id, token_hash, started_at, ended_at, $3::text, $5::text, $6::text, usage
  FROM returned
), event AS (
  INSERT INTO request_event (request_id, kind, attempt, level, source, message, paused_until)
  SELECT id, 'requeued', attempt,
         CASE WHEN $7::text IS NOT NULL THEN 'WARN' END, CASE WHEN $7::text IS NOT NULL THEN 'queue' END, $7::text,
         CASE WHEN $4::float8 > 0 THEN ended_at + $4::float8 * interval '1 millisecond' END
  FROM returned
)
SELECT id, ${entryColumns} FROM returned`;

/** Returns the entry that the request went back to; undefined: the run held no lease, or was asked to stop. */
export async function requeue(database: Database, item: Requeue): Promise<WaitingRequest | undefined> {
  const { requestId, token, attemptOutcome, delayMs } = item;
  const { errorCode = null, errorMessage = null, message = null, handed = null } = item;
  const values = [requestId, token, attemptOutcome, delayMs, errorCode, errorMessage, message, handed];
  const [row] = await database.query<WaitingRequest>(requeueStatement, values);
  return row;
}
