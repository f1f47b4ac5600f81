import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { ClaimFloor } from '../runs/model-dispatcher.js';
import { hookTexts } from '../transition-hooks.js';
import { firstLease, type LeasedRun, runColumns } from './worker-leases.js';

/** One run that a worker asks for. */
export interface WorkerSlot {
  workerId: string;
  claimId: string;
  claimHash: Buffer;
  /** The token of the lease that it may become. */
  token: string;
}

export interface WorkerClaim {
  modelId: string;
  slots: readonly WorkerSlot[];
  /** Entries before this key are skipped; null: the claim starts at the very front. */
  floor: ClaimFloor | null;
  /** The timeout of the model. */
  timeoutMs: number;
  /** The claim must reach the database by then, in milliseconds since 1970 by the database's clock. */
  byMs: number;
  /** True if the model may have a bound of runs: then its claims run one after the other. */
  isBounded: boolean;
}

/** A run that left the queue; `slot`: the number of the slot that it is for. */
export type ClaimedRun = LeasedRun & { slot: number; queueMs: number };

/*
 * Purpose: takes the first waiting requests of a model for workers that ask for runs, of several calls at once, and
 *   gives each a lease with a token of its own. A slot gets nothing if its claim has leases already (its call is a
 *   repetition), or if its worker must pause, drain or stop.
 * Race: as in claim: SKIP LOCKED, DELETE and the state hand out an entry once. A bound counts the existing leases: a
 *   lock on the model's row, in the statement before, keeps others from adding any between this snapshot and its
 *   commit.
 * Index: queue_entry_pkey in its order, as in claim; lease_by_claim, worker_pkey; lease_of_workers counts the runs,
 *   if there is a bound; request_pkey.
 */
const claimStatement = statement('claim_for_workers')`WITH slot AS MATERIALIZED (
  SELECT row_number() OVER () AS number, wanted.number - 1 AS slot, wanted.worker_id, wanted.claim_id, wanted.claim_hash,
         wanted.token
  FROM unnest($7::uuid[], $8::text[], $9::bytea[], $10::uuid[])
    WITH ORDINALITY AS wanted (worker_id, claim_id, claim_hash, token, number)
  WHERE NOT EXISTS (SELECT FROM lease WHERE lease.claim_id = wanted.claim_id)
    AND NOT EXISTS (
      SELECT FROM worker
      WHERE worker.uid = wanted.worker_id AND (told <> 'run' OR claims_from > clock_timestamp())
    )
), room AS MATERIALIZED (
  SELECT CASE WHEN coalesce(concurrency_override, concurrency) IS NOT NULL THEN greatest(
    0,
    coalesce(concurrency_override, concurrency)
      - (SELECT count(*) FROM lease WHERE lease.model_id = $1::text AND worker_id IS NOT NULL)
  ) END AS runs
  FROM model
  WHERE id = $1::text
), due AS MATERIALIZED (
  SELECT ctid FROM queue_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($2::smallint, $3::bigint, $4::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND NOT EXISTS (SELECT FROM model WHERE model.id = $1::text AND paused IS NOT NULL)
    AND now() < to_timestamp($6::float8 / 1000)
  ORDER BY priority, virtual_start, seq
  LIMIT least((SELECT count(*) FROM slot), (SELECT runs FROM room)) FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.*, taken.bounded_key_id,
            request.started_at + coalesce(timeout_ms, $5::float8) * interval '1 millisecond' AS deadline_at,
            greatest(request.created_at, request.not_before) AS waits_since
), assigned AS MATERIALIZED (
  SELECT numbered.*, slot.slot, slot.worker_id, slot.claim_id, slot.claim_hash, slot.token, 1 AS handed
  FROM (SELECT started.*, row_number() OVER () AS number FROM started) AS numbered
  JOIN slot USING (number)
), leased AS (
  INSERT INTO lease (request_id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id,
                     claim_hash, handed, expires_at)
  SELECT id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id, claim_hash, handed,
         clock_timestamp() + ${firstLease}
  FROM assigned
)${hookTexts('request.started', 'started')}
SELECT ${runColumns('assigned', 'assigned')}, slot::integer,
       extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM assigned`;

const lockModel = statement('lock_model')`SELECT FROM model WHERE id = $1::text FOR NO KEY UPDATE`;

export function claimForWorkers(database: Database, claim: WorkerClaim): Promise<ClaimedRun[]> {
  const { modelId, slots, floor, timeoutMs, byMs, isBounded } = claim;
  const { priority, start, seq } = floor ?? { priority: -32_768, start: 0, seq: 0 };
  const values = [
    ...[modelId, priority, start, seq, timeoutMs, byMs],
    slots.map(({ workerId }) => workerId),
    slots.map(({ claimId }) => claimId),
    slots.map(({ claimHash }) => claimHash),
    slots.map(({ token }) => token),
  ];
  if (!isBounded) return database.query<ClaimedRun>(claimStatement, values);
  return database.atomically<ClaimedRun>([lockModel, [modelId]], [claimStatement, values]);
}
