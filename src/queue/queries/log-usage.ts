import type { Database, Statement } from '../../database/database.js';

/*
 * Purpose: how much of a request's log earlier attempts have used.
 * Race: none; only the run that holds the lease writes lines.
 * Index: request_event_pkey.
 */
const logUsageStatement: Statement = {
  name: 'log_usage',
  text: `SELECT count(*)::integer AS entries, coalesce(sum(length(message)), 0)::integer AS characters
FROM request_event
WHERE request_id = $1::uuid
  AND message IS NOT NULL`,
};

export async function logUsage(
  database: Database,
  requestId: string,
): Promise<{ entries: number; characters: number }> {
  const [row] = await database.query<{ entries: number; characters: number }>(logUsageStatement, [requestId]);
  return row!;
}
