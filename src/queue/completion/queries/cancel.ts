import { statementOfDays } from '../../../database/days.js';
import type { Queries } from '../../../database/statement.js';
import type { Outcome, RequestState } from '../../request-state.js';
import type { RequestError } from '../../request-errors.js';
import { complete } from '../completion.js';
import type { EntryChange } from '../../waiting/waiting-index.js';
import { entryColumns, runsColumn } from '../../waiting/queries/waiting.js';

export interface Cancelled extends EntryChange {
  /** `cancelled` while it waited; `requested`: its run is asked to stop; `completed` before; `moved` meanwhile. */
  result: 'cancelled' | 'requested' | 'completed' | 'moved';
  outcome: Outcome | null;
  /** The number of its runs, without starts that never reached the model. */
  runs: number;
}

/*
 * Purpose: cancels a waiting request, or asks the run that has it to stop.
 * Race: against a claim. Both want the queue entry's row lock; the loser finds it deleted. If the claim won after our
 *   snapshot, neither the entry nor the new lease is seen: the result is `moved`, and the caller tries again. Against
 *   log lines being written: FOR UPDATE waits for their FOR NO KEY UPDATE, so the event ids of a request commit in
 *   order, and no stream skips a log line that becomes visible after a higher id.
 * Index: request_pkey, queue_entry_pkey and delayed_entry_pkey by full key, lease_pkey.
 */
const cancelStatement = statementOfDays(
  'cancel',
  (within) => `WITH target AS MATERIALIZED (
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt, state, outcome, ${runsColumn} FROM request
  WHERE id = $1::uuid AND ${within('id')} AND ($3::text IS NULL OR state = $3::text)
), removed_entry AS (
  DELETE FROM queue_entry AS entry USING target
  WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
    = (target.model_id, target.priority, target.virtual_start, target.seq)
  RETURNING entry.request_id
), removed_delay AS (
  DELETE FROM delayed_entry AS entry USING target
  WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
    = (target.model_id, target.priority, target.virtual_start, target.seq)
  RETURNING entry.request_id
), removed AS (
  SELECT request_id FROM removed_entry
  UNION ALL
  SELECT request_id FROM removed_delay
), ${complete({
    verb: 'cancel',
    of: 'removed',
    set: { outcome: `'cancelled'`, completed_at: 'clock_timestamp()', error: '$2::json' },
  })()}, running AS MATERIALIZED (
  SELECT request_id, cancel_requested_at FROM lease
  WHERE request_id = $1::uuid AND EXISTS (SELECT FROM target) FOR UPDATE
), requested AS (
  UPDATE lease SET cancel_requested_at = clock_timestamp()
  FROM running
  WHERE lease.request_id = running.request_id AND running.cancel_requested_at IS NULL
  RETURNING lease.request_id, lease.attempt
), requested_event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT request_id, 'cancel_requested', attempt FROM requested
)
SELECT ${entryColumns}, runs,
       CASE
         WHEN EXISTS (SELECT FROM completed) THEN 'cancelled'
         WHEN EXISTS (SELECT FROM running) THEN 'requested'
         WHEN state = 'COMPLETED' THEN 'completed'
         ELSE 'moved'
       END AS result,
       outcome
FROM target`,
);

/** `state`: a request in another state is left as it is. undefined: there is no such request. */
export async function cancel(
  database: Queries,
  requestId: string,
  error: RequestError,
  state: RequestState | null = null,
): Promise<Cancelled | undefined> {
  const [row] = await database.query<Cancelled>(cancelStatement(requestId), [
    requestId,
    JSON.stringify(error),
    state,
  ]);
  return row;
}
