import type { Database } from '../../database/database.js';
import { columnsOf, statement } from '../../database/statement.js';
import type { Counts } from '../tally.js';

export interface ActivityRow extends Counts {
  span: 'minute' | 'day';
  /** Milliseconds since 1970. */
  at: number;
  modelId: string;
}

/*
 * Purpose: adds the counts of a node to those of all nodes.
 * Race: two nodes add one after the other, because the rows are locked. They lock in one order, so they never deadlock.
 * Index: model_activity_pkey.
 */
const addStatement = statement('add_activity')`INSERT INTO model_activity AS known
  (span, at, model_id, started, completed, failed)
SELECT span, to_timestamp(at / 1000), model_id, started, completed, failed
FROM unnest($1::text[], $2::float8[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
  AS counted (span, at, model_id, started, completed, failed)
ORDER BY span, at, model_id
ON CONFLICT (span, at, model_id) DO UPDATE
SET started = known.started + excluded.started,
    completed = known.completed + excluded.completed,
    failed = known.failed + excluded.failed`;

export async function addActivity(database: Database, rows: readonly ActivityRow[]): Promise<void> {
  await database.query(addStatement, [
    ...columnsOf(rows, 'span', 'at', 'modelId', 'started', 'completed', 'failed'),
  ]);
}

/*
 * Purpose: reads the counts of minutes from one on, and of a day.
 * Race: none (read only).
 * Index: model_activity_pkey, a range of minutes and one day.
 */
const columns = `extract(epoch FROM at)::float8 * 1000 AS at, model_id AS "modelId", started, completed, failed`;
const readStatement = statement('read_activity')`SELECT span, ${columns}
FROM model_activity
WHERE span = 'minute' AND at >= to_timestamp($1::float8 / 1000)
UNION ALL
SELECT span, ${columns}
FROM model_activity
WHERE span = 'day' AND at = to_timestamp($2::float8 / 1000)`;

export function readActivity(database: Database, fromMs: number, dayMs: number): Promise<ActivityRow[]> {
  return database.query(readStatement, [fromMs, dayMs]);
}

/*
 * Purpose: deletes minutes that are not shown any more, and days older than 400 days.
 * Race: nodes may do it at once. The others do not find what one has deleted.
 * Index: model_activity_pkey.
 */
const pruneStatement = statement('prune_activity')`DELETE FROM model_activity
WHERE (span = 'minute' AND at < now() - interval '2 hours') OR (span = 'day' AND at < now() - interval '400 days')`;

export async function pruneActivity(database: Database): Promise<void> {
  await database.query(pruneStatement);
}
