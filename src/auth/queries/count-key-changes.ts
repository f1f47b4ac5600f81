import type { Database } from '../../database/database.js';

/**
 * SQL: a text that differs after each change of a key or a session, apart from its last use. It begins with their
 * number. `xmin` is another if a failover has lost some changes and others have followed.
 */
export const keyChanges = `(SELECT count || ' ' || xmin FROM key_change)`;

/**
 * Returns that text.
 * Race: a change is counted in its own commit, under a lock of the only row. Two counts therefore differ if one of them
 * saw a change that the other did not.
 * Index: none, for one row.
 */
export async function countKeyChanges(database: Database): Promise<string> {
  return (await database.query<{ changes: string }>(statement))[0]!.changes;
}

const statement = { name: 'count_key_changes', text: `SELECT ${keyChanges} AS changes` };
