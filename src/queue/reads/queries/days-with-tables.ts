import type { Queries } from '../../../database/statement.js';
import { statement } from '../../../database/statement.js';

/*
 * Purpose: reads the first and the last day that has a table.
 * Race: a day that is being dropped may still be found, and is then read in vain. No id has a day whose table is made
 *   later: tables are made days ahead.
 * Index: pg_inherits_parent_index; a row per day.
 */
const daysStatement = statement('days_with_tables')`SELECT
  uuid_at(to_date(min(day), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC') AS "firstId",
  uuid_at((to_date(max(day), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC') AS "endId"
FROM (
  SELECT right(relname, 8) AS day
  FROM pg_inherits
  JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'request'::regclass
) AS request`;

/** Returns the first id of the first day, and the first one after the last day. */
export async function daysWithTables(database: Queries): Promise<{ firstId: string; endId: string }> {
  return (await database.query<{ firstId: string; endId: string }>(daysStatement))[0]!;
}

/** Returns the first id of the first day. */
export async function firstDay(database: Queries): Promise<string> {
  return (await daysWithTables(database)).firstId;
}
