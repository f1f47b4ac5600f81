import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { firstOfPairs } from './pending-pairs.js';

/** At most this many pairs of host and key with something pending are looked at. */
const maxPairs = 10_000;
/** To find receivers that fail, at most this many pairs are read, of each host this many, and of each this many deliveries. */
const maxReadPairs = 1_000;
const maxReadPairsOfHost = 10;
const maxDeliveries = 50;

export interface DelaysOfDeliveries {
  /** Time since the first pending delivery could have been tried; 0: none is overdue. */
  overdueDeliverySeconds: number;
  /** How long the receiver that has failed longest has taken no delivery; 0: none fails. */
  failingReceiverSeconds: number;
}

/*
 * Purpose: finds for how long a delivery is overdue, and for how long the receiver that has failed longest has taken no
 *   delivery. That time begins when the first of its deliveries that were tried in vain was made, or with the end of the
 *   hour of its last success. A receiver is an endpoint of a key, or a host of URLs that requests named, as in
 *   `receiver_activity`.
 * Race: none (read only).
 * Index: webhook_delivery_pending, one look for each host and key with something pending, then the last deliveries of
 *   some. These were tried most often, because the pauses grow. Each look is by host and key, so that the index has the
 *   order, and a million deliveries to one host are not read. receiver_activity_pkey for each receiver.
 */
const delaysStatement = statement('delivery_delays')`WITH RECURSIVE ${firstOfPairs(maxPairs)}, failing AS (
  SELECT tried.endpoint_id, head.host, min(tried.created_at) AS since
  FROM (
    SELECT host, api_key_id
    FROM (SELECT host, api_key_id, row_number() OVER (PARTITION BY host ORDER BY api_key_id) AS of_host FROM head) AS head
    WHERE of_host <= ${String(maxReadPairsOfHost)} LIMIT ${String(maxReadPairs)}
  ) AS head
  CROSS JOIN LATERAL (
    SELECT endpoint_id, created_at, step FROM webhook_delivery
    WHERE state = 'pending' AND host = head.host AND api_key_id = head.api_key_id
    ORDER BY host DESC, api_key_id DESC, next_try_at DESC LIMIT ${String(maxDeliveries)}
  ) AS tried
  WHERE tried.step > 0
  GROUP BY 1, 2
), failed AS (
  SELECT min(greatest(failing.since, delivered.until)) AS since
  FROM failing
  LEFT JOIN LATERAL (
    SELECT hour + interval '1 hour' AS until FROM receiver_activity AS activity
    WHERE activity.endpoint_id = coalesce(failing.endpoint_id, '00000000-0000-0000-0000-000000000000')
      AND activity.host = CASE WHEN failing.endpoint_id IS NULL THEN failing.host ELSE '' END
      AND activity.delivered > 0 AND activity.hour >= date_trunc('hour', failing.since, 'UTC')
    ORDER BY hour DESC LIMIT 1
  ) AS delivered ON true
)
SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - (SELECT min(next_try_at) FROM head))), 0)::float8
         AS "overdueDeliverySeconds",
       coalesce(greatest(0, extract(epoch FROM clock_timestamp() - failed.since)), 0)::float8
         AS "failingReceiverSeconds"
FROM failed`;

export async function readDeliveryDelays(database: Database): Promise<DelaysOfDeliveries> {
  const [row] = await database.query<DelaysOfDeliveries>(delaysStatement);
  return row!;
}
