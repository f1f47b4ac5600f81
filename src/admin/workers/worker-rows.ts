import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { type Told, workerAwayMs } from '../../queue/cluster/controls.js';

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

const awayAfter = `interval '${String(workerAwayMs)} milliseconds'`;

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
