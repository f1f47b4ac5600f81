import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { DeliveryState } from '../entities/webhook-delivery.entity.js';

export interface Tried {
  deliveryId: string;
  state: DeliveryState;
  /** Of the plan: how many of its tries were made. */
  step: number;
  /** Until the next one, if it is pending. */
  nextInMs: number;
  /** By the database's clock. */
  atMs: number;
  durationMs: number;
  /** null: no answer came, and `error` says why. */
  status: number | null;
  body: string | null;
  error: string | null;
}

/*
 * Purpose: writes what became of tries: the try, the delivery's state, and that an endpoint is gone (410).
 * Race: a claim that ran out may be another node's by now: then nothing is written, and that node's try counts.
 * Index: webhook_delivery_pkey, webhook_endpoint_pkey.
 */
const recordStatement = statement('record_tries')`WITH moved AS (
  UPDATE webhook_delivery AS delivery
  SET state = tried.state, step = tried.step, tries = delivery.tries + 1, claimed_by = NULL,
      next_try_at = clock_timestamp() + tried.next_in_ms * interval '1 millisecond'
  FROM unnest($2::uuid[], $3::text[], $4::smallint[], $5::float8[], $6::float8[], $7::integer[], $8::integer[],
              $9::text[], $10::text[])
    AS tried (delivery_id, state, step, next_in_ms, at_ms, duration_ms, status, body, error)
  WHERE delivery.id = tried.delivery_id AND delivery.claimed_by = $1::uuid
  RETURNING delivery.endpoint_id, delivery.tries, tried.delivery_id, tried.at_ms, tried.duration_ms, tried.status,
            tried.body, tried.error
), recorded AS (
  INSERT INTO webhook_try (delivery_id, number, at, status, duration_ms, body, error)
  SELECT delivery_id, tries, to_timestamp(at_ms / 1000), status, duration_ms, body, error FROM moved
)
UPDATE webhook_endpoint AS endpoint
SET disabled_at = clock_timestamp()
FROM moved
WHERE endpoint.id = moved.endpoint_id AND moved.status = 410 AND endpoint.disabled_at IS NULL
RETURNING endpoint.id`;

/** The endpoints that were disabled. */
export function recordTries(
  database: Database,
  claimedBy: string,
  tries: readonly Tried[],
): Promise<{ id: string }[]> {
  return database.query<{ id: string }>(recordStatement, [
    claimedBy,
    tries.map(({ deliveryId }) => deliveryId),
    tries.map(({ state }) => state),
    tries.map(({ step }) => step),
    tries.map(({ nextInMs }) => nextInMs),
    tries.map(({ atMs }) => atMs),
    tries.map(({ durationMs }) => durationMs),
    tries.map(({ status }) => status),
    tries.map(({ body }) => body),
    tries.map(({ error }) => error),
  ]);
}

/*
 * Purpose: lets another node have deliveries that this one claimed and did not send.
 * Race: as above.
 * Index: webhook_delivery_pkey.
 */
const releaseStatement = statement('release_deliveries')`UPDATE webhook_delivery AS delivery
SET claimed_by = NULL, next_try_at = now()
FROM unnest($2::uuid[]) AS released (id)
WHERE delivery.id = released.id AND delivery.claimed_by = $1::uuid`;

export async function releaseDeliveries(
  database: Database,
  claimedBy: string,
  ids: readonly string[],
): Promise<void> {
  await database.query(releaseStatement, [claimedBy, ids]);
}
