import { statementOfDays } from '../../../database/days.js';
import type { Queries } from '../../../database/statement.js';
import { complete } from '../completion.js';
import type { RequestError } from '../../request-errors.js';
import type { Outcome, RequestState } from '../../request-state.js';
import type { EntryChange } from '../../waiting/waiting-index.js';
import { runsColumn } from '../../waiting/queries/waiting.js';

/** A request as it was before. */
export interface Target extends EntryChange {
  id: string;
  state: RequestState;
  outcome: Outcome | null;
  /** The number of its runs, without starts that never reached the model. */
  runs: number;
  completedAtMs: number | null;
  erasedAtMs: number | null;
}

/** Narrows the ids to those of a key, or in a state. */
export interface Meant {
  keyId?: string | undefined;
  state?: RequestState | undefined;
}

/** A target that is neither cancelled nor requested, and was not completed, moved while the statement ran. */
export interface CancelledMany {
  /** The requests of the ids that match `Meant`. */
  targets: Target[];
  cancelled: string[];
  /** Running requests, including those that were asked to stop before. */
  requested: string[];
}

/*
 * Purpose: takes waiting requests out of their queues before any of them can start, and asks runs to stop.
 * Race: as in cancel. Entries are locked in the order of their keys, so two of these statements never deadlock. Every
 *   other statement that locks several entries skips locked ones, or locks leases. Leases locked by a batch of
 *   finishes or log lines are skipped, because those are locked in other orders: their requests count as moved.
 * Index: request_pkey by id, queue_entry_pkey and delayed_entry_pkey by full key, lease_pkey. LATERAL keeps the
 *   planner from other plans, which cost the product of the lists' lengths, and so do arrays. The bounds of
 *   the ids prune days.
 */
const locked = (table: string): string => `SELECT entry.ctid
  FROM (SELECT model_id, priority, virtual_start, seq FROM target
    WHERE state = 'IN_QUEUE' ORDER BY model_id, priority, virtual_start, seq) AS waiting
  CROSS JOIN LATERAL (
    SELECT ctid FROM ${table} AS entry
    WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
      = (waiting.model_id, waiting.priority, waiting.virtual_start, waiting.seq) FOR UPDATE
  ) AS entry`;

const cancelManyStatement = statementOfDays(
  'cancel_many',
  (within) => `WITH target AS MATERIALIZED (
  SELECT own.* FROM unnest($1::uuid[]) AS wanted (id)
  CROSS JOIN LATERAL (
    SELECT id, api_key_id, model_id, priority, virtual_start, seq, attempt, ${runsColumn}, state, outcome, completed_at,
           erased_at
    FROM request
    WHERE request.id = wanted.id AND ${within('request.id')} LIMIT 1
  ) AS own
  WHERE ($2::uuid IS NULL OR api_key_id = $2::uuid) AND ($6::text IS NULL OR state = $6::text)
), entry AS MATERIALIZED (
  ${locked('queue_entry')}
), removed_entry AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM entry))
  RETURNING request_id
), delay AS MATERIALIZED (
  ${locked('delayed_entry')}
), removed_delay AS (
  DELETE FROM delayed_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM delay))
  RETURNING request_id
), removed AS (
  SELECT request_id FROM removed_entry
  UNION ALL
  SELECT request_id FROM removed_delay
), ${complete({
    verb: 'cancel',
    of: 'removed',
    where: `request.id = ANY (ARRAY (SELECT request_id FROM removed)) AND request.id BETWEEN $4::uuid AND $5::uuid`,
    set: { outcome: `'cancelled'`, completed_at: 'clock_timestamp()', error: '$3::json' },
  })()}, running AS MATERIALIZED (
  SELECT run.* FROM target
  CROSS JOIN LATERAL (
    SELECT request_id, cancel_requested_at FROM lease
    WHERE lease.request_id = target.id FOR UPDATE SKIP LOCKED
  ) AS run
  WHERE target.state = 'IN_PROGRESS'
), requested AS (
  UPDATE lease SET cancel_requested_at = clock_timestamp()
  WHERE request_id = ANY (ARRAY (SELECT request_id FROM running WHERE cancel_requested_at IS NULL))
  RETURNING request_id, attempt
), requested_event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT request_id, 'cancel_requested', attempt FROM requested
)
SELECT (
         SELECT coalesce(json_agg(json_build_object(
           'id', id, 'modelId', model_id, 'priority', priority, 'start', virtual_start, 'seq', seq, 'attempt', attempt, 'runs', runs,
           'state', state, 'outcome', outcome,
           'completedAtMs', extract(epoch FROM completed_at)::float8 * 1000,
           'erasedAtMs', extract(epoch FROM erased_at)::float8 * 1000
         )), '[]') FROM target
       ) AS targets,
       ARRAY (SELECT id FROM completed) AS cancelled,
       ARRAY (SELECT request_id FROM running) AS requested`,
);

export async function cancelMany(
  database: Queries,
  { keyId, state }: Meant,
  requestIds: readonly string[],
  error: RequestError,
): Promise<CancelledMany> {
  const sorted = requestIds.toSorted();
  const values = [sorted, keyId ?? null, JSON.stringify(error), sorted[0], sorted.at(-1), state ?? null];
  const [row] = await database.query<CancelledMany>(cancelManyStatement(...requestIds), values);
  return row!;
}
