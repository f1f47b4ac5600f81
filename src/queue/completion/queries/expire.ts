import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { RequestError } from '../../request-errors.js';
import { complete } from '../completion.js';
import { entryColumns, runsColumn, type WaitingRequest } from '../../waiting/queries/waiting.js';

/** `runs`: the number of its runs, without starts that never reached the model. */
export type Expired = WaitingRequest & { runs: number };

/** One statement takes this many of each table. Each request may have 50 endpoints, so more could exceed its time. */
const maxAtOnce = 200;

/*
 * Purpose: completes requests that waited too long.
 * Race: against claims and cancels: SKIP LOCKED leaves them the rows they lock, DELETE decides.
 * Index: queue_entry_by_expires_at and delayed_entry_by_expires_at, the earliest of each. The locked rows are deleted
 *   by their ctids, which cannot change any more. request_pkey by id: an array, because a join could read a whole day,
 *   and the ids' bounds, which prune days. The bounds are texts: PostgreSQL has no min of uuids before 18.
 */
const expireWaiting = statement('expire_waiting')`WITH gone AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM queue_entry
    WHERE expires_at <= now() ORDER BY expires_at LIMIT ${String(maxAtOnce)} FOR UPDATE SKIP LOCKED
  ))
  RETURNING request_id
), delayed AS (
  DELETE FROM delayed_entry
  WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM delayed_entry
    WHERE expires_at <= now() ORDER BY expires_at LIMIT ${String(maxAtOnce)} FOR UPDATE SKIP LOCKED
  ))
  RETURNING request_id
), overdue AS (
  SELECT request_id FROM gone
  UNION ALL
  SELECT request_id FROM delayed
), ${complete({
  verb: 'expire',
  of: 'overdue',
  where: `request.id = ANY (ARRAY (SELECT request_id FROM overdue))
    AND request.id BETWEEN (SELECT min(request_id::text)::uuid FROM overdue)
      AND (SELECT max(request_id::text)::uuid FROM overdue)`,
  set: { outcome: `'expired'`, completed_at: 'clock_timestamp()', error: '$1::json' },
  returning: [
    'request.model_id',
    'request.api_key_id',
    'request.priority',
    'request.virtual_start',
    'request.seq',
    'request.failed_attempts',
    'request.lost_attempts',
  ],
})}
SELECT id, ${entryColumns}, ${runsColumn} FROM completed`;

export function expire(database: Database, error: RequestError): Promise<Expired[]> {
  return database.query(expireWaiting, [JSON.stringify(error)]);
}
