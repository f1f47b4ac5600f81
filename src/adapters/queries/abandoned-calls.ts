import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface AbandonedCall {
  requestId: string;
  keyId: string;
  fingerprint: Buffer;
}

/*
 * Purpose: notes that nobody waits for a request any more, so that a repetition of the call can take it up.
 * Race: two calls of one request, such as a call and its repetition, may both be closed. The later time holds.
 * Index: abandoned_call_pkey.
 */
const abandonStatement = statement(
  'abandon_call',
)`INSERT INTO abandoned_call (request_id, api_key_id, fingerprint, cancel_at)
VALUES ($1::uuid, $2::uuid, $3::bytea, clock_timestamp() + $4::integer * interval '1 millisecond')
ON CONFLICT (request_id) DO UPDATE SET cancel_at = excluded.cancel_at`;

export async function abandonCall(
  database: Database,
  { requestId, keyId, fingerprint }: AbandonedCall,
  graceMs: number,
): Promise<void> {
  await database.query(abandonStatement, [requestId, keyId, fingerprint, graceMs]);
}

/*
 * Purpose: gives a repeated call the request of the call before.
 * Race: of several repetitions one gets it, because the row is locked and then gone. It is not cancelled after that.
 * Index: abandoned_call_by_body.
 */
const takeUpStatement = statement('take_up_call')`DELETE FROM abandoned_call
WHERE request_id = (
  SELECT request_id FROM abandoned_call
  WHERE api_key_id = $1::uuid AND fingerprint = $2::bytea
  ORDER BY cancel_at LIMIT 1
  FOR UPDATE SKIP LOCKED
)
RETURNING request_id AS "requestId"`;

/** undefined: no such call was abandoned. */
export async function takeUpCall(
  database: Database,
  keyId: string,
  fingerprint: Buffer,
): Promise<string | undefined> {
  const [row] = await database.query<{ requestId: string }>(takeUpStatement, [keyId, fingerprint]);
  return row?.requestId;
}

/*
 * Purpose: notes that a call waits for the request again, which its idempotency key has found.
 * Race: none; a request that was cancelled meanwhile stays cancelled.
 * Index: abandoned_call_pkey.
 */
const resumeStatement = statement('resume_call')`DELETE FROM abandoned_call WHERE request_id = $1::uuid`;

export async function resumeCall(database: Database, requestId: string): Promise<void> {
  await database.query(resumeStatement, [requestId]);
}

/*
 * Purpose: takes the requests that nobody has taken up in time, also those of nodes that are lost.
 * Race: each row is deleted by one node, which then cancels the request. If that node is lost in between, the request
 *   runs to its end.
 * Index: abandoned_call_due.
 */
const dueStatement = statement('due_abandoned_calls')`DELETE FROM abandoned_call
WHERE cancel_at <= clock_timestamp()
RETURNING request_id AS "requestId"`;

export async function takeDueCalls(database: Database): Promise<string[]> {
  const rows = await database.query<{ requestId: string }>(dueStatement);
  return rows.map(({ requestId }) => requestId);
}
