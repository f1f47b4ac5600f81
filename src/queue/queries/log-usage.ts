import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import { type LogUsage, logFullMessage } from '../runs/run-log.js';

/*
 * Purpose: how much of a request's log earlier attempts have used.
 * Race: none; only the run that holds the lease writes lines.
 * Index: request_event_pkey.
 */
const logUsageStatement: Statement = {
  name: 'log_usage',
  text: `SELECT count(*)::integer AS entries, coalesce(sum(octet_length(message)), 0)::integer AS bytes,
       coalesce(bool_or(source = 'queue' AND message = $2::text), false) AS "full"
FROM request_event
WHERE request_id = $1::uuid
  AND message IS NOT NULL`,
};

export async function logUsage(database: Database, requestId: string): Promise<LogUsage> {
  const [row] = await database.query<LogUsage>(logUsageStatement, [requestId, logFullMessage]);
  return row!;
}
