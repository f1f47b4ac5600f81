import type { Database } from '../../database/database.js';
import { epochMs } from '../../database/epoch-ms.js';
import { columnsOf, statement } from '../../database/statement.js';
import { oldestWaiting } from '../../queue/reads/oldest-waiting.js';
import type { QueueKey } from '../../queue/waiting/waiting-index.js';

export interface NodeRow {
  id: string;
  name: string;
  role: 'all' | 'api' | 'scheduler';
  version: string | null;
  drainingSinceMs: number | null;
  isStopping: boolean;
  startedAtMs: number;
  heartbeatAtMs: number;
}

/** A node that was given up and is not back. */
export interface LostNodeRow extends Omit<NodeRow, 'drainingSinceMs' | 'isStopping'> {
  lostAtMs: number;
  /** The number of runs that it had, which other nodes have taken. */
  runs: number;
}

export interface CircuitRow {
  modelId: string;
  nodeId: string;
  address: string;
  reason: string;
  sinceMs: number;
  /** The time since which this node, or one before it, has found the model away without a break. */
  outageSinceMs: number;
  /** The node finds all addresses of the model away. */
  isAway: boolean;
  isProbing: boolean;
}

export interface OfModelAndNode {
  modelId: string;
  nodeId: string;
  count: number;
}

/** The slots of a node for a model; for one of a group, those that its models have together. */
export interface SlotsRow extends OfModelAndNode {
  /** null: the model's slots are its own. */
  groupId: string | null;
  groupSlots: number | null;
}

/** The runs of a key. */
export interface RunsOfKey {
  modelId: string;
  keyId: string;
  name: string | null;
  count: number;
  /** Those of them below high priority, and those below normal. */
  below: [number, number];
}

/** All times are milliseconds since 1970. */
export interface ClusterSnapshot {
  atMs: number;
  nodes: NodeRow[];
  /** Lost within the last hour, the latest first. */
  lost: LostNodeRow[];
  circuits: CircuitRow[];
  runs: OfModelAndNode[];
  slots: SlotsRow[];
  runsByKey: RunsOfKey[];
  /** Requests between two attempts, and those that wait for a time that their caller chose. */
  delayed: { modelId: string; retrying: number; scheduled: number }[];
  /** The time since which the oldest request of each queue waits. */
  oldest: { modelId: string; sinceMs: number }[];
  /** Batches that have not ended, by status. */
  batches: { status: string; count: number }[];
}

const list = (rows: string): string => `(SELECT coalesce(json_agg(row), '[]') FROM (${rows}) AS row)`;

/*
 * Purpose: reads all that a look at the cluster shows besides the memory of each process, as of one moment.
 * Race: none (read only).
 * Index: those of the tables of the moment, which are as long as what runs; node_name_lost; delayed_entry_by_ready_at,
 *   so that held requests are not read, of which there may be a million; queue_entry_pkey from the places on, as in
 *   oldest_waiting; batch_open.
 */
const snapshotStatement = statement('cluster_snapshot')`SELECT ${epochMs('clock_timestamp()')} AS "atMs",
${list(`SELECT id, name, role, version, ${epochMs('draining_since')} AS "drainingSinceMs",
  stopping_since IS NOT NULL AS "isStopping",
  ${epochMs('started_at')} AS "startedAtMs", ${epochMs('heartbeat_at')} AS "heartbeatAtMs"
  FROM node ORDER BY name, id`)} AS nodes,
(SELECT coalesce(jsonb_agg(row.node), '[]') FROM (
  SELECT lost_node || jsonb_build_object('id', id, 'name', name, 'lostAtMs', ${epochMs('lost_at')}) AS node FROM node_name
  WHERE lost_at > now() - interval '1 hour' AND NOT EXISTS (SELECT FROM node WHERE node.id = node_name.id)
  ORDER BY lost_at DESC LIMIT 50) AS row) AS lost,
${list(`SELECT model_id AS "modelId", node_id AS "nodeId", address, reason, ${epochMs('since')} AS "sinceMs",
  ${epochMs('outage_since')} AS "outageSinceMs", is_away AS "isAway", is_probing AS "isProbing"
  FROM circuit ORDER BY since`)} AS circuits,
${list(`SELECT model_id AS "modelId", node_id AS "nodeId", count(*) AS count FROM lease GROUP BY model_id, node_id`)} AS runs,
${list(`SELECT lease.model_id AS "modelId", api_key_id AS "keyId", name, count(*) AS count,
    json_build_array(count(*) FILTER (WHERE priority > -1), count(*) FILTER (WHERE priority > 0)) AS below
  FROM lease JOIN recent_request AS request ON request.id = lease.request_id LEFT JOIN api_key ON api_key.id = api_key_id
  GROUP BY lease.model_id, api_key_id, name`)} AS "runsByKey",
${list(`SELECT model_id AS "modelId", node_id AS "nodeId", slots AS count, group_id AS "groupId",
  group_concurrency AS "groupSlots"
  FROM slot_grant LEFT JOIN model ON model.id = slot_grant.model_id`)} AS slots,
${list(`SELECT model_id AS "modelId", count(*) FILTER (WHERE NOT is_scheduled) AS retrying,
    count(*) FILTER (WHERE is_scheduled) AS scheduled
  FROM delayed_entry WHERE ready_at < 'infinity' GROUP BY model_id`)} AS delayed,
${list(oldestWaiting)} AS oldest,
${list(`SELECT status, count(*) AS count FROM batch WHERE ended_at IS NULL GROUP BY status`)} AS batches`;

/** `places`: the queue keys of the requests that were submitted first, of each queue. */
export async function readClusterSnapshot(
  database: Database,
  places: readonly QueueKey[],
): Promise<ClusterSnapshot> {
  const [row] = await database.query<ClusterSnapshot>(snapshotStatement, [
    ...columnsOf(places, 'modelId', 'priority', 'start', 'seq'),
  ]);
  return row!;
}

/** The figures that an operator of the database should be warned by. */
export interface Upkeep {
  /** Days after today for which there are partitions. */
  partitionDaysAhead: number;
  /** The oldest transaction of this database that the service's role may see; 0: there is none. */
  oldestTransactionSeconds: number;
  pendingDeliveries: number;
}

/** At most this many pending deliveries are counted. */
const maxCounted = 100_000;

/*
 * Purpose: reads what to warn of before it does harm.
 * Race: none (read only).
 * Index: pg_inherits and pg_stat_activity are short; webhook_delivery_pending, as far as is counted.
 */
const upkeepStatement = statement('upkeep')`SELECT
  (SELECT coalesce(max(to_date(right(relname, 8), 'YYYYMMDD')) - (now() AT TIME ZONE 'UTC')::date, 0)
   FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
   WHERE inhparent = 'request'::regclass) AS "partitionDaysAhead",
  (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8
   FROM pg_stat_activity
   WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid())
    AS "oldestTransactionSeconds",
  (SELECT count(*)::integer
   FROM (SELECT FROM webhook_delivery WHERE state = 'pending' LIMIT ${String(maxCounted)}) AS pending)
    AS "pendingDeliveries"`;

export async function readUpkeep(database: Database): Promise<Upkeep> {
  return (await database.query<Upkeep>(upkeepStatement))[0]!;
}
