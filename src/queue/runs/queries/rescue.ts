import type { Database } from '../../../database/database.js';
import { type Statement, statement } from '../../../database/statement.js';
import type { RequestError } from '../../request-errors.js';
import type { RequestEvents } from '../../request-events.js';
import type { Outcome } from '../../request-state.js';
import { isCurrent } from './followed-runs.js';
import { complete } from '../../completion/completion.js';
import { acquit } from '../../suspects/queries/suspects.js';
import { insertEntries, ofRequest } from '../../waiting/queries/insert-entries.js';
import { entryColumns, type WaitingRequest } from '../../waiting/queries/waiting.js';
import { tokenHash } from '../../workers/queries/worker-leases.js';
import { runMs } from './run-ms.js';

export interface Rescued extends WaitingRequest {
  /** null: it waits again. Otherwise it was completed: its nodes were lost too often, or it was to be cancelled. */
  outcome: Outcome | null;
  /** The attempt that was lost, as a status counts attempts; `attempt` is the stored number of the start. */
  lostAttempt: number;
  /** Its server continues the run, and the next node follows it: no attempt was lost. */
  isFollowed: boolean;
}

/**
 * The database's time, but not later than the caller's clock shows it. A caller whose heartbeat has not noticed yet that
 * the database's clock was set forward would otherwise take living nodes and workers for lost.
 */
const noLaterThan = (nowMs: string): string =>
  `least(clock_timestamp(), to_timestamp(${nowMs}::float8 / 1000))`;

/*
 * Purpose: gives up silent nodes, and then their slots (drop_grants). node_name keeps their last state for operators.
 * Race: several nodes may do it at once; a DELETE deletes a row once. A node that beats at this very moment holds its
 *   row's lock: its heartbeat is read again after the wait, and the row stays.
 * Index: none needed, node and lease are short; node_name_pkey.
 */
const giveUpStatement = statement('give_up_nodes')`WITH lost AS (
  DELETE FROM node
  WHERE id <> $1::uuid
    AND heartbeat_at < ${noLaterThan('$3')} - $2::float8 * interval '1 millisecond'
  RETURNING *
), kept AS (
  UPDATE node_name
  SET lost_at = clock_timestamp(),
      lost_node = jsonb_build_object(
        'role', lost.role,
        'version', lost.version,
        'startedAtMs', extract(epoch FROM lost.started_at) * 1000,
        'heartbeatAtMs', extract(epoch FROM lost.heartbeat_at) * 1000,
        'runs', (SELECT count(*) FROM lease WHERE lease.node_id = lost.id)
      )
  FROM lost
  WHERE node_name.id = lost.id
)
SELECT id, name FROM lost`;

const dropGrants = statement('drop_grants')`DELETE FROM slot_grant
WHERE NOT EXISTS (SELECT FROM node WHERE node.id = slot_grant.node_id)
  AND NOT EXISTS (SELECT FROM lease WHERE lease.node_id = slot_grant.node_id)`;

/*
 * Purpose: takes the leases of lost nodes and of runs far beyond their deadline, or the expired leases of workers.
 *   The request waits again or has ended. A run that its server continues counts as returned, not as lost: the next
 *   node follows it. A request that joins its queue is no suspect.
 * Race: SKIP LOCKED leaves a lease to the finish, log write or other rescuer that locks it. DELETE decides, and from
 *   then on every write of the old run is refused, because its token is gone.
 * Index: lease is scanned, it has one row per run in progress; request_pkey, queue_entry_pkey, suspect_pkey.
 */
const rescueStatement = (name: string, lost: string, code: string, message: string): Statement => statement(
  name,
)`WITH lost AS MATERIALIZED (
  SELECT request_id FROM lease
  WHERE ${lost}
  LIMIT 500 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM lease USING lost
  WHERE lease.request_id = lost.request_id
  RETURNING lease.*, clock_timestamp() AS ended_at
), verdict AS (
  SELECT taken.*, 1 - followed.runs AS losses,
         CASE
           WHEN taken.cancel_requested_at IS NOT NULL THEN 'cancelled'
           WHEN request.lost_attempts + 1 >= coalesce(($4::jsonb ->> request.model_id)::integer, $1::integer)
                AND followed.runs = 0 THEN 'failed'
         END AS outcome
  FROM taken
  JOIN recent_request AS request ON request.id = taken.request_id
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM followed_run
      WHERE followed_run.request_id = taken.request_id AND ${isCurrent}
    )::integer AS runs
  ) AS followed
), hopeless AS (
  SELECT * FROM verdict WHERE outcome IS NOT NULL
), ${complete({
  verb: 'rescue',
  of: 'hopeless',
  set: {
    outcome: 'hopeless.outcome',
    completed_at: 'hopeless.ended_at',
    error: `CASE hopeless.outcome WHEN 'failed' THEN $2::json ELSE $3::json END`,
    lost_attempts: 'lost_attempts + 1',
    inference_ms: runMs('hopeless'),
  },
  returning: [
    'model_id',
    'api_key_id',
    'priority',
    'virtual_start',
    'seq',
    'outcome',
    'failed_attempts',
    'lost_attempts',
  ].map((column) => `request.${column}`),
})}, requeued AS (
  UPDATE recent_request AS request
  SET state = 'IN_QUEUE',
      lost_attempts = lost_attempts + verdict.losses,
      inference_ms = ${runMs('verdict')}
  FROM verdict
  WHERE request.id = verdict.request_id
    AND verdict.outcome IS NULL
    AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq,
            request.attempt, request.expires_at, request.failed_attempts, request.lost_attempts, verdict.losses,
            verdict.bounded_key_id
), waiting AS (
  ${insertEntries('queue_entry', 'requeued', ofRequest)}
), acquitted AS (
  ${acquit('requeued')}
), rescued AS (
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt,
         failed_attempts + lost_attempts AS lost_attempt, outcome, false AS is_followed
  FROM completed
  UNION ALL
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt, failed_attempts + lost_attempts + 1 - losses,
         NULL, losses = 0
  FROM requeued
), recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, worker_id, token_hash, started_at, ended_at, outcome, error_code,
                       error_message)
  SELECT request_id, attempt, node_id, worker_id, ${tokenHash('verdict')}, started_at, ended_at,
         CASE WHEN outcome IS NULL AND losses = 0 THEN 'returned' ELSE 'lost' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN '${code}' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN '${message}' END
  FROM verdict
  WHERE request_id IN (SELECT id FROM rescued)
), requeued_event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT id, 'requeued', attempt FROM requeued
)
SELECT id, ${entryColumns}, lost_attempt AS "lostAttempt", outcome, is_followed AS "isFollowed" FROM rescued`;

const ofNodes = rescueStatement(
  'rescue',
  `worker_id IS NULL
    AND (NOT EXISTS (SELECT FROM node WHERE node.id = lease.node_id)
         OR deadline_at < ${noLaterThan('$5')} - interval '30 seconds')`,
  'node_lost',
  'The node that ran it was lost.',
);
const ofWorkers = rescueStatement(
  'rescue_from_workers',
  `worker_id IS NOT NULL AND expires_at < ${noLaterThan('$5')}`,
  'worker_lost',
  'The worker that ran it was lost.',
);

export interface RescueTerms {
  /** A request that has lost this many runs with their nodes or workers is not retried. */
  lostLimit: number;
  /** The limits of the models that have another, by id. */
  lostLimits?: Readonly<Record<string, number>>;
  /** The error of such a request. */
  lost: RequestError;
  cancelled: RequestError;
  /** Milliseconds since 1970, as the caller's clock shows the database's time. */
  nowMs: number;
}

export async function rescue(
  database: Database,
  options: RescueTerms & { nodeId: string; lostAfterMs: number },
): Promise<{ nodes: RequestEvents['node.lost']; requests: Rescued[] }> {
  const { nodeId, lostAfterMs, nowMs } = options;
  const nodes = await database.query<{ id: string; name: string }>(giveUpStatement, [
    nodeId,
    lostAfterMs,
    nowMs,
  ]);
  const requests = await database.query<Rescued>(ofNodes, valuesOf(options));
  await database.query(dropGrants);
  return { nodes, requests };
}

/** Takes the leases that their workers did not renew. */
export function rescueFromWorkers(database: Database, options: RescueTerms): Promise<Rescued[]> {
  return database.query<Rescued>(ofWorkers, valuesOf(options));
}

const valuesOf = ({ lostLimit, lostLimits = {}, lost, cancelled, nowMs }: RescueTerms): unknown[] => [
  lostLimit,
  JSON.stringify(lost),
  JSON.stringify(cancelled),
  JSON.stringify(lostLimits),
  nowMs,
];
