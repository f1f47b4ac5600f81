import type { Database } from '../../database/database.js';

/**
 * SQL: the version of all keys and sessions. Every change gives another one, except the notes of their last use. It
 * begins with the number of changes. `xmin` differs if a failover has lost some changes and others have followed.
 */
export const keyChanges = `(SELECT count || ' ' || xmin FROM key_change)`;

/**
 * Returns the version of all keys and sessions.
 * Race: a change is counted in its own commit, under a lock of the only row. Two counts therefore differ if one of them
 * saw a change that the other did not.
 * Index: none, for one row.
 */
export async function countKeyChanges(database: Database): Promise<string> {
  return (await database.query<{ changes: string }>(statement))[0]!.changes;
}

const statement = { name: 'count_key_changes', text: `SELECT ${keyChanges} AS changes` };
