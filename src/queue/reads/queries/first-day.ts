import type { Queries } from '../../../database/statement.js';
import { statement } from '../../../database/statement.js';

/*
 * Purpose: reads the first day that has a table.
 * Race: a day that is being dropped may still be found, and is then read in vain.
 * Index: pg_inherits_parent_index; a row per day.
 */
const firstDayStatement = statement('first_day')`SELECT
  uuid_at(to_date(min(right(relname, 8)), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC') AS id
FROM pg_inherits
JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = 'request'::regclass`;

/** Returns the first id of that day. */
export async function firstDay(database: Queries): Promise<string> {
  return (await database.query<{ id: string }>(firstDayStatement))[0]!.id;
}
