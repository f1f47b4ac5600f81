import type { Database } from '../../database/database.js';
import { statementOfDays } from '../../database/days.js';

/*
 * Purpose: reads the key of a request, and what its URLs begin with.
 * Race: none, because both are written once.
 * Index: request_pkey.
 */
const ownerStatement = statementOfDays(
  'read_owner',
  (within) => `SELECT api_key_id AS "keyId", base_url AS "baseUrl"
FROM request WHERE id = $1::uuid AND ${within('id')}`,
);

export interface Owner {
  keyId: string;
  /** null: none was recorded, so PUBLIC_BASE_URL or the node's own address applies. */
  baseUrl: string | null;
}

export async function readOwner(database: Database, requestId: string): Promise<Owner | undefined> {
  return (await database.query<Owner>(ownerStatement(requestId), [requestId]))[0];
}
