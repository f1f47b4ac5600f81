import type { Database } from '../../../database/database.js';
import { columnsOf, type Statement, statement } from '../../../database/statement.js';
import { hookTexts } from '../../transition-hooks.js';
import { type ClaimTerms, startFirst, veryFront } from '../../runs/queries/claim.js';
import { firstLease, type LeasedRun, runColumns } from './worker-leases.js';

/** One run that a worker asks for. */
export interface WorkerSlot {
  workerId: string;
  claimId: string;
  claimHash: Buffer;
  /** The token of the lease that it may become. */
  token: string;
}

export interface WorkerClaim extends ClaimTerms {
  modelId: string;
  slots: readonly WorkerSlot[];
  /** True if the model may have a bound of runs: then its claims run one after the other. */
  isBounded: boolean;
  /** The group whose slots it shares; null: it has none. */
  groupId: string | null;
  /** True if the model reserves slots. */
  isReserved: boolean;
}

/** A run that left the queue; `slot`: the number of the slot that it is for. */
export type ClaimedRun = LeasedRun & { slot: number; queueMs: number };

/*
 * Purpose: claims for workers that ask for runs, for several calls at once. Each lease has a token of its own. A slot
 *   gets nothing if its claim has leases already (its call is a repetition), or if its worker must pause, drain or
 *   stop.
 * Race: that of `startFirst`. A bound counts the existing leases: a lock on the model's row, in the statement before,
 *   keeps others from adding any between this snapshot and its commit. For a group, the rows of all its models are
 *   locked. Nothing starts if the model has another group by now. A model that nodes ran until now counts the slots
 *   that they still hold for their runs.
 * Index: those of `startFirst`; lease_by_claim, worker_pkey, api_key_pkey. If there is a bound, lease_of_workers and
 *   slot_grant_pkey count the runs.
 */
const claimOf = (
  name: string,
  sql: Record<'room' | 'hasOtherSlots' | 'priority', string>,
): Statement => statement(name)`WITH slot AS MATERIALIZED (
  SELECT row_number() OVER () AS number, wanted.number - 1 AS slot, wanted.worker_id, wanted.claim_id, wanted.claim_hash,
         wanted.token
  FROM unnest($7::uuid[], $8::text[], $9::bytea[], $10::uuid[])
    WITH ORDINALITY AS wanted (worker_id, claim_id, claim_hash, token, number)
  WHERE NOT EXISTS (SELECT FROM lease WHERE lease.claim_id = wanted.claim_id)
    AND NOT EXISTS (
      SELECT FROM worker
      WHERE worker.uid = wanted.worker_id AND (told <> 'run' OR claims_from > clock_timestamp())
    )
), ${sql.room}, ${startFirst({
  floor: '$2::smallint, $3::bigint, $4::bigint',
  condition: `NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR ${sql.hasOtherSlots})
    )${sql.priority}`,
  byMs: '$6::float8',
  limit: 'least((SELECT count(*) FROM slot), (SELECT runs FROM room))',
  returning: () => `request.*, taken.bounded_key_id,
            request.started_at + coalesce(timeout_ms, $5::float8) * interval '1 millisecond' AS deadline_at,
            greatest(request.created_at, request.not_before) AS waits_since`,
})}, assigned AS MATERIALIZED (
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

const claimStatement = claimOf('claim_for_workers', {
  room: `room AS MATERIALIZED (
  SELECT CASE WHEN coalesce(concurrency_override, concurrency) IS NOT NULL THEN greatest(
    0,
    coalesce(concurrency_override, concurrency)
      - (SELECT count(*) FROM lease WHERE lease.model_id = $1::text AND worker_id IS NOT NULL)
      - (SELECT coalesce(sum(slots), 0) FROM slot_grant WHERE slot_grant.model_id = $1::text)
  ) END AS runs
  FROM model
  WHERE id = $1::text
)`,
  hasOtherSlots: 'group_id IS NOT NULL OR reserve_high + reserve_normal > 0',
  priority: '',
});

/*
 * Purpose: the same for a model of a group, or one that reserves slots. If only reserved slots are free, only requests
 *   of the priorities that may use them are taken. Index: recent_request's primary key, for each of the model's leases.
 */
const claimSharedStatement = claimOf('claim_shared_for_workers', {
  room: `used AS (
  SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(below_high), 0) AS below_high,
         coalesce(sum(below_normal), 0) AS below_normal
  FROM (
    SELECT 1 AS runs, (priority >= 0)::integer AS below_high, (priority >= 1)::integer AS below_normal
    FROM lease JOIN recent_request AS request ON request.id = lease.request_id
    WHERE lease.model_id = $1::text AND worker_id IS NOT NULL
    UNION ALL
    SELECT slots, coalesce(below_high, slots), coalesce(below_normal, slots)
    FROM slot_grant
    WHERE model_id = $1::text
  ) AS part
), free AS (
  SELECT least(
           concurrency - used.runs,
           group_concurrency
             - (SELECT count(*) FROM lease JOIN model AS member ON member.id = lease.model_id
                WHERE member.group_id = $11::text AND worker_id IS NOT NULL)
             - (SELECT coalesce(sum(slots), 0) FROM slot_grant JOIN model AS member ON member.id = slot_grant.model_id
                WHERE member.group_id = $11::text)
         ) AS runs,
         greatest(1, concurrency - reserve_high) - used.below_high AS below_high,
         greatest(1, concurrency - reserve_high - reserve_normal) - used.below_normal AS below_normal
  FROM (SELECT coalesce(concurrency_override, concurrency) AS concurrency, group_concurrency, reserve_high,
               reserve_normal
        FROM model WHERE id = $1::text) AS model, used
), room AS MATERIALIZED (
  SELECT greatest(0, least(runs, CASE WHEN below_high > 0 THEN below_high END,
                           CASE WHEN below_high > 0 AND below_normal > 0 THEN below_normal END)) AS runs,
         CASE WHEN below_high <= 0 THEN -1 WHEN below_normal <= 0 THEN 0 ELSE 1 END AS lowest_priority
  FROM free
)`,
  hasOtherSlots: 'group_id IS DISTINCT FROM $11::text',
  priority: ' AND priority <= (SELECT lowest_priority FROM room)',
});

const lockModel = statement('lock_model')`SELECT FROM model WHERE id = $1::text FOR NO KEY UPDATE`;

const lockGroup = statement('lock_group')`SELECT FROM model
WHERE group_id = $1::text
ORDER BY id FOR NO KEY UPDATE`;

export function claimForWorkers(database: Database, claim: WorkerClaim): Promise<ClaimedRun[]> {
  const { modelId, slots, floor, timeoutMs, byMs, isBounded, groupId, isReserved } = claim;
  const { priority, start, seq } = floor ?? veryFront;
  const values = [
    modelId,
    priority,
    start,
    seq,
    timeoutMs,
    byMs,
    ...columnsOf(slots, 'workerId', 'claimId', 'claimHash', 'token'),
  ];
  const lock: [Statement, unknown[]] = groupId === null ? [lockModel, [modelId]] : [lockGroup, [groupId]];
  if (groupId !== null || isReserved)
    return database.atomically<ClaimedRun>(lock, [claimSharedStatement, [...values, groupId]]);
  if (!isBounded) return database.query<ClaimedRun>(claimStatement, values);
  return database.atomically<ClaimedRun>(lock, [claimStatement, values]);
}
