import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface KeyUseRow {
  keyId: string;
  /** Its beginning in UTC, in milliseconds since 1970. */
  day: number;
  submitted: number;
}

/*
 * Purpose: adds what a node has counted to what all have.
 * Race: two nodes add one after the other, for the rows are locked; in one order, so that they never wait for each other.
 * Index: key_use_pkey.
 */
const addStatement = statement('add_key_use')`INSERT INTO key_use AS known (api_key_id, day, submitted)
SELECT key_id, (to_timestamp(day / 1000) AT TIME ZONE 'UTC')::date, submitted
FROM unnest($1::uuid[], $2::float8[], $3::bigint[]) AS counted (key_id, day, submitted)
ORDER BY key_id, day
ON CONFLICT (api_key_id, day) DO UPDATE SET submitted = known.submitted + excluded.submitted`;

export async function addKeyUse(database: Database, rows: readonly KeyUseRow[]): Promise<void> {
  await database.query(addStatement, [
    rows.map(({ keyId }) => keyId),
    rows.map(({ day }) => day),
    rows.map(({ submitted }) => submitted),
  ]);
}

/*
 * Purpose: removes days of a year ago.
 * Race: nodes do it at once; what one has removed the others do not find.
 * Index: none: a row a key and day.
 */
const pruneStatement = statement('prune_key_use')`DELETE FROM key_use WHERE day < current_date - 400`;

export async function pruneKeyUse(database: Database): Promise<void> {
  await database.query(pruneStatement);
}
