import type { Database } from '../../database/database.js';
import { columnsOf, statement } from '../../database/statement.js';

export interface KeyUseRow {
  keyId: string;
  /** The beginning of the day in UTC, in milliseconds since 1970. */
  day: number;
  submitted: number;
}

/*
 * Purpose: adds the counts of a node to those of all nodes.
 * Race: two nodes add one after the other, because the rows are locked. They lock in one order, so they never deadlock.
 * Index: key_use_pkey.
 */
const addStatement = statement('add_key_use')`INSERT INTO key_use AS known (api_key_id, day, submitted)
SELECT key_id, (to_timestamp(day / 1000) AT TIME ZONE 'UTC')::date, submitted
FROM unnest($1::uuid[], $2::float8[], $3::bigint[]) AS counted (key_id, day, submitted)
ORDER BY key_id, day
ON CONFLICT (api_key_id, day) DO UPDATE SET submitted = known.submitted + excluded.submitted`;

export async function addKeyUse(database: Database, rows: readonly KeyUseRow[]): Promise<void> {
  await database.query(addStatement, columnsOf(rows, 'keyId', 'day', 'submitted'));
}

/*
 * Purpose: deletes days older than 400 days.
 * Race: nodes may do it at once. The others do not find what one has deleted.
 * Index: none: the table has one row per key and day.
 */
const pruneStatement = statement('prune_key_use')`DELETE FROM key_use WHERE day < current_date - 400`;

export async function pruneKeyUse(database: Database): Promise<void> {
  await database.query(pruneStatement);
}
