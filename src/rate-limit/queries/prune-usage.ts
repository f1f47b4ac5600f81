import type { Database } from '../../database/database.js';

/**
 * Removes a batch of rows in which nothing counts any more; says how many.
 * Survives: an admission that revives a row. What is locked is stepped over, and a row that changed after
 * the snapshot is judged again once it is locked.
 * Index: rate_usage_pkey for the deletion; the idle are found by a scan once a minute, because an index on
 * idle_at would make every admission write to it.
 */
export async function pruneUsage(database: Database): Promise<number> {
  const [row] = await database.query<{ pruned: number }>(statement);
  return row!.pruned;
}

const statement = {
  name: 'prune_usage',
  text: `
    WITH idle AS MATERIALIZED (
      SELECT subject, route_class
      FROM rate_usage
      WHERE idle_at < clock_timestamp()
      LIMIT 5000
      FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM rate_usage u
      USING idle
      WHERE u.subject = idle.subject AND u.route_class = idle.route_class
      RETURNING 1
    )
    SELECT count(*)::integer AS pruned FROM gone`,
};
