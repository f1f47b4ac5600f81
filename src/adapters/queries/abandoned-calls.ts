import type { Database } from '../../database/database.js';
import { type Queries, type Statement, statement } from '../../database/statement.js';

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
 *   A row that is locked because its request is being cancelled is skipped.
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
 * Purpose: notes that a call waits for the request that its idempotency key has found.
 * Race: a node where an earlier call closes may note that after this, so the statement is repeated while the call waits.
 *   A request that was cancelled meanwhile stays cancelled.
 * Index: abandoned_call_pkey.
 */
const resumeStatement = statement('resume_call')`DELETE FROM abandoned_call WHERE request_id = $1::uuid`;

export async function resumeCall(database: Database, requestId: string): Promise<void> {
  await database.query(resumeStatement, [requestId]);
}

/*
 * Purpose: notes the time at which a request is to be cancelled, whatever it does then.
 * Race: a repetition of the submission, which has the same time, may have noted it before.
 * Index: planned_cancel_pkey.
 */
const planStatement = statement('plan_cancel')`INSERT INTO planned_cancel (request_id, cancel_at)
VALUES ($1::uuid, to_timestamp($2::float8 / 1000))
ON CONFLICT (request_id) DO NOTHING`;

export async function planCancel(database: Database, requestId: string, atMs: number): Promise<void> {
  await database.query(planStatement, [requestId, atMs]);
}

/** The tables with requests that are to be cancelled at `cancel_at`. */
export const cancelTables = ['abandoned_call', 'planned_cancel'] as const;
export type CancelTable = (typeof cancelTables)[number];

/*
 * Purpose: finds when the next request is to be cancelled.
 * Race: none (read only).
 * Index: abandoned_call_due, planned_cancel_due.
 */
const nextStatement = statement('due_abandoned_calls')`SELECT
  (extract(epoch FROM min(cancel_at) - clock_timestamp()) * 1000)::float8 AS "inMs"
FROM (
  (SELECT cancel_at FROM abandoned_call ORDER BY cancel_at LIMIT 1)
  UNION ALL
  (SELECT cancel_at FROM planned_cancel ORDER BY cancel_at LIMIT 1)
) AS next`;

/** Returns the milliseconds until the next one is due; null: there is none. */
export async function nextCancelInMs(database: Database): Promise<number | null> {
  const [row] = await database.query<{ inMs: number | null }>(nextStatement);
  return row!.inMs;
}

/*
 * Purpose: locks requests that are due, also those of nodes that are lost. The rows are deleted in the transaction that
 *   cancels the requests, so that a node that is lost in between leaves both as they were.
 * Race: two nodes at once skip each other's rows. A repetition that takes a call up has deleted its row, or skips it.
 * Index: abandoned_call_due, planned_cancel_due.
 */
const lockStatements: Readonly<Record<CancelTable, Statement>> = {
  abandoned_call: statement('lock_due_calls')`SELECT request_id AS "requestId" FROM abandoned_call
WHERE cancel_at <= clock_timestamp()
ORDER BY cancel_at LIMIT $1::integer FOR UPDATE SKIP LOCKED`,
  planned_cancel: statement('lock_due_cancels')`SELECT request_id AS "requestId" FROM planned_cancel
WHERE cancel_at <= clock_timestamp()
ORDER BY cancel_at LIMIT $1::integer FOR UPDATE SKIP LOCKED`,
};

/** Returns the ids of the requests. The rows stay locked until the end of the transaction of `queries`. */
export async function lockDue(queries: Queries, table: CancelTable, max: number): Promise<string[]> {
  const rows = await queries.query<{ requestId: string }>(lockStatements[table], [max]);
  return rows.map(({ requestId }) => requestId);
}

/* Purpose: deletes the rows of requests that were cancelled. Race: none: the rows are locked. Index: the primary key. */
const deleteStatements: Readonly<Record<CancelTable, Statement>> = {
  abandoned_call: statement('delete_due_calls')`DELETE FROM abandoned_call
WHERE request_id = ANY ($1::uuid[])`,
  planned_cancel: statement('delete_due_cancels')`DELETE FROM planned_cancel
WHERE request_id = ANY ($1::uuid[])`,
};

export async function deleteDue(
  queries: Queries,
  table: CancelTable,
  requestIds: readonly string[],
): Promise<void> {
  await queries.query(deleteStatements[table], [requestIds]);
}
