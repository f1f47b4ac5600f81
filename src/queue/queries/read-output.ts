import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';

/*
 * Purpose: the output of a succeeded request, as the text that the model sent.
 * Race: none; a completed request does not change.
 * Index: request_pkey.
 */
const readOutputStatement: Statement = {
  name: 'read_output',
  text: `SELECT output::text AS output
FROM request
WHERE id = $1::uuid`,
};

/** JSON text; null when there is none. */
export async function readOutput(database: Database, requestId: string): Promise<string | null> {
  const [row] = await database.query<{ output: string | null }>(readOutputStatement, [requestId]);
  return row?.output ?? null;
}
