import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { Config } from '../../../config/config.js';

export interface Beat {
  /** False: the other nodes gave up this node, and all its runs with it. */
  known: boolean;
  /**
   * True: the heartbeat of another node is overdue, the node of a lease is gone, or a run of a node is 30 s past its
   * deadline.
   */
  hasLostNodes: boolean;
  /** True: leases of workers have expired, or their runs are past their deadlines. */
  hasOverdueLeases: boolean;
  nodes: string[];
  /** The nodes that run requests and are not draining. */
  schedulers: string[];
  /** Requests of this node's runs that were asked to stop. */
  cancelRequested: string[];
  /** Differs from the last text if operators have changed settings of models or nodes, or the bound of a key. */
  controls: string;
  /** Milliseconds since 1970, by the database's clock. */
  nowMs: number;
}

/*
 * Purpose: one round trip per process and beat. It marks the node as alive, and reads what a node must know.
 * Race: a node that was given up finds its row deleted. Its leases are taken by a later statement.
 * Index: node_pkey; node, lease and model are a few rows; api_key_by_bounded_at.
 */
const beatStatement = statement('heartbeat')`WITH beaten AS (
  UPDATE node SET heartbeat_at = clock_timestamp()
  WHERE id = $1::uuid
  RETURNING id
)
SELECT EXISTS (SELECT FROM beaten) AS known,
       EXISTS (SELECT FROM node WHERE id <> $1::uuid AND heartbeat_at < clock_timestamp() - $2::float8 * interval '1 millisecond')
         OR EXISTS (SELECT FROM lease WHERE worker_id IS NULL AND NOT EXISTS (SELECT FROM node WHERE node.id = lease.node_id))
         OR EXISTS (SELECT FROM lease WHERE worker_id IS NULL AND deadline_at < clock_timestamp() - interval '30 seconds')
         AS "hasLostNodes",
       EXISTS (SELECT FROM lease WHERE worker_id IS NOT NULL AND least(expires_at, deadline_at) < clock_timestamp())
         AS "hasOverdueLeases",
       ARRAY (SELECT id::text FROM node ORDER BY id) AS nodes,
       ARRAY (SELECT id::text FROM node WHERE role <> 'api' AND draining_since IS NULL ORDER BY id) AS schedulers,
       ARRAY (SELECT request_id::text FROM lease WHERE node_id = $1::uuid AND cancel_requested_at IS NOT NULL)
         AS "cancelRequested",
       concat_ws(
         ' ',
         (SELECT sum(hashtextextended(concat_ws(' ', id, paused, concurrency_override, concurrency, slot_round), 0))
          FROM model),
         (SELECT string_agg(id::text, ' ' ORDER BY id) FROM node WHERE draining_since IS NOT NULL),
         (SELECT max(bounded_at) FROM api_key)
       ) AS controls,
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`;

export async function beat(database: Database, nodeId: string, lostAfterMs: number): Promise<Beat> {
  const [row] = await database.query<Beat>(beatStatement, [nodeId, lostAfterMs]);
  return row!;
}

/*
 * Purpose: before the first beat of a process, skips the ids of events that a restored database has forgotten.
 * Race: nodes that start at once do it one after the other, and none of them has a run yet.
 * Index: node is a few rows; request_pkey from its end.
 */
const skipStatement = statement('skip_event_ids')`SELECT skip_event_ids() AS "lastSign"`;

/** Returns the last sign of a node; null: it is not longer ago than between two beats, or there is none. */
export async function skipEventIds(database: Database): Promise<Date | null> {
  return (await database.query<{ lastSign: Date | null }>(skipStatement))[0]!.lastSign;
}

const registerStatement = statement(
  'register_node',
)`INSERT INTO node (id, name, role, version, draining_since, stopping_since)
VALUES ($1::uuid, $2::text, $3::text, $4::text, CASE WHEN $5::boolean THEN clock_timestamp() END,
        CASE WHEN $6::boolean THEN clock_timestamp() END)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp()`;

export async function register(
  database: Database,
  node: {
    id: string;
    name: string;
    role: Config['role'];
    version: string;
    isDraining?: boolean;
    isStopping?: boolean;
  },
): Promise<void> {
  const { id, name, role, version, isDraining = false, isStopping = false } = node;
  await database.query(registerStatement, [id, name, role, version, isDraining, isStopping]);
}

/*
 * Purpose: marks a node as stopping. It starts nothing more, as if an operator had drained it, so the others take the
 *   slots that it gives back.
 * Race: an operator who lets it run again no longer changes this.
 * Index: node_pkey.
 */
const stopStatement = statement('stop_node')`UPDATE node
SET stopping_since = clock_timestamp(), draining_since = coalesce(draining_since, clock_timestamp())
WHERE id = $1::uuid`;

export async function announceStop(database: Database, nodeId: string): Promise<void> {
  await database.query(stopStatement, [nodeId]);
}

const leaveStatement = statement('leave_cluster')`WITH granted AS (
  DELETE FROM slot_grant WHERE node_id = $1::uuid
)
DELETE FROM node WHERE id = $1::uuid`;

/** Deletes the row and the slots of a node that stops in order. */
export async function leave(database: Database, nodeId: string): Promise<void> {
  await database.query(leaveStatement, [nodeId]);
}
