import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { VirtualTime } from '../waiting-index.js';

/*
 * Purpose: reads how far the virtual time of each queue has come at least, by the current runs. A process without peers
 *   learns this from nothing else if no request waits.
 * Race: none (read only). Later starts reach the index as changes.
 * Index: request_pkey for each lease. LATERAL keeps the planner from reading all requests while it assumes few.
 */
const runningTimes = statement('running_times')`SELECT lease.model_id AS "modelId", request.priority,
  max(request.virtual_start) AS time
FROM lease
CROSS JOIN LATERAL (
  SELECT priority, virtual_start FROM recent_request WHERE id = lease.request_id LIMIT 1
) AS request
GROUP BY lease.model_id, request.priority`;

export function readRunningTimes(database: Database): Promise<VirtualTime[]> {
  return database.query(runningTimes);
}
