import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';

/*
 * Purpose: leases of this node older than any claim that may still be under way.
 * Race: none; what is done about them is fenced on their tokens.
 * Index: lease is scanned, it is as short as what is running.
 */
const ownLeasesStatement: Statement = {
  name: 'own_leases',
  text: `SELECT request_id AS "requestId", token
FROM lease
WHERE node_id = $1::uuid
  AND started_at < clock_timestamp() - interval '12 seconds'`,
};

export async function ownLeases(
  database: Database,
  nodeId: string,
): Promise<{ requestId: string; token: string }[]> {
  return database.query(ownLeasesStatement, [nodeId]);
}
