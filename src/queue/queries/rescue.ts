import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { QueueKey } from '../waiting/queue-key.js';
import type { RequestError } from '../request-errors.js';

export interface Rescued extends QueueKey {
  id: string;
  attempt: number;
  /** False: it was ended, because its nodes were lost too often, it was to be cancelled, or its time was over. */
  requeued: boolean;
}

export interface RescueOptions {
  nodeId: string;
  /** A node without a heartbeat for so long is given up. */
  lostAfterMs: number;
  /** A request that took so many nodes with it is not tried again. */
  lostLimit: number;
  nodeLost: RequestError;
  cancelled: RequestError;
}

/*
 * Purpose: gives up nodes that are silent, and their slots.
 * Race: several nodes may do it at once; a DELETE deletes a row once. A node that beats in the very moment
 *   holds its row's lock: its heartbeat is read again after the wait, and the row stays.
 * Index: none needed; node is a few rows.
 */
const giveUpStatement: Statement = {
  name: 'give_up_nodes',
  text: `DELETE FROM node
WHERE id <> $1::uuid
  AND heartbeat_at < clock_timestamp() - $2::float8 * interval '1 millisecond'`,
};

const dropGrants: Statement = {
  name: 'drop_grants',
  text: `DELETE FROM slot_grant
WHERE NOT EXISTS (SELECT FROM node WHERE node.id = slot_grant.node_id)
  AND NOT EXISTS (SELECT FROM lease WHERE lease.node_id = slot_grant.node_id)`,
};

/*
 * Purpose: takes the leases of lost nodes, and of runs far beyond their deadline, and decides on each request:
 *   back under its old key, or ended.
 * Race: SKIP LOCKED leaves a lease to the finish, log write or other rescuer that holds it; DELETE decides, and
 *   from then on every write of the old run is refused for want of its token.
 * Index: lease is scanned, it is as short as what is running; request_pkey, queue_entry_pkey.
 */
const rescueStatement: Statement = {
  name: 'rescue',
  text: `WITH orphan AS MATERIALIZED (
  SELECT request_id
  FROM lease
  WHERE NOT EXISTS (SELECT FROM node WHERE node.id = lease.node_id)
     OR deadline_at < clock_timestamp() - interval '30 seconds'
  LIMIT 500
  FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM lease
  USING orphan
  WHERE lease.request_id = orphan.request_id
  RETURNING lease.*, clock_timestamp() AS ended_at
), verdict AS (
  SELECT taken.*,
         CASE
           WHEN taken.cancel_requested_at IS NOT NULL THEN 'cancelled'
           WHEN request.lost_attempts + 1 >= $1::integer THEN 'failed'
         END AS outcome
  FROM taken
  JOIN request ON request.id = taken.request_id
), moved AS (
  UPDATE request
  SET state = CASE WHEN verdict.outcome IS NULL THEN 'IN_QUEUE' ELSE 'COMPLETED' END,
      outcome = verdict.outcome,
      completed_at = CASE WHEN verdict.outcome IS NOT NULL THEN verdict.ended_at END,
      error = CASE verdict.outcome WHEN 'failed' THEN $2::json WHEN 'cancelled' THEN $3::json END,
      lost_attempts = lost_attempts + 1,
      inference_ms = extract(epoch FROM verdict.ended_at - verdict.started_at) * 1000
  FROM verdict
  WHERE request.id = verdict.request_id
    AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.model_id, request.priority, request.seq, request.attempt, request.expires_at,
            request.state
), waiting AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, attempt, expires_at)
  SELECT model_id, priority, seq, id, attempt, expires_at
  FROM moved
  WHERE state = 'IN_QUEUE'
), recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome, error_code, error_message)
  SELECT request_id, attempt, node_id, started_at, ended_at, 'lost', 'node_lost', 'The node that ran it was lost.'
  FROM verdict
  WHERE request_id IN (SELECT id FROM moved)
), event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT id, CASE WHEN state = 'IN_QUEUE' THEN 'requeued' ELSE 'completed' END, attempt
  FROM moved
)
SELECT id, model_id AS "modelId", priority, seq, attempt, state = 'IN_QUEUE' AS requeued
FROM moved`,
};

export async function rescue(database: Database, options: RescueOptions): Promise<Rescued[]> {
  await database.query(giveUpStatement, [options.nodeId, options.lostAfterMs]);
  const rescued = await database.query<Rescued>(rescueStatement, [
    options.lostLimit,
    JSON.stringify(options.nodeLost),
    JSON.stringify(options.cancelled),
  ]);
  await database.query(dropGrants);
  return rescued;
}
