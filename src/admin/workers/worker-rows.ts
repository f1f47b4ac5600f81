import type { EntityManager } from 'typeorm';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/** An operator's order to a worker: to run, to finish its runs, or to stop. It claims nothing after the last two. */
export type Told = 'run' | 'drain' | 'stop';

export interface WorkerRow {
  uid: string;
  keyId: string;
  keyName: string | null;
  id: string;
  name: string;
  version: string;
  labels: Record<string, string>;
  models: string[];
  /** The state that the worker itself reports. */
  state: string;
  told: Told;
  seenAt: Date;
  isSeen: boolean;
  running: number;
  failuresInRow: number;
  /** The time until which it claims nothing. */
  restsUntil: Date | null;
}

/** Workers are in the order of their names, and of their uids if the names are the same. */
export interface WorkerPlace {
  uid: string;
  name: string;
}

/** A worker that was silent for this long is away; `count_workers` uses the same time. */
const awayAfter = `interval '30 seconds'`;

/*
 * Purpose: lists the workers, with what each runs.
 * Race: none (read only).
 * Index: none for worker, which has a row for each worker seen within a week; lease_of_workers; api_key_pkey.
 */
const listStatement = statement('list_workers')`SELECT worker.uid, worker.api_key_id AS "keyId",
  api_key.name AS "keyName", worker.id, worker.name, worker.version, worker.labels, worker.models, worker.state,
  worker.told, worker.seen_at AS "seenAt", (worker.seen_at > now() - ${awayAfter} OR worker.claims_from > now()) IS true AS "isSeen",
  coalesce(run.running, 0)::integer AS running, worker.failures_in_row AS "failuresInRow",
  CASE WHEN worker.claims_from > now() THEN worker.claims_from END AS "restsUntil"
FROM worker
LEFT JOIN api_key ON api_key.id = worker.api_key_id
LEFT JOIN (SELECT worker_id, count(*) AS running FROM lease WHERE worker_id IS NOT NULL GROUP BY worker_id) AS run
  ON run.worker_id = worker.uid
WHERE (worker.name, worker.uid) > ($1::text, $2::uuid)
ORDER BY worker.name, worker.uid
LIMIT $3::integer`;

export function listWorkers(database: Database, after: WorkerPlace, limit: number): Promise<WorkerRow[]> {
  return database.query<WorkerRow>(listStatement, [after.name, after.uid, limit]);
}

/** Returns what it was told before. undefined: there is no such worker. */
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
