import type { Database } from '../../database/database.js';

/**
 * Returns how often a key or a session was changed, apart from its last use.
 * Race: a change is counted in its own commit, under a lock of the only row. Two counts therefore differ if one of them
 * saw a change that the other did not.
 * Index: none, for one row.
 */
export async function countKeyChanges(database: Database): Promise<number> {
  return (await database.query<{ count: number }>(statement))[0]!.count;
}

const statement = { name: 'count_key_changes', text: `SELECT count FROM key_change` };
