import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { FollowedRun } from '../runner.js';

/** SQL: the run of a row of followed_run is that of its request's current attempt. */
export const isCurrent =
  '(NOT followed_run.is_given_up AND followed_run.attempt = request.failed_attempts + request.lost_attempts + 1)';

export interface Keep extends FollowedRun {
  requestId: string;
  token: string;
  attempt: number;
  modelId: string;
}

/*
 * Purpose: keeps what a node must know to follow a run at its server, or to cancel it.
 * Race: a run that has lost its lease meanwhile is given up, because another node may have begun the next one, and is
 *   cancelled at its server. If its lease is taken at this very moment, the loss counts as an attempt, so the row is
 *   not that of the current attempt and is cancelled, too. A row that was kept before the loss stays as it is: the next
 *   start of the attempt has found it, and follows the run.
 * Index: lease_pkey, followed_run_pkey.
 */
const keepStatement = statement('keep_followed_run')`
INSERT INTO followed_run (request_id, start, attempt, model_id, address, answer, is_given_up)
VALUES ($1::uuid, $3::integer, $4::integer, $5::text, $6::text, $7::json,
        NOT EXISTS (SELECT FROM lease WHERE request_id = $1::uuid AND token = $2::uuid))
ON CONFLICT (request_id, start) DO UPDATE
SET answer = CASE WHEN excluded.is_given_up THEN followed_run.answer ELSE excluded.answer END,
    is_given_up = excluded.is_given_up AND followed_run.is_given_up
RETURNING NOT EXISTS (SELECT FROM lease WHERE request_id = $1::uuid AND token = $2::uuid) AS "isLost"`;

/** Returns whether the run still held its lease. */
export async function keepFollowedRun(database: Database, run: Keep): Promise<boolean> {
  const { requestId, token, start, attempt, modelId, address, answer } = run;
  const json = answer && JSON.stringify(answer);
  const values = [requestId, token, start, attempt, modelId, address, json];
  const [row] = await database.query<{ isLost: boolean }>(keepStatement, values);
  return !row!.isLost;
}

/*
 * Purpose: reads what an earlier run of an attempt began at the server. It is read for models that are followed, and
 *   not for a first start.
 * Race: none. Only the holder of the lease reads it, and only an earlier holder has written it.
 * Index: followed_run_pkey.
 */
const findStatement = statement('find_followed_run')`
SELECT start, address, answer, extract(epoch FROM clock_timestamp() - began_at)::float8 * 1000 AS "ageMs"
FROM followed_run
WHERE request_id = $1::uuid AND attempt = $2::integer AND NOT is_given_up
ORDER BY start LIMIT 1`;

export interface Found extends FollowedRun {
  ageMs: number;
}

export async function findFollowedRun(
  database: Database,
  requestId: string,
  attempt: number,
): Promise<Found | undefined> {
  return (await database.query<Found>(findStatement, [requestId, attempt]))[0];
}

/** A run that no node follows any more, and that its server may not know of. */
export interface Abandoned extends FollowedRun {
  requestId: string;
  attempt: number;
  modelId: string;
  tries: number;
}

const isOver = `(request.id IS NULL OR request.state = 'COMPLETED' OR NOT ${isCurrent})`;

/*
 * Purpose: takes the runs that are to be cancelled at their servers, and forgets those that succeeded. What a node has
 *   taken is taken again 10 s later, unless it was cancelled by then. Those that this node is cancelling are left out.
 * Race: SKIP LOCKED leaves a row to the node that has it. A run that is cancelled twice does no harm.
 * Index: followed_run is scanned, it has a row per followed run; request_pkey.
 */
const takeStatement = statement('take_abandoned_runs')`WITH over AS MATERIALIZED (
  SELECT followed_run.request_id, followed_run.start,
         request.outcome = 'succeeded' AND ${isCurrent} IS TRUE AS is_done
  FROM followed_run
  LEFT JOIN recent_request AS request ON request.id = followed_run.request_id
  WHERE followed_run.cancel_after <= clock_timestamp()
    AND (followed_run.model_id = ANY ($1::text[]) OR followed_run.began_at < clock_timestamp() - interval '1 day')
    AND followed_run.request_id <> ALL ($2::uuid[])
    AND ${isOver}
  LIMIT 100 FOR UPDATE OF followed_run SKIP LOCKED
), forgotten AS (
  DELETE FROM followed_run USING over
  WHERE followed_run.request_id = over.request_id AND followed_run.start = over.start
    AND (over.is_done IS TRUE OR followed_run.cancel_tries >= 6)
), taken AS (
  UPDATE followed_run
  SET cancel_tries = cancel_tries + 1, cancel_after = clock_timestamp() + interval '10 seconds'
  FROM over
  WHERE followed_run.request_id = over.request_id AND followed_run.start = over.start
    AND over.is_done IS NOT TRUE AND followed_run.cancel_tries < 6
  RETURNING followed_run.*
)
SELECT request_id AS "requestId", start, attempt, model_id AS "modelId", address, answer, cancel_tries AS tries
FROM taken`;

/** `inProgress`: the requests whose runs this node is cancelling. */
export function takeAbandonedRuns(
  database: Database,
  modelIds: readonly string[],
  inProgress: readonly string[],
): Promise<Abandoned[]> {
  return database.query<Abandoned>(takeStatement, [modelIds, inProgress]);
}

/*
 * Purpose: forgets a run that its server does not have, or has cancelled.
 * Race: a run forgets its own row only with its lease, because the next start may follow the run by then. A row of a
 *   run that was cancelled is not used any more.
 * Index: followed_run_pkey, lease_pkey.
 */
const forgetStatement = statement('forget_followed_run')`
DELETE FROM followed_run
WHERE request_id = $1::uuid AND start = $2::integer
  AND ($3::uuid IS NULL OR EXISTS (SELECT FROM lease WHERE request_id = $1::uuid AND token = $3::uuid))`;

/** `token`: that of the run's own lease; undefined: the run was cancelled. */
export async function forgetFollowedRun(
  database: Database,
  { requestId, start, token }: Pick<Keep, 'requestId' | 'start'> & { token?: string },
): Promise<void> {
  await database.query(forgetStatement, [requestId, start, token]);
}

/*
 * Purpose: gives up a run of an earlier start, so that the next start begins another one. This one is then cancelled at
 *   its server.
 * Race: without the lease nothing changes, because another node may follow the run by then.
 * Index: followed_run_pkey, lease_pkey.
 */
const giveUpStatement = statement('give_up_followed_run')`
UPDATE followed_run SET is_given_up = true
WHERE request_id = $1::uuid AND start = $2::integer
  AND EXISTS (SELECT FROM lease WHERE request_id = $1::uuid AND token = $3::uuid)`;

export async function giveUpFollowedRun(
  database: Database,
  { requestId, start, token }: Pick<Keep, 'requestId' | 'start' | 'token'>,
): Promise<void> {
  await database.query(giveUpStatement, [requestId, start, token]);
}
