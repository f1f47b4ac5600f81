import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { dropPartition } from './retention.js';

const ensureStatement = statement('ensure_output_partitions')`SELECT ensure_output_partitions(now()) AS made`;

/** Creates the partitions that the next hour needs. Returns how many were missing. */
export async function makeOutputPartitions(database: Database): Promise<number> {
  const [row] = await database.query<{ made: number }>(ensureStatement);
  return row!.made;
}

/*
 * Purpose: finds partitions of ten minutes of output that no reader needs any more. They ended ten minutes ago, and
 *   before the start of each run in progress, whose output is made of its parts at its end.
 * Race: a run that starts now writes no rows into them.
 * Index: the system catalogue; lease has one row per run in progress.
 */
const droppableStatement = statement('droppable_output')`WITH part AS (
  SELECT relname AS name,
         regexp_replace(right(relname, 12), '(.{8})(..)(..)', '\\1 \\2:\\3')::timestamp AT TIME ZONE 'UTC' AS start
  FROM pg_class
  WHERE relname ~ '^output_delta_[0-9]{12}$'
    AND relkind = 'r'
    AND relnamespace = current_schema()::regnamespace
)
SELECT name FROM part
WHERE start < clock_timestamp() - interval '20 minutes'
  AND NOT EXISTS (SELECT FROM lease WHERE lease.started_at < part.start + interval '10 minutes')
ORDER BY name`;

export async function dropOldOutput(database: Database): Promise<void> {
  for (const { name } of await database.query<{ name: string }>(droppableStatement))
    if (!(await dropPartition(database, 'output_delta', name))) return;
}
