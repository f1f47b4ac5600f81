import type { TransitionHook } from '../queue/transition-hooks.js';

/**
 * SQL for the host of a URL as most are written. All other URLs have an empty host and take turns together. Nothing
 * else may be taken for a host, because a dead receiver could be put into the turns of another. There is no regular
 * expression, because it took a third of the time of the insert.
 */
export const hostOfUrl = `CASE WHEN starts_with(url, 'https://') OR starts_with(url, 'http://')
    THEN split_part(translate(lower(url COLLATE "C"), '?#', '//'), '/', 3) ELSE '' END`;

/**
 * Adds one delivery for the URL that a request names and one for each endpoint of its key, in the commit that completes
 * it. Without either, it costs one look into an index of the endpoints.
 */
export const outbox: TransitionHook = {
  name: 'webhook',
  on: 'request.completed',
  sql: (changed) => `INSERT INTO webhook_delivery (id, request_id, api_key_id, endpoint_id, url, host)
  SELECT gen_random_uuid(), request_id, api_key_id, endpoint_id, url, ${hostOfUrl}
  FROM (
    SELECT id AS request_id, api_key_id, NULL::uuid AS endpoint_id, webhook_url AS url
    FROM ${changed}
    WHERE webhook_url IS NOT NULL
    UNION ALL
    SELECT changed.id, changed.api_key_id, endpoint.id, endpoint.url
    FROM ${changed} AS changed
    JOIN webhook_endpoint AS endpoint ON endpoint.api_key_id = changed.api_key_id
    WHERE endpoint.disabled_at IS NULL AND endpoint.url IS DISTINCT FROM changed.webhook_url
  ) AS receiver`,
};
