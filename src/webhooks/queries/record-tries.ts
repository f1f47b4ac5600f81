import type { Database } from '../../database/database.js';
import { columnsOf, statement } from '../../database/statement.js';
import type { DeliveryState, WebhookTry } from '../entities/webhook-delivery.entity.js';

export interface DeliveryKey {
  requestId: string;
  deliveryId: string;
}

export interface Tried extends DeliveryKey {
  state: DeliveryState;
  /** The number of tries of the plan that were made. */
  step: number;
  /** Milliseconds until the next try, if the delivery is pending. */
  nextInMs: number;
  entry: WebhookTry;
}

/** Stands in place of an endpoint for URLs that requests named. */
export const ofRequests = `'00000000-0000-0000-0000-000000000000'::uuid`;

/*
 * Purpose: writes the results of tries: the try, the state of the delivery, the hourly results of its receiver, and
 *   that an endpoint is gone (410). The answer of a URL that the endpoint no longer has does not count for that.
 * Race: a claim that ran out may belong to another node by now. Then nothing is written, and that node's try counts. An
 *   erasure locks the same row. The second of the two sees what the first wrote, so no body stays. Receivers are locked
 *   last, in the order of their key, so that two of these statements never deadlock.
 * Index: webhook_delivery_pkey, in its order, as an erasure; webhook_endpoint_pkey; receiver_activity_pkey.
 */
const recordStatement = statement('record_tries')`WITH moved AS (
  UPDATE webhook_delivery AS delivery
  SET state = tried.state, step = tried.step, claimed_by = NULL,
      next_try_at = clock_timestamp() + tried.next_in_ms * interval '1 millisecond',
      tries = array_append(
        delivery.tries[greatest(1, cardinality(delivery.tries) - 98):],
        CASE WHEN delivery.is_erased THEN tried.entry || '{"body": null}' ELSE tried.entry END
      )
  FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::smallint[], $6::float8[], $7::jsonb[])
    AS tried (request_id, delivery_id, state, step, next_in_ms, entry)
  WHERE delivery.request_id = tried.request_id AND delivery.id = tried.delivery_id AND delivery.claimed_by = $1::uuid
  RETURNING delivery.endpoint_id, delivery.url, delivery.host, delivery.state, tried.entry,
            tried.entry ->> 'status' AS status
), counted AS (
  INSERT INTO receiver_activity AS activity
    (endpoint_id, host, hour, delivered, given_up, failed_tries, last_try)
  SELECT coalesce(endpoint_id, ${ofRequests}), CASE WHEN endpoint_id IS NULL THEN host ELSE '' END,
         date_trunc('hour', now(), 'UTC'),
         count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state IN ('failed', 'ended')),
         count(*) FILTER (WHERE state <> 'delivered'),
         (array_agg(entry - 'body' ORDER BY entry ->> 'at' DESC))[1]
  FROM moved
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (endpoint_id, host, hour) DO UPDATE
  SET delivered = activity.delivered + excluded.delivered, given_up = activity.given_up + excluded.given_up,
      failed_tries = activity.failed_tries + excluded.failed_tries, last_try = excluded.last_try
)
UPDATE webhook_endpoint AS endpoint
SET disabled_at = clock_timestamp()
FROM moved
WHERE endpoint.id = moved.endpoint_id AND endpoint.url = moved.url AND moved.status = '410'
  AND endpoint.disabled_at IS NULL
RETURNING endpoint.id`;

const keyOf = ({ requestId, deliveryId }: DeliveryKey): string => `${requestId} ${deliveryId}`;

/** Returns the endpoints that were disabled. */
export function recordTries(
  database: Database,
  claimedBy: string,
  tries: readonly Tried[],
): Promise<{ id: string }[]> {
  const ordered = tries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return database.query<{ id: string }>(recordStatement, [
    claimedBy,
    ...columnsOf(ordered, 'requestId', 'deliveryId', 'state', 'step', 'nextInMs'),
    ordered.map(({ entry }) => JSON.stringify(entry)),
  ]);
}

/*
 * Purpose: gives back a delivery that this node claimed and did not send, so that another node may have it.
 * Race: as above.
 * Index: webhook_delivery_pkey.
 */
const releaseStatement = statement('release_delivery')`UPDATE webhook_delivery
SET claimed_by = NULL, next_try_at = now()
WHERE request_id = $2::uuid AND id = $3::uuid AND claimed_by = $1::uuid`;

export async function releaseDelivery(
  database: Database,
  claimedBy: string,
  { requestId, deliveryId }: DeliveryKey,
): Promise<void> {
  await database.query(releaseStatement, [claimedBy, requestId, deliveryId]);
}
