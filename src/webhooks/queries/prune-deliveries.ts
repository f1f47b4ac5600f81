import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/*
 * Purpose: removes deliveries whose requests retention has taken; some at a time.
 * Race: nobody makes a delivery for a request that is gone; one that is being tried finds no row to write to.
 * Index: webhook_delivery_pkey from the oldest on, request_pkey.
 */
const pruneStatement = statement('prune_deliveries')`WITH gone AS MATERIALIZED (
  SELECT request_id, id FROM webhook_delivery AS delivery
  WHERE request_id < uuid_at(now() - $1::float8 * interval '1 millisecond')
    AND NOT EXISTS (SELECT FROM request WHERE request.id = delivery.request_id)
  ORDER BY request_id LIMIT 1000
)
DELETE FROM webhook_delivery AS delivery USING gone
WHERE delivery.request_id = gone.request_id AND delivery.id = gone.id
RETURNING delivery.id`;

/** How many were removed; 0: there are no more. */
export async function pruneDeliveries(database: Database, retentionMs: number): Promise<number> {
  return (await database.query(pruneStatement, [retentionMs])).length;
}

/*
 * Purpose: forgets what the hours of receivers came to, after some days.
 * Race: none; what is that old is not written any more.
 * Index: receiver_activity_by_hour.
 */
const pruneHours = statement('prune_receiver_activity')`DELETE FROM receiver_activity
WHERE hour < now() - interval '8 days'`;

export async function pruneReceiverActivity(database: Database): Promise<void> {
  await database.query(pruneHours);
}
