import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { RunContent } from '../entities/webhook-delivery.entity.js';
import { deliveryId, hostOfUrl } from '../outbox.js';
import { type EventType, startedType } from '../webhook-events.js';

/** An event of a run. */
export interface RunNews {
  requestId: string;
  event: EventType;
  content: RunContent;
}

/** Deliveries of one receiver about what a run emits are at least this long apart. */
const apart = `interval '500 milliseconds'`;
/** A receiver that has failed gets the next newer event within this time. */
const soon = `interval '5 seconds'`;

/** The URL that the request names for an event of its run. NULL: it names none. */
const ownUrl = (event: string): string =>
  `CASE WHEN ${event} = ANY (coalesce(request.run_webhook_events, '{${startedType}}'))
              THEN request.start_webhook_url END`;

const startId = deliveryId('event', 'request_id', 'attempt', `content ->> 'attempt'`, 'endpoint_id', 'url');

/*
 * Purpose: adds a delivery of each event for each of its receivers: the URL that the request names for it, and
 *   endpoints of its key. A start always has its own. A receiver has one row for all that a run emits: if it waits, or
 *   is over, it gets the new content under a new id. The newest event therefore always arrives, and a receiver that is
 *   down has one delivery.
 * Race: a request may have ended or started again meanwhile. Its webhook says what was known of the run, and a start
 *   names its own attempt. A row that is claimed is being sent: then there is another row. A start that is published
 *   twice has one delivery. Two nodes at once, as for a worker's run, may both add one.
 * Index: request_pkey, in the days that hold open requests; webhook_delivery_pkey; webhook_endpoint_url_is_unique.
 */
const addStatement = statement('add_run_deliveries')`WITH news AS MATERIALIZED (
  SELECT news.request_id, news.event, request.api_key_id, request.attempt, ${ownUrl('news.event')} AS own_url,
         jsonb_build_object('attempt', failed_attempts + lost_attempts + 1) || news.content AS content
  FROM unnest($1::uuid[], $2::text[], $3::jsonb[]) AS news (request_id, event, content)
  JOIN recent_request AS request ON request.id = news.request_id
), receiver AS MATERIALIZED (
  SELECT request_id, event, api_key_id, attempt, content, NULL::uuid AS endpoint_id, own_url AS url
  FROM news
  WHERE own_url IS NOT NULL
  UNION ALL
  SELECT news.request_id, news.event, news.api_key_id, news.attempt, news.content, endpoint.id, endpoint.url
  FROM news
  JOIN webhook_endpoint AS endpoint ON endpoint.api_key_id = news.api_key_id
  WHERE endpoint.disabled_at IS NULL AND news.event = ANY (endpoint.events)
    AND endpoint.url IS DISTINCT FROM news.own_url
), chosen AS MATERIALIZED (
  SELECT receiver.*, free.id AS free_id, greatest(clock_timestamp(), last.at + ${apart}) AS due
  FROM receiver
  LEFT JOIN LATERAL (
    SELECT max(created_at) AS at FROM webhook_delivery AS delivery
    WHERE delivery.request_id = receiver.request_id AND delivery.event = receiver.event
      AND delivery.url = receiver.url AND receiver.event <> '${startedType}'
  ) AS last ON true
  LEFT JOIN LATERAL (
    SELECT id FROM webhook_delivery AS delivery
    WHERE delivery.request_id = receiver.request_id AND delivery.event = receiver.event
      AND delivery.url = receiver.url AND receiver.event <> '${startedType}' AND delivery.claimed_by IS NULL
    ORDER BY delivery.state <> 'pending', delivery.created_at LIMIT 1
    FOR UPDATE SKIP LOCKED
  ) AS free ON true
), renewed AS (
  UPDATE webhook_delivery AS delivery
  SET content = chosen.content, state = 'pending', step = 0, tries = '{}',
      -- A receiver that has seen the id would ignore the new content. It may have seen it without a try in the row: a
      -- node that stops releases the deliveries that it is sending.
      id = gen_random_uuid(),
      next_try_at = CASE WHEN delivery.state = 'pending' THEN least(delivery.next_try_at, clock_timestamp() + ${soon})
                         ELSE chosen.due END,
      created_at = CASE WHEN delivery.state = 'pending' THEN delivery.created_at ELSE chosen.due END
  FROM chosen
  WHERE delivery.request_id = chosen.request_id AND delivery.id = chosen.free_id
  RETURNING delivery.id
), added AS (
  INSERT INTO webhook_delivery
    (id, event, request_id, api_key_id, endpoint_id, url, host, content, created_at, next_try_at)
  SELECT CASE WHEN event = '${startedType}' THEN ${startId} ELSE gen_random_uuid() END,
         event, request_id, api_key_id, endpoint_id, url, ${hostOfUrl}, content, due, due
  FROM chosen
  WHERE free_id IS NULL
  ON CONFLICT DO NOTHING
  RETURNING id
)
SELECT id FROM renewed
UNION ALL
SELECT id FROM added`;

/** At most one of each event and request, but any number of starts. Returns whether there is any delivery. */
export async function addRunDeliveries(database: Database, news: readonly RunNews[]): Promise<boolean> {
  const rows = await database.query(addStatement, [
    uuidArray(news.map(({ requestId }) => requestId)),
    news.map(({ event }) => event),
    news.map(({ content }) => JSON.stringify(content)),
  ]);
  return rows.length > 0;
}

/*
 * Purpose: finds the events of their runs that receivers of these requests want.
 * Race: an endpoint that is added later is found by a later look.
 * Index: request_pkey, in the days that hold open requests; webhook_endpoint_url_is_unique.
 */
const wantedStatement = statement('wanted_run_events')`SELECT request.id,
  CASE WHEN request.start_webhook_url IS NULL THEN '{}'
       ELSE coalesce(request.run_webhook_events, '{${startedType}}') END
  || ARRAY (
    SELECT unnest(endpoint.events) FROM webhook_endpoint AS endpoint
    WHERE endpoint.api_key_id = request.api_key_id AND endpoint.disabled_at IS NULL
  ) AS events
FROM recent_request AS request
WHERE request.id = ANY ($1::uuid[])`;

export async function wantedRunEvents(
  database: Database,
  requestIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const rows = await database.query<{ id: string; events: string[] }>(wantedStatement, [
    uuidArray(requestIds),
  ]);
  return new Map(rows.map(({ id, events }) => [id, new Set(events)]));
}

/*
 * Purpose: finds the events of runs that any endpoint wants.
 * Race: as above.
 * Index: none: there are few endpoints, and it runs at most every few seconds.
 */
const endpointStatement = statement('events_of_endpoints')`SELECT DISTINCT unnest(events) AS event
FROM webhook_endpoint
WHERE disabled_at IS NULL`;

export async function eventsOfEndpoints(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ event: string }>(endpointStatement);
  return new Set(rows.map(({ event }) => event));
}
