import type { Database } from '../../../database/database.js';
import { type Statement, statement } from '../../../database/statement.js';

interface Lease {
  id: string;
  token: string;
}

/*
 * Purpose: moves the deadline of a run that has only to store its result, so that no rescue takes the result from a node
 *   that lives. The leases of a lost node are taken all the same. An hour is longer than most outages of a database.
 * Race: the row lock puts this before or after a rescue. After one, the token is gone and nothing changes.
 * Index: lease_pkey. The update is HOT.
 */
const keepStatement = statement(
  'keep_lease',
)`UPDATE lease SET deadline_at = clock_timestamp() + interval '1 hour'
WHERE request_id = $1::uuid AND token = $2::uuid
RETURNING request_id`;

/* Purpose: returns whether a run holds its lease. Race: none (read only). Index: lease_pkey. */
const readStatement = statement('read_lease')`SELECT request_id FROM lease
WHERE request_id = $1::uuid AND token = $2::uuid`;

/** Returns whether the run still held its lease. */
export const keepLease = (database: Database, lease: Lease): Promise<boolean> =>
  isFound(database, keepStatement, lease);

export const holdsLease = (database: Database, lease: Lease): Promise<boolean> =>
  isFound(database, readStatement, lease);

async function isFound(database: Database, sql: Statement, { id, token }: Lease): Promise<boolean> {
  return (await database.query(sql, [id, token])).length > 0;
}
