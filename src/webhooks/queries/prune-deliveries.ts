import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/*
 * Purpose: deletes deliveries whose requests or batches retention has deleted, some at a time.
 * Race: no delivery is made for a request that is gone. A delivery that is being tried finds no row to write to.
 * Index: webhook_delivery_pkey from the oldest on, request_pkey, batch_pkey.
 */
const pruneStatement = statement('prune_deliveries')`WITH gone AS MATERIALIZED (
  SELECT request_id, id FROM webhook_delivery AS delivery
  WHERE request_id < uuid_at(now() - $1::float8 * interval '1 millisecond')
    AND NOT EXISTS (SELECT FROM request WHERE request.id = delivery.request_id)
    AND NOT EXISTS (SELECT FROM batch WHERE batch.id = delivery.request_id)
  ORDER BY request_id LIMIT 1000
)
DELETE FROM webhook_delivery AS delivery USING gone
WHERE delivery.request_id = gone.request_id AND delivery.id = gone.id
RETURNING delivery.id`;

/** Returns how many were deleted; 0: there are no more. */
export async function pruneDeliveries(database: Database, retentionMs: number): Promise<number> {
  return (await database.query(pruneStatement, [retentionMs])).length;
}

/*
 * Purpose: deletes the hourly results of receivers after some days.
 * Race: none, because hours that old are not written any more.
 * Index: receiver_activity_by_hour.
 */
const pruneHours = statement('prune_receiver_activity')`DELETE FROM receiver_activity
WHERE hour < now() - interval '8 days'`;

export async function pruneReceiverActivity(database: Database): Promise<void> {
  await database.query(pruneHours);
}
