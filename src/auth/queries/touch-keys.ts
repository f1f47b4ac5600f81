import type { Database } from '../../database/database.js';

/**
 * Notes that these keys were used, at most twice a minute for each over all nodes. Race: two nodes may touch the same
 * keys at once. The second skips the rows that the first has locked, so neither waits and they cannot deadlock. Index:
 * api_key_pkey.
 */
export async function touchKeys(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(statement, [ids]);
}

const statement = {
  name: 'touch_keys',
  text: `
    WITH due AS MATERIALIZED (
      SELECT id
      FROM api_key
      WHERE id = ANY ($1::uuid[])
        AND (last_used_at IS NULL OR last_used_at < now() - interval '30 seconds')
      FOR UPDATE SKIP LOCKED
    )
    UPDATE api_key k
    SET last_used_at = now()
    FROM due
    WHERE k.id = due.id`,
};
