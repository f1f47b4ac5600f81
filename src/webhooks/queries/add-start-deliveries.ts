import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { deliveryId, hostOfUrl } from '../outbox.js';
import { startedType } from '../webhook-events.js';

/*
 * Purpose: adds a delivery for each of the started requests that names a URL for that.
 * Race: a request may have ended meanwhile. Its webhook says only that it has started, and the end has another one. A
 *   start that is published twice has one delivery.
 * Index: request_pkey, in the days that hold open requests.
 */
const addStatement = statement(
  'add_start_deliveries',
)`INSERT INTO webhook_delivery (id, event, request_id, api_key_id, url, host)
SELECT ${deliveryId(`'${startedType}'`, 'id', 'attempt', 'url')}, '${startedType}', id, api_key_id, url, ${hostOfUrl}
FROM (
  SELECT id, api_key_id, attempt, start_webhook_url AS url
  FROM recent_request
  WHERE id = ANY ($1::uuid[]) AND start_webhook_url IS NOT NULL
) AS started
ON CONFLICT DO NOTHING
RETURNING id`;

/** Returns whether there is any. */
export async function addStartDeliveries(
  database: Database,
  requestIds: readonly string[],
): Promise<boolean> {
  return (await database.query(addStatement, [uuidArray(requestIds)])).length > 0;
}
