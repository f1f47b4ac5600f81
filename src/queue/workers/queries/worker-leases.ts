import type { Database } from '../../../database/database.js';
import { statementOfDays } from '../../../database/days.js';
import { columnsOf, statement } from '../../../database/statement.js';
import { textUpTo } from '../../reads/payload-text.js';
import type { AttemptOutcome } from '../../request-state.js';
import { runOptionFields, type RunOptions } from '../../submit/submission-options.js';
import { epochMs } from '../../../database/epoch-ms.js';

/** A worker's lease lasts `firstLeaseMs` until its first call after the claim, and `leaseMs` from each call on. */
export const firstLeaseMs = 10_000;
export const leaseMs = 30_000;
export const firstLease = `interval '${firstLeaseMs / 1_000} seconds'`;
export const workerLease = `interval '${leaseMs / 1_000} seconds'`;

/** Larger inputs, and those that may be larger, are fetched in a call of their own. */
export const maxInlineBytes = 256 * 1024;

/** A worker's lease is identified by all three: a token is worth nothing to another key. */
export interface LeaseName {
  id: string;
  token: string;
  /** The key that claimed the run. */
  keyId: string;
}

/** The facts of a worker's run that the service needs. */
export interface LeasedRun extends LeaseName, RunOptions {
  modelId: string;
  workerId: string;
  claimHash: Buffer;
  /** How often its claim was answered with it. */
  handed: number;
  priority: number;
  /** Its virtual start. */
  start: number;
  seq: number;
  /** Starts of the request, including this one. */
  attempt: number;
  failedAttempts: number;
  lostAttempts: number;
  /** null: the model's timeout holds. */
  timeoutMs: number | null;
  boundedKeyId: string | null;
  /** Milliseconds since 1970, by the database's clock. */
  startedAtMs: number;
  deadlineAtMs: number;
  /** The name of the key that submitted the request; null: there is no such key any more. */
  keyName: string | null;
  tags: string[] | null;
  /** null: the input is too large for the answer to a claim, or may be. */
  input: string | null;
}

/** SQL: the key that claimed a worker's lease; null for a node's. */
const keyOf = (lease: string): string => `split_part(${lease}.claim_id, ' ', 1)`;

/** SQL: what an attempt keeps of a worker's lease, to recognise a repeated report of its end; null for a node's. */
export const tokenHash = (lease: string): string =>
  `sha256(uuid_send(${lease}.token) || convert_to(${keyOf(lease)}, 'UTF8'))`;

/** `run`: the relation with the lease's columns; `request`: the relation with the request's. */
export const runColumns = (
  run: string,
  request = 'request',
): string => `${request}.id, ${run}.token, ${keyOf(run)} AS "keyId",
       ${request}.model_id AS "modelId", ${run}.worker_id AS "workerId", ${run}.claim_hash AS "claimHash", ${run}.handed,
       ${request}.priority, ${request}.virtual_start AS start, ${request}.seq, ${run}.attempt,
       ${request}.failed_attempts AS "failedAttempts", ${request}.lost_attempts AS "lostAttempts",
       ${request}.timeout_ms AS "timeoutMs", ${run}.bounded_key_id AS "boundedKeyId",
       ${epochMs(`${run}.started_at`)} AS "startedAtMs", ${epochMs(`${run}.deadline_at`)} AS "deadlineAtMs",
       ${runOptionFields(`${request}.`)}, ${request}.tags,
       (SELECT name FROM api_key WHERE api_key.id = ${request}.api_key_id) AS "keyName",
       ${textUpTo(maxInlineBytes, `${request}.input`)} AS input`;

/*
 * Purpose: renews the leases of workers, of many beats at once, and returns which of their runs are to stop.
 * Race: a lease that was taken away meanwhile is not found, and so is lost. Leases are locked in the order of their
 *   ids, so that two of these, or one and a batch of events, never deadlock. Another key's token finds nothing.
 * Index: lease_pkey. The update is HOT.
 */
const renewStatement = statement('renew_leases')`WITH held AS MATERIALIZED (
  SELECT lease.request_id, lease.token, lease.cancel_requested_at
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS beaten (request_id, token, key_id)
  JOIN lease ON lease.request_id = beaten.request_id AND lease.token = beaten.token
  WHERE lease.worker_id IS NOT NULL AND ${keyOf('lease')} = beaten.key_id
  ORDER BY lease.request_id FOR NO KEY UPDATE OF lease
), renewed AS (
  UPDATE lease SET expires_at = clock_timestamp() + ${workerLease}
  FROM held
  WHERE lease.request_id = held.request_id
)
SELECT token, cancel_requested_at IS NOT NULL AS cancel FROM held`;

/** Returns for each existing lease whether its run is to stop. */
export function renewLeases(
  database: Database,
  leases: readonly LeaseName[],
): Promise<{ token: string; cancel: boolean }[]> {
  return database.query(renewStatement, namesOf(leases));
}

/*
 * Purpose: reads runs whose claim was answered by another node, or by this one long ago.
 * Race: none; the token decides again whether the run may still write.
 * Index: lease_pkey, request_pkey.
 */
const findStatement = statement('find_worker_leases')`SELECT ${runColumns('lease')}
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS wanted (request_id, token, key_id)
JOIN lease ON lease.request_id = wanted.request_id AND lease.token = wanted.token
JOIN recent_request AS request ON request.id = lease.request_id
WHERE lease.worker_id IS NOT NULL AND ${keyOf('lease')} = wanted.key_id`;

/** Returns the leases that exist. */
export function findLeases(database: Database, leases: readonly LeaseName[]): Promise<LeasedRun[]> {
  return database.query(findStatement, namesOf(leases));
}

const namesOf = (leases: readonly LeaseName[]): string[][] => columnsOf(leases, 'id', 'token', 'keyId');

/*
 * Purpose: reads the runs that claims brought, for calls that may be repetitions.
 * Race: `handed` rises, so that giving them back for an answer that was not read comes too late.
 * Index: lease_by_claim, request_pkey. For a new claim, it reads nothing and writes nothing.
 */
const findClaimsStatement = statement('find_claims')`WITH again AS (
  UPDATE lease SET handed = handed + 1, expires_at = greatest(expires_at, clock_timestamp() + ${firstLease})
  WHERE claim_id = ANY ($1::text[])
  RETURNING *
)
SELECT ${runColumns('again')}, again.claim_id AS "claimId"
FROM again
JOIN recent_request AS request ON request.id = again.request_id`;

export function findClaims(
  database: Database,
  claimIds: readonly string[],
): Promise<(LeasedRun & { claimId: string })[]> {
  return database.query(findClaimsStatement, [claimIds]);
}

const listStatement = (name: string, where: string) => statement(name)`SELECT ${runColumns('lease')}
FROM lease
JOIN recent_request AS request ON request.id = lease.request_id
WHERE worker_id IS NOT NULL AND ${where}
LIMIT 500`;

const overdue = listStatement('overdue_worker_leases', 'deadline_at < clock_timestamp()');
const ofWorker = listStatement('leases_of_worker', 'worker_id = $1::uuid');
const unread = listStatement(
  'unread_claims',
  `lease.token = ANY ($1::uuid[])
  AND lease.handed = ($2::integer[])[array_position($1::uuid[], lease.token)]`,
);

/** Returns runs past their deadlines. All three functions scan the leases, but they are called rarely. */
export const findOverdue = (database: Database): Promise<LeasedRun[]> => database.query(overdue);

export const findLeasesOf = (database: Database, workerId: string): Promise<LeasedRun[]> =>
  database.query(ofWorker, [workerId]);

/** A run whose claim was answered with it this often, although no worker may have read that. */
export type UnreadRun = Pick<LeasedRun, 'token' | 'handed'>;

/** Returns those of the runs that still have their leases, and that no worker was answered with since. */
export const findUnread = (database: Database, runs: readonly UnreadRun[]): Promise<LeasedRun[]> =>
  database.query(unread, columnsOf(runs, 'token', 'handed'));

/* The previous release wrote the hash of the token without the key. */
const endedStatement = statementOfDays(
  'worker_run_ended',
  (within) => `SELECT outcome FROM attempt
WHERE request_id = $1::uuid AND ${within('request_id')}
  AND token_hash IN (sha256(uuid_send($2::uuid) || convert_to($3::text, 'UTF8')), sha256(uuid_send($2::uuid)))`,
);

/** Returns how the run of a former lease ended; undefined: there was none. */
export async function endOf(
  database: Database,
  { id, token, keyId }: LeaseName,
): Promise<AttemptOutcome | undefined> {
  return (await database.query<{ outcome: AttemptOutcome }>(endedStatement(id), [id, token, keyId]))[0]
    ?.outcome;
}
