import type { TransitionHook } from '../queue/transition-hooks.js';
import type { HookedEvent } from '../queue/transition-hooks.js';
import { type WebhookEvent, webhookEvents } from './webhook-events.js';

/**
 * SQL for the host of a URL as most are written. All other URLs have an empty host and take turns together. No other
 * text may count as a host, because deliveries to a dead receiver could then take the turns of another. There is no
 * regular expression, because it took a third of the time of the insert. The text is cut, because an index refuses a
 * long one, and with it the statement that ends the request.
 */
export const hostOfUrl = `CASE WHEN starts_with(url, 'https://') OR starts_with(url, 'http://')
    THEN left(split_part(translate(lower(url COLLATE "C"), '?#', '//'), '/', 3), 255) ELSE '' END`;

/**
 * SQL for the id of a delivery. It depends only on what is delivered, so a receiver that had it before a restore knows
 * it again. It has the form of a UUID of version 8.
 */
export const deliveryId = (...parts: readonly string[]): string => `overlay(overlay(
    encode(substr(sha256(convert_to(concat_ws(' ', ${parts.join(', ')}), 'UTF8')), 1, 16), 'hex')
    PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid`;

/**
 * Returns the hook that adds one delivery for the URL that a request names and one for each endpoint of its key that
 * wants the event. Without either, it costs one look into an index of the endpoints.
 */
function hookOf(type: string, on: HookedEvent, isForRequestUrl = false): TransitionHook {
  const requestUrl = isForRequestUrl ? 'webhook_url' : 'NULL::text';
  return {
    name: `webhook_${type.replaceAll('.', '_')}`,
    on,
    sql: (changed) => `INSERT INTO webhook_delivery
    (id, event, request_id, api_key_id, endpoint_id, url, host)
  SELECT ${deliveryId(`'${type}'`, 'request_id', 'endpoint_id', 'url')}, '${type}', request_id, api_key_id, endpoint_id, url, ${hostOfUrl}
  FROM (
    SELECT id AS request_id, api_key_id, NULL::uuid AS endpoint_id, ${requestUrl} AS url
    FROM ${changed}
    WHERE ${requestUrl} IS NOT NULL
    UNION ALL
    SELECT changed.id, changed.api_key_id, endpoint.id, endpoint.url
    FROM ${changed} AS changed
    JOIN webhook_endpoint AS endpoint ON endpoint.api_key_id = changed.api_key_id
    WHERE endpoint.disabled_at IS NULL AND '${type}' = ANY (endpoint.events)
      AND endpoint.url IS DISTINCT FROM ${requestUrl}
  ) AS receiver`,
  };
}

/** The hooks that write the deliveries of every type of event that follows a change of state. */
export const outbox: readonly TransitionHook[] = Object.entries(webhookEvents).flatMap(
  ([type, { on, isForRequestUrl }]: [string, WebhookEvent]) =>
    on === undefined ? [] : hookOf(type, on, isForRequestUrl),
);
