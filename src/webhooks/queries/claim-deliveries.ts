import type { Adapter } from '../../config/adapter.js';
import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { forStatements, statementOfDays } from '../../database/days.js';
import { columnsOf, statement } from '../../database/statement.js';
import { textUpTo } from '../../queue/reads/payload-text.js';
import { requestColumns } from '../../queue/reads/request-columns.js';
import type { RequestRow } from '../../queue/reads/status-row.js';
import type { RunContent } from '../entities/webhook-delivery.entity.js';
import { firstOfPairs } from './pending-pairs.js';

/** A delivery with the row of its request. */
export interface ClaimedDelivery extends RequestRow {
  deliveryId: string;
  requestId: string;
  /** True: the request is gone, so the columns of its row are null. So they are for an event of a batch. */
  isGone: boolean;
  /** True: an endpoint of the key gets it. Otherwise the request or the batch names the URL. */
  isOfEndpoint: boolean;
  /** The type of the event; it may be one of a later release. */
  event: string;
  /** The key whose secret signs it. */
  signedFor: string;
  url: string;
  host: string;
  step: number;
  /** null: the event is described by the row of its request. */
  content: RunContent | null;
  /** The base URL that its request was submitted to; null: it is unknown, or the request is gone. */
  baseUrl: string | null;
  /** The adapter whose form the body has; null: the service's own form, as always for an endpoint of the key. */
  adapter: Adapter | null;
  /** JSON text; null: there is none, it is larger than what is sent, or `readOutput` reads it. */
  output: string | null;
  traceparent: string | null;
  tracestate: string | null;
  /** The size on disk, where it may be compressed. 0: there is no output. */
  outputBytes: number;
}

export interface ClaimTerms {
  claimedBy: string;
  claimMs: number;
  maxOutputBytes: number;
  /** At most this many deliveries are taken: in total, and of hosts that are not known to answer. */
  limit: number;
  limitUnproven: number;
  /** The room of a host that is not listed. */
  roomOfOthers: number;
  hosts: readonly { host: string; room: number; answers: boolean }[];
  /** Keys with tries under way or in the past. `turn` is greater the later the last one began. */
  keys: readonly { keyId: string; running: number; runningUnproven: number; turn: number }[];
  /** This pair and those before it are not read. null: the claim reads from the first one on. */
  after: HostAndKey | null;
}

/** The deliveries of a key to a host. */
export interface HostAndKey {
  host: string;
  keyId: string;
}

export interface Claimed {
  deliveries: ClaimedDelivery[];
  /** The last pair that was read, if there may be more behind it. */
  after: HostAndKey | null;
}

/** One statement reads this many pairs at most, because a key may name any number of hosts. */
export const maxPairs = 2_000;

/** What a delivery sends of its request. $3: the maximum of bytes of an output that is sent. */
const sentColumns = `${requestColumns},
       request.base_url AS "baseUrl", request.traceparent, request.tracestate,
       CASE WHEN endpoint_id IS NULL THEN request.adapter END AS adapter,
       coalesce(pg_column_size(output), 0) AS "outputBytes",
       ${textUpTo('$3::integer', 'output')} AS output`;

/*
 * Purpose: takes deliveries that are due, a few of each host. The thousands of a host that is down are then not read to
 *   reach those of the others. Keys take turns, and within a key its hosts do. A key gets at most as many tries as are
 *   left free then, in total and among hosts that are not known to answer. Another key's receiver therefore never waits
 *   for the end of one of its tries. Among the hosts of a key, the one that has waited longest comes first. One
 *   statement looks at a limited number of pairs of host and key, and the next one continues behind them.
 * Race: SKIP LOCKED and the claim in next_try_at give each delivery to one node. If a node dies with it, it becomes due
 *   again. Nodes that choose the same deliveries at one moment get fewer than they could, and look again.
 * Index: webhook_delivery_pending, one look for each host and key with something pending, then its due ones in order;
 *   webhook_delivery_pkey, request_pkey.
 */
const claimStatement = statement(
  'claim_deliveries',
)`WITH RECURSIVE ${firstOfPairs(maxPairs, ' AND (host, api_key_id) > ($14::text, $15::uuid)')}, pair AS MATERIALIZED (
  SELECT pair.*, coalesce(busy.running, 0) AS running, coalesce(busy.running_unproven, 0) AS running_unproven,
         coalesce(busy.turn, 0) AS turn
  FROM (
    SELECT head.host, head.api_key_id, coalesce(known.room, $6::integer) AS room,
           coalesce(known.answers, false) AS answers,
           row_number() OVER (PARTITION BY head.api_key_id, coalesce(known.answers, false) ORDER BY head.next_try_at)
             AS number
    FROM head
    LEFT JOIN unnest($7::text[], $8::integer[], $9::boolean[]) AS known (host, room, answers)
      ON known.host = head.host
    WHERE head.next_try_at <= now() AND coalesce(known.room, $6::integer) > 0
  ) AS pair
  LEFT JOIN unnest($10::uuid[], $11::integer[], $12::integer[], $13::float8[])
    AS busy (api_key_id, running, running_unproven, turn) ON busy.api_key_id = pair.api_key_id
  WHERE pair.number <= $4::integer
), due AS MATERIALIZED (
  SELECT pair.*, delivery.request_id, delivery.id, delivery.next_try_at, delivery.nth,
         row_number() OVER (PARTITION BY pair.host ORDER BY running + delivery.nth, turn, next_try_at) AS of_host
  FROM pair
  CROSS JOIN LATERAL (
    SELECT request_id, id, next_try_at, row_number() OVER (ORDER BY next_try_at) AS nth
    FROM (
      SELECT request_id, id, next_try_at FROM webhook_delivery
      WHERE state = 'pending' AND host = pair.host AND api_key_id = pair.api_key_id AND next_try_at <= now()
      ORDER BY next_try_at LIMIT pair.room
    ) AS first
  ) AS delivery
), on_trial AS (
  -- What the key would have on trial with it, and how many in all are taken up to it.
  SELECT due.*, row_number() OVER (PARTITION BY answers ORDER BY level, turn, next_try_at) AS place
  FROM (
    SELECT due.*, running_unproven + row_number() OVER (PARTITION BY api_key_id, answers ORDER BY nth, next_try_at)
                    AS level
    FROM due
    WHERE of_host <= room
  ) AS due
), placed AS (
  SELECT due.*, row_number() OVER (ORDER BY level, turn, next_try_at) AS place
  FROM (
    SELECT request_id, id, turn, next_try_at,
           running + row_number() OVER (PARTITION BY api_key_id ORDER BY nth, next_try_at) AS level
    FROM on_trial
    WHERE answers OR (level + place <= $5::integer + 1 AND place <= $5::integer)
  ) AS due
), taken AS MATERIALIZED (
  SELECT delivery.request_id, delivery.id
  FROM placed
  CROSS JOIN LATERAL (
    SELECT request_id, id FROM webhook_delivery
    WHERE request_id = placed.request_id AND id = placed.id AND state = 'pending' AND next_try_at <= now()
    FOR UPDATE SKIP LOCKED
  ) AS delivery
  WHERE placed.level + placed.place <= $4::integer + 1 AND placed.place <= $4::integer
), claimed (delivery_id, event, request_id, signed_for, url, host, step, endpoint_id, content) AS (
  UPDATE webhook_delivery AS delivery
  SET claimed_by = $1::uuid, next_try_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
  FROM taken
  WHERE delivery.request_id = taken.request_id AND delivery.id = taken.id
  RETURNING delivery.id, delivery.event, delivery.request_id, delivery.api_key_id, delivery.url, delivery.host,
            delivery.step, delivery.endpoint_id, delivery.content
)
SELECT delivery_id AS "deliveryId", event, request_id AS "requestId", signed_for AS "signedFor", url, host, step, content,
       request.id IS NULL AS "isGone", endpoint_id IS NOT NULL AS "isOfEndpoint", ${sentColumns},
       last_host AS "lastHost", last_key_id AS "lastKeyId"
FROM (SELECT 1) AS always
LEFT JOIN (
  SELECT host AS last_host, api_key_id AS last_key_id FROM head WHERE number = ${String(maxPairs)}
) AS last ON true
LEFT JOIN claimed ON true
LEFT JOIN recent_request AS request ON request.id = claimed.request_id`;

/*
 * Purpose: reads the requests of claimed deliveries that are not among the recent ones.
 * Race: none: the deliveries are claimed, and a completed request changes only by an erasure, of which a try learns.
 * Index: webhook_delivery_pkey; request_pkey, in the days of the ids.
 */
const olderStatement = statementOfDays(
  'requests_of_deliveries',
  (within) => `SELECT delivery_id AS "deliveryId", false AS "isGone", ${sentColumns}
FROM (
  SELECT id AS delivery_id, request_id, endpoint_id FROM webhook_delivery
  WHERE request_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])
) AS claimed
JOIN request ON request.id = claimed.request_id AND ${within('request.id')}`,
);

/** Sorts before any pair. */
const first: HostAndKey = { host: '', keyId: '00000000-0000-0000-0000-000000000000' };

type ClaimRow = ClaimedDelivery & { deliveryId: string | null; lastHost: string | null; lastKeyId: string };

export async function claimDeliveries(database: Database, terms: ClaimTerms): Promise<Claimed> {
  const { claimedBy, claimMs, maxOutputBytes, limit, limitUnproven, roomOfOthers, hosts, keys } = terms;
  const after = terms.after ?? first;
  const rows = await database.query<ClaimRow>(claimStatement, [
    claimedBy,
    claimMs,
    maxOutputBytes,
    limit,
    limitUnproven,
    roomOfOthers,
    ...columnsOf(hosts, 'host', 'room', 'answers'),
    ...columnsOf(keys, 'keyId', 'running', 'runningUnproven', 'turn'),
    after.host,
    after.keyId,
  ]);
  const [{ lastHost, lastKeyId }] = rows as [ClaimRow];
  const deliveries: ClaimedDelivery[] = rows.filter(({ deliveryId }) => deliveryId !== null);
  await addOlderRequests(database, deliveries, maxOutputBytes);
  return {
    deliveries,
    after: lastHost === null ? null : { host: lastHost, keyId: lastKeyId },
  };
}

async function addOlderRequests(
  database: Database,
  deliveries: ClaimedDelivery[],
  maxOutputBytes: number,
): Promise<void> {
  const older = deliveries.filter(({ isGone }) => isGone);
  const ids = uuidArray(older.map(({ deliveryId }) => deliveryId));
  for (const some of forStatements(older.map(({ requestId }) => requestId))) {
    const found = await database.query<ClaimedDelivery>(olderStatement(...some), [
      uuidArray(some),
      ids,
      maxOutputBytes,
    ]);
    for (const row of found)
      Object.assign(
        older.find(({ deliveryId }) => deliveryId === row.deliveryId)!,
        row,
      );
  }
}

/*
 * Purpose: reads an output that a claim left out, because it is compressed and its text may be much larger.
 * Race: none: if it was erased or removed meanwhile, there is no output.
 * Index: request_pkey, in the day of the id.
 */
const outputStatement = statementOfDays(
  'output_of_delivery',
  (within) => `SELECT coalesce(pg_column_size(output), 0) AS "outputBytes",
       CASE WHEN octet_length(output::text) <= $2::integer THEN output::text END AS output
FROM request
WHERE id = $1::uuid AND ${within('id')}`,
);

/** Adds the output to a claimed delivery if the claim left it out although it may be small enough. */
export async function readOutput(
  database: Database,
  delivery: ClaimedDelivery,
  maxOutputBytes: number,
): Promise<void> {
  const values = [delivery.requestId, maxOutputBytes];
  const [row] = await database.query<ClaimedDelivery>(outputStatement(delivery.requestId), values);
  Object.assign(delivery, row ?? { output: null, outputBytes: 0 });
}

/** When the pending deliveries are due. */
export interface Due {
  isAnyDue: boolean;
  /** Milliseconds until the next delivery becomes due that is not due yet; null: there is none. */
  nextInMs: number | null;
}

/*
 * Purpose: finds whether a delivery is due, as far as it looks, and when the next becomes due. A node with nothing to
 *   do sleeps until then.
 * Race: none. A delivery written later wakes the node that writes it, and the other nodes look again soon.
 * Index: webhook_delivery_pending, one look for each host and key.
 */
const nextDue = statement('next_delivery_due')`WITH RECURSIVE ${firstOfPairs(maxPairs)}
SELECT coalesce(bool_or(next_try_at <= now() OR number = ${String(maxPairs)}), false) AS "isAnyDue",
       (extract(epoch FROM min(next_try_at) FILTER (WHERE next_try_at > now()) - now()) * 1000)::float8 AS "nextInMs"
FROM head`;

export async function dueDeliveries(database: Database): Promise<Due> {
  const [row] = await database.query<Due>(nextDue);
  return row!;
}
