import type { DataSource } from 'typeorm';
import { hostOfUrl } from '../outbox.js';
import type { WebhookTry } from '../entities/webhook-delivery.entity.js';
import type { WebhookEventType } from '../webhook-events.js';
import { ofRequests } from './record-tries.js';

/*
 * Reads what operators see of each receiver. The work of a page does not grow with history. It reads a day of hours for
 * each receiver, and a limited number of pending deliveries in total.
 * Race: none (read only).
 */

/** An endpoint of a key, or a host of URLs that requests named. */
export interface Receiver {
  /** null: the host is of URLs that requests named. */
  endpointId: string | null;
  url: string | null;
  host: string;
  keyId: string | null;
  keyName: string | null;
  /** The events that an endpoint gets. */
  events: WebhookEventType[] | null;
  disabledAt: Date | null;
  pending: number;
  isPendingExact: boolean;
  delivered: number;
  givenUp: number;
  failedTries: number;
  lastTry: Omit<WebhookTry, 'body'> | null;
  nextTryAt: Date | null;
}

/** At most this many pending deliveries are read for all hosts of a page together. */
const maxPendingLooks = 50_000;

/** Adds the results of a page of `receiver (endpoint_id, host, …)`; `of`: what its activity is stored under. */
const withActivity = (page: string, of: { endpoint: string; host: string; isOwn: string }): string => `
WITH RECURSIVE ${page}, host AS MATERIALIZED (
  SELECT host, ${maxPendingLooks} / count(*) OVER () AS room FROM (SELECT DISTINCT host FROM receiver) AS host
), pending AS MATERIALIZED (
  SELECT host.host, looked.endpoint_id, count(*) AS count, min(looked.next_try_at) AS next_try_at
  FROM host
  CROSS JOIN LATERAL (
    SELECT endpoint_id, next_try_at FROM webhook_delivery AS delivery
    WHERE state = 'pending' AND delivery.host = host.host ORDER BY delivery.host, delivery.api_key_id LIMIT host.room
  ) AS looked
  GROUP BY host.host, looked.endpoint_id
), whole AS MATERIALIZED (
  SELECT host.host, coalesce(sum(pending.count), 0) < max(host.room) AS is_exact
  FROM host LEFT JOIN pending USING (host) GROUP BY host.host
)
SELECT receiver.endpoint_id AS "endpointId", receiver.url, receiver.host, receiver.api_key_id AS "keyId",
       (SELECT name FROM api_key WHERE api_key.id = receiver.api_key_id) AS "keyName",
       receiver.events, receiver.disabled_at AS "disabledAt",
       coalesce(pending.count, 0)::integer AS pending, whole.is_exact AS "isPendingExact",
       coalesce(day.delivered, 0)::integer AS delivered, coalesce(day.given_up, 0)::integer AS "givenUp",
       coalesce(day.failed_tries, 0)::integer AS "failedTries",
       last.last_try AS "lastTry", pending.next_try_at AS "nextTryAt"
FROM receiver
JOIN whole ON whole.host = receiver.host
LEFT JOIN pending ON pending.host = receiver.host AND ${of.isOwn}
LEFT JOIN LATERAL (
  SELECT sum(delivered) AS delivered, sum(given_up) AS given_up, sum(failed_tries) AS failed_tries
  FROM receiver_activity AS activity
  WHERE activity.endpoint_id = ${of.endpoint} AND activity.host = ${of.host} AND hour > now() - interval '1 day'
) AS day ON true
LEFT JOIN LATERAL (
  SELECT last_try FROM receiver_activity AS activity
  WHERE activity.endpoint_id = ${of.endpoint} AND activity.host = ${of.host} ORDER BY hour DESC LIMIT 1
) AS last ON true`;

const endpointActivity = {
  endpoint: 'receiver.endpoint_id',
  host: `''`,
  isOwn: 'pending.endpoint_id = receiver.endpoint_id',
};
const endpointsBy = (where: string): string =>
  withActivity(
    `receiver AS MATERIALIZED (
  SELECT id AS endpoint_id, api_key_id, url, ${hostOfUrl} AS host, events, disabled_at FROM webhook_endpoint
  WHERE ${where}
)`,
    endpointActivity,
  );

/** Newest first. */
export function listEndpoints(source: DataSource, before: string, max: number): Promise<Receiver[]> {
  const text = `${endpointsBy('id < $1::uuid ORDER BY id DESC LIMIT $2::integer')} ORDER BY receiver.endpoint_id DESC`;
  return source.query(text, [before, max]);
}

export async function findEndpoint(source: DataSource, id: string): Promise<Receiver | undefined> {
  return (await source.query<Receiver[]>(endpointsBy('id = $1::uuid'), [id]))[0];
}

/** Returns hosts that were called in the last days, in the order of their names, with one index look for each. */
export function listHosts(source: DataSource, after: string | null, max: number): Promise<Receiver[]> {
  const next = (name: string): string =>
    `SELECT host FROM receiver_activity WHERE endpoint_id = ${ofRequests} AND ${name} ORDER BY host LIMIT 1`;
  const page = `named AS (
  (${next('($1::text IS NULL OR host > $1::text)')})
  UNION ALL
  SELECT next.host FROM named CROSS JOIN LATERAL (${next('host > named.host')}) AS next
), receiver AS MATERIALIZED (
  SELECT NULL::uuid AS endpoint_id, NULL::uuid AS api_key_id, NULL AS url, host, NULL::text[] AS events,
         NULL::timestamptz AS disabled_at
  FROM named LIMIT $2::integer
)`;
  const activity = { endpoint: ofRequests, host: 'receiver.host', isOwn: 'pending.endpoint_id IS NULL' };
  return source.query(`${withActivity(page, activity)} ORDER BY receiver.host`, [after, max]);
}
