import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { RequestError } from '../request-errors.js';
import { complete } from '../completion.js';
import type { WaitingRequest } from './waiting.js';

/*
 * Purpose: completes requests of a model that waited too long, from the front of the queue.
 * Race: against claims and cancels: SKIP LOCKED leaves them what they hold, DELETE decides.
 * Index: queue_entry_pkey in its order. Only the first 1,000 are looked at, because what came first expires first;
 *   entries behind a longer deadline are found when they get there.
 */
const expireWaiting = statement('expire_waiting')`WITH front AS MATERIALIZED (
  SELECT model_id, priority, seq, request_id, expires_at FROM queue_entry
  WHERE model_id = $1::text
  ORDER BY model_id, priority, seq LIMIT 1000 FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM queue_entry AS entry USING front
  WHERE (entry.model_id, entry.priority, entry.seq) = (front.model_id, front.priority, front.seq)
    AND front.expires_at <= now()
  RETURNING entry.request_id
), delayed AS (
  DELETE FROM delayed_entry
  WHERE model_id = $1::text AND expires_at <= now()
  RETURNING request_id
), overdue AS (
  SELECT request_id FROM gone
  UNION ALL
  SELECT request_id FROM delayed
), ${complete({
  verb: 'expire',
  of: 'overdue',
  set: { outcome: `'expired'`, completed_at: 'clock_timestamp()', error: '$2::json' },
  returning: ['request.model_id', 'request.priority', 'request.seq'],
})}
SELECT id, model_id AS "modelId", priority, seq, attempt FROM completed`;

export function expire(database: Database, modelId: string, error: RequestError): Promise<WaitingRequest[]> {
  return database.query(expireWaiting, [modelId, JSON.stringify(error)]);
}
