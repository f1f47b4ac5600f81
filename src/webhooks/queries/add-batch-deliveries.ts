import { type Queries, statement } from '../../database/statement.js';
import { deliveryId, hostOfUrl } from '../outbox.js';
import { batchCompletedType } from '../webhook-events.js';

/*
 * Purpose: adds the deliveries of the end of a batch: for the URL that the batch names, and for the endpoints of its key
 *   that want the event.
 * Race: in the commit that ends the batch, which happens once.
 * Index: webhook_endpoint_url_is_unique, from the key on.
 */
const addStatement = statement(
  'add_batch_deliveries',
)`INSERT INTO webhook_delivery (id, event, request_id, api_key_id, endpoint_id, url, host)
SELECT ${deliveryId(`'${batchCompletedType}'`, '$1::uuid', 'endpoint_id', 'url')},
       '${batchCompletedType}', $1::uuid, $2::uuid, endpoint_id, url, ${hostOfUrl}
FROM (
  SELECT NULL::uuid AS endpoint_id, $3::text AS url
  WHERE $3::text IS NOT NULL
  UNION ALL
  SELECT id, url FROM webhook_endpoint
  WHERE api_key_id = $2::uuid AND disabled_at IS NULL AND '${batchCompletedType}' = ANY (events)
    AND url IS DISTINCT FROM $3::text
) AS receiver`;

export async function addBatchDeliveries(
  queries: Queries,
  { batchId, keyId, webhookUrl }: { batchId: string; keyId: string; webhookUrl: string | null },
): Promise<void> {
  await queries.query(addStatement, [batchId, keyId, webhookUrl]);
}
