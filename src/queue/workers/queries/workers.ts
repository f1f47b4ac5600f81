import type { EntityManager } from 'typeorm';
import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';

/** The instruction to a worker: `run`: continue; `drain`: end the runs it has; `stop`: claim nothing any more. */
export type Told = 'run' | 'drain' | 'stop';

/** A worker's report on itself. Fields that are left out stay as they were. */
export interface WorkerReport {
  id: string;
  name?: string | undefined;
  version?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  /** The models whose runs it claims. */
  models?: readonly string[] | undefined;
  state?: string | undefined;
}

export interface WorkerWrite extends WorkerReport {
  uid: string;
  keyId: string;
  /** True: it was given a run. */
  hasRun: boolean;
  /** Milliseconds since it was last known to be present. */
  seenAgoMs: number;
}

/** The ends of a worker's runs since the last write. */
export interface WorkerEnds {
  uid: string;
  succeeded: boolean;
  /** Failures after the last success. */
  failures: number;
  /** Milliseconds since the last failure. */
  failedAgoMs: number;
}

export interface WorkerState {
  uid: string;
  told: Told;
  /** As the worker reported it last, to any node. */
  state: string;
  failuresInRow: number;
  /** Milliseconds until it may claim again; null: it may claim now. */
  restsMs: number | null;
}

/** Failures in a row. From then on a worker rests before each claim, twice as long each time. */
const maxFailuresInRow = 5;
const maxRestSeconds = 60;
/**
 * A rest ends this much sooner than announced, so that a worker that waits for the announced time is served even if
 * clocks and writes lag.
 */
const restMarginMs = 250;

/** The rest before the next claim; `count_worker_ends` computes the same. */
export function restAfterMs(failuresInRow: number): number {
  const over = failuresInRow - maxFailuresInRow;
  return over < 0 ? 0 : Math.min(maxRestSeconds, 2 ** Math.min(over, 10)) * 1_000 - restMarginMs;
}

/*
 * Purpose: writes what this node knows of its workers, and keeps the names of those that were given a run for the
 *   history.
 * Race: two nodes may write one worker: what it reported last stays. Rows are taken in the order of their uids, so
 *   that two of these statements never deadlock.
 * Index: worker_pkey, node_name_pkey.
 */
const writeStatement = statement('write_workers')`WITH said AS (
  SELECT *
  FROM jsonb_to_recordset($1::jsonb) AS said (uid uuid, "keyId" uuid, id text, name text, version text, labels jsonb,
    models jsonb, state text, "hasRun" boolean, "seenAgoMs" float8)
), named AS (
  INSERT INTO node_name AS known (id, name)
  SELECT said.uid, coalesce(said.name, said.id)
  FROM said
  LEFT JOIN node_name AS before ON before.id = said.uid
  WHERE said."hasRun" AND (before.id IS NULL OR said.name <> before.name)
  ORDER BY said.uid
  ON CONFLICT (id) DO UPDATE SET name = excluded.name
)
INSERT INTO worker AS known
  (uid, api_key_id, id, name, version, labels, models, state, seen_at)
SELECT said.uid, "keyId", said.id, coalesce(said.name, before.name, said.id),
       coalesce(said.version, before.version, ''), coalesce(said.labels, before.labels, '{}'),
       coalesce(
         (SELECT array_agg(model_id) FROM jsonb_array_elements_text(said.models) AS model_id),
         before.models,
         '{}'
       ),
       coalesce(said.state, before.state, ''), clock_timestamp() - "seenAgoMs" * interval '1 millisecond'
FROM said
LEFT JOIN worker AS before ON before.uid = said.uid
ORDER BY said.uid
ON CONFLICT (uid) DO UPDATE
SET name = excluded.name,
    version = excluded.version,
    labels = excluded.labels,
    models = excluded.models,
    state = excluded.state,
    seen_at = greatest(known.seen_at, excluded.seen_at)`;

export async function writeWorkers(database: Database, workers: readonly WorkerWrite[]): Promise<void> {
  await database.query(writeStatement, [JSON.stringify(workers)]);
}

/*
 * Purpose: counts failures in a row, on all nodes, and lets a worker with too many of them rest, from the last
 *   failure on.
 * Race: counts are added under the row's lock; rows are locked in the order of their uids.
 * Index: worker_pkey.
 */
const countEndsStatement = statement('count_worker_ends')`WITH ended AS MATERIALIZED (
  SELECT worker.uid, CASE WHEN ended.succeeded THEN 0 ELSE worker.failures_in_row END + ended.failures AS failures,
         ended.failures > 0 AS has_failed, clock_timestamp() - "failedAgoMs" * interval '1 millisecond' AS failed_at
  FROM jsonb_to_recordset($1::jsonb)
    AS ended (uid uuid, succeeded boolean, failures integer, "failedAgoMs" float8)
  JOIN worker ON worker.uid = ended.uid
  WHERE ended.failures > 0 OR worker.failures_in_row > 0
  ORDER BY worker.uid FOR UPDATE OF worker
)
UPDATE worker
SET failures_in_row = ended.failures,
    claims_from = CASE
      WHEN ended.failures < ${String(maxFailuresInRow)} THEN NULL
      WHEN has_failed THEN greatest(claims_from, failed_at + least(
        ${String(maxRestSeconds)}, 2 ^ least(ended.failures - ${String(maxFailuresInRow)}, 10)
      ) * interval '1 second' - interval '${String(restMarginMs)} milliseconds')
      ELSE claims_from
    END
FROM ended
WHERE worker.uid = ended.uid`;

export async function countEnds(database: Database, ends: readonly WorkerEnds[]): Promise<void> {
  await database.query(countEndsStatement, [JSON.stringify(ends)]);
}

const readStatement = statement('read_workers')`SELECT uid, told, state, failures_in_row AS "failuresInRow",
  extract(epoch FROM claims_from - clock_timestamp())::float8 * 1000 AS "restsMs"
FROM worker
WHERE uid = ANY ($1::uuid[])`;

export function readWorkers(database: Database, uids: readonly string[]): Promise<WorkerState[]> {
  return database.query(readStatement, [uids]);
}

/**
 * A worker that has not called for this long is away. A worker that waits for runs or has some is written again every
 * 15 to 19 s. A resting worker may stay away for up to a minute.
 */
export const workerAwayMs = 30_000;

/** A worker that reports one of these states claims nothing: it ends its runs, or a handler does not return. */
export const notClaiming: readonly string[] = ['drain', 'stuck'];

const countStatement = statement('count_workers')`SELECT model_id AS "modelId", count(*)::integer AS workers
FROM worker, unnest(models) AS model_id
WHERE (seen_at > clock_timestamp() - interval '${String(workerAwayMs)} milliseconds' OR claims_from > clock_timestamp())
  AND told = 'run' AND state NOT IN (${notClaiming.map((state) => `'${state}'`).join(', ')})
GROUP BY model_id`;

/** Returns how many workers claim runs of each model, on all nodes. */
export async function countWorkers(database: Database): Promise<Map<string, number>> {
  const rows = await database.query<{ modelId: string; workers: number }>(countStatement);
  return new Map(rows.map(({ modelId, workers }) => [modelId, workers]));
}

const forgetStatement = statement('forget_workers')`DELETE FROM worker
WHERE (told = 'run' AND uid = $1::uuid) OR seen_at < clock_timestamp() - interval '7 days'`;

/*
 * Purpose: deletes workers that come and go under one key, but for the newest; workers that are there always stay.
 * Race: none; a missing row is written again by the next call of its worker.
 * Index: worker_id_is_unique_for_its_key.
 */
const trimStatement = statement('trim_workers')`DELETE FROM worker
WHERE uid = ANY (ARRAY (
  SELECT uid
  FROM (
    SELECT uid, seen_at, row_number() OVER (PARTITION BY api_key_id ORDER BY seen_at DESC) AS number
    FROM worker
    WHERE api_key_id = ANY ($1::uuid[]) AND told = 'run'
  ) AS of_key
  WHERE number > $2::integer AND seen_at < clock_timestamp() - interval '60 seconds'
))`;

export async function trimWorkers(
  database: Database,
  keyIds: readonly string[],
  maxOfKey: number,
): Promise<void> {
  await database.query(trimStatement, [keyIds, maxOfKey]);
}

/** Longer than requests are kept whose runs refer to these names. */
const forgetNames = statement('forget_node_names')`DELETE FROM node_name
WHERE since < now() - interval '400 days'
  AND NOT EXISTS (SELECT FROM worker WHERE worker.uid = node_name.id)
  AND NOT EXISTS (SELECT FROM node WHERE node.id = node_name.id)`;

/**
 * Deletes a worker that leaves, unless an order of an operator must still hold when it returns. Also deletes workers
 * that left long ago.
 */
export async function forgetWorkers(database: Database, uid: string | null): Promise<void> {
  await database.query(forgetStatement, [uid]);
  if (uid === null) await database.query(forgetNames);
}

/** Returns the order that the worker had before. undefined: there is no such worker. */
export async function tellWorker(
  manager: EntityManager,
  uid: string,
  told: Told,
): Promise<{ name: string; before: Told } | undefined> {
  const [known] = await manager.query<{ name: string; before: Told }[]>(
    'SELECT name, told AS before FROM worker WHERE uid = $1::uuid FOR UPDATE',
    [uid],
  );
  if (known !== undefined)
    await manager.query('UPDATE worker SET told = $2::text WHERE uid = $1::uuid', [uid, told]);
  return known;
}
