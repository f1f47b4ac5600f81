/**
 * SQL for a recursive expression `head`: what is due first for each pair of host and key with something pending, at most
 * `max` pairs. It makes one look into webhook_delivery_pending for each, however many deliveries they have. `condition`
 * applies to the first pair.
 */
export const firstOfPairs = (max: number, condition = ''): string => `head AS (
  (SELECT host, api_key_id, next_try_at, 1 AS number FROM webhook_delivery
   WHERE state = 'pending'${condition}
   ORDER BY host, api_key_id, next_try_at LIMIT 1)
  UNION ALL
  SELECT next.host, next.api_key_id, next.next_try_at, head.number + 1
  FROM head
  CROSS JOIN LATERAL (
    SELECT host, api_key_id, next_try_at FROM webhook_delivery
    WHERE state = 'pending' AND (host, api_key_id) > (head.host, head.api_key_id)
    ORDER BY host, api_key_id, next_try_at LIMIT 1
  ) AS next
  WHERE head.number < ${max}
)`;
