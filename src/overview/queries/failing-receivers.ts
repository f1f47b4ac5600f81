import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/** At most this many hosts with something pending are looked at, and at most this many deliveries of each. */
const maxHosts = 500;
const maxDeliveries = 50;

/*
 * Purpose: finds for how long the receiver that has failed longest has taken no delivery. The time begins when the
 *   first of its deliveries that were tried in vain was made, or with the end of the hour of its last success. A
 *   receiver is an endpoint of a key, or a host of URLs that requests named, as in `receiver_activity`.
 * Race: none (read only).
 * Index: webhook_delivery_pending, one look for each host with something pending, then its last deliveries. These were
 *   tried most often, because the pauses grow. receiver_activity_pkey for each receiver.
 */
const failingStatement = statement('failing_receivers')`WITH RECURSIVE head AS (
  (SELECT host FROM webhook_delivery WHERE state = 'pending' ORDER BY host LIMIT 1)
  UNION ALL
  SELECT next.host
  FROM head
  CROSS JOIN LATERAL (
    SELECT host FROM webhook_delivery WHERE state = 'pending' AND host > head.host ORDER BY host LIMIT 1
  ) AS next
), failing AS (
  SELECT tried.endpoint_id, named.host, min(tried.created_at) AS since
  FROM (SELECT host FROM head LIMIT ${String(maxHosts)}) AS named
  CROSS JOIN LATERAL (
    SELECT endpoint_id, created_at, step FROM webhook_delivery
    WHERE state = 'pending' AND host = named.host
    ORDER BY host DESC, next_try_at DESC LIMIT ${String(maxDeliveries)}
  ) AS tried
  WHERE tried.step > 0
  GROUP BY 1, 2
)
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(greatest(failing.since, delivered.until))), 0)::float8 AS seconds
FROM failing
LEFT JOIN LATERAL (
  SELECT hour + interval '1 hour' AS until FROM receiver_activity AS activity
  WHERE activity.endpoint_id = coalesce(failing.endpoint_id, '00000000-0000-0000-0000-000000000000')
    AND activity.host = CASE WHEN failing.endpoint_id IS NULL THEN failing.host ELSE '' END
    AND activity.delivered > 0 AND activity.hour >= date_trunc('hour', failing.since, 'UTC')
  ORDER BY hour DESC LIMIT 1
) AS delivered ON true`;

/** Returns 0 if every receiver takes its deliveries. */
export async function readFailingSeconds(database: Database): Promise<number> {
  const [row] = await database.query<{ seconds: number }>(failingStatement);
  return Math.max(0, row!.seconds);
}
