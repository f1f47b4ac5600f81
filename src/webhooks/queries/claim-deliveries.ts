import type { Adapter } from '../../config/adapter.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { requestColumns } from '../../queue/request-columns.js';
import type { RequestRow } from '../../queue/status-row.js';

/** With its request's row; `completedAtMs` null: the request is gone. */
export interface ClaimedDelivery extends RequestRow {
  deliveryId: string;
  requestId: string;
  /** Whose secret it is signed with. */
  signedFor: string;
  url: string;
  host: string;
  step: number;
  /** What its request was submitted to; null: that is unknown, or the request is gone. */
  baseUrl: string | null;
  /** Whose form the body has; null: the service's own, as always for an endpoint of the key. */
  adapter: Adapter | null;
  /** JSON text; null: there is none, or it is larger than is sent. */
  output: string | null;
  traceparent: string | null;
  tracestate: string | null;
  /** 0: there is no output. */
  outputBytes: number;
}

export interface ClaimTerms {
  claimedBy: string;
  leaseMs: number;
  maxOutputBytes: number;
  /** How many to take at most: in all, and of hosts that are not known to answer. */
  limit: number;
  limitUnproven: number;
  /** Of a host that is not listed. */
  roomOfOthers: number;
  hosts: readonly { host: string; room: number; answers: boolean }[];
}

/** Of each host with something pending what is due first. */
const head = `head AS (
  (SELECT host, next_try_at FROM webhook_delivery
   WHERE state = 'pending'
   ORDER BY host, next_try_at LIMIT 1)
  UNION ALL
  SELECT next.host, next.next_try_at
  FROM head
  CROSS JOIN LATERAL (
    SELECT host, next_try_at FROM webhook_delivery
    WHERE state = 'pending' AND host > head.host
    ORDER BY host, next_try_at LIMIT 1
  ) AS next
)`;

/*
 * Purpose: takes deliveries that are due, a few of each host, so that the thousands of one that is down are not read to
 *   get to those of the others. Of the hosts the one that has waited longest comes first.
 * Race: SKIP LOCKED and the lease in next_try_at give each delivery to one node; a node that dies with it lets it become
 *   due again.
 * Index: webhook_delivery_pending: one look for each host with something pending, then its due ones in order;
 *   webhook_delivery_pkey, request_pkey.
 */
const claimStatement = statement('claim_deliveries')`WITH RECURSIVE ${head}, lane AS MATERIALIZED (
  SELECT head.host, head.next_try_at, coalesce(known.room, $6::integer) AS room,
         coalesce(known.answers, false) AS answers
  FROM head
  LEFT JOIN unnest($7::text[], $8::integer[], $9::boolean[]) AS known (host, room, answers)
    ON known.host = head.host
  WHERE head.next_try_at <= now()
  ORDER BY head.next_try_at
), taken AS MATERIALIZED (
  SELECT due.request_id, due.id
  FROM (VALUES (true, $4::integer), (false, $5::integer)) AS kind (answers, room)
  CROSS JOIN LATERAL (
    SELECT delivery.request_id, delivery.id
    FROM lane
    CROSS JOIN LATERAL (
      SELECT request_id, id FROM webhook_delivery
      WHERE state = 'pending' AND host = lane.host AND next_try_at <= now()
      ORDER BY next_try_at LIMIT lane.room FOR UPDATE SKIP LOCKED
    ) AS delivery
    WHERE lane.answers = kind.answers AND lane.room > 0
    LIMIT kind.room
  ) AS due
  LIMIT $4::integer
), claimed (delivery_id, request_id, signed_for, url, host, step, endpoint_id) AS (
  UPDATE webhook_delivery AS delivery
  SET claimed_by = $1::uuid, next_try_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
  FROM taken
  WHERE delivery.request_id = taken.request_id AND delivery.id = taken.id
  RETURNING delivery.id, delivery.request_id, delivery.api_key_id, delivery.url, delivery.host, delivery.step,
            delivery.endpoint_id
)
SELECT delivery_id AS "deliveryId", request_id AS "requestId", signed_for AS "signedFor", url, host, step,
       ${requestColumns},
       request.base_url AS "baseUrl", request.traceparent, request.tracestate,
       CASE WHEN endpoint_id IS NULL THEN request.adapter END AS adapter,
       coalesce(octet_length(output::text), 0) AS "outputBytes",
       CASE WHEN octet_length(output::text) <= $3::integer THEN output::text END AS output
FROM claimed
LEFT JOIN request ON request.id = claimed.request_id`;

export function claimDeliveries(database: Database, terms: ClaimTerms): Promise<ClaimedDelivery[]> {
  const { claimedBy, leaseMs, maxOutputBytes, limit, limitUnproven, roomOfOthers, hosts } = terms;
  return database.query<ClaimedDelivery>(claimStatement, [
    claimedBy,
    leaseMs,
    maxOutputBytes,
    limit,
    limitUnproven,
    roomOfOthers,
    hosts.map(({ host }) => host),
    hosts.map(({ room }) => room),
    hosts.map(({ answers }) => answers),
  ]);
}

/** Of what is pending. */
export interface Due {
  isAnyDue: boolean;
  /** Until the next becomes due that is not; null: none. */
  nextInMs: number | null;
}

/*
 * Purpose: whether a delivery is due, and when the next becomes due: a node with nothing to do sleeps until then.
 * Race: none; what is written later wakes the node that writes it, and the others look again soon.
 * Index: webhook_delivery_pending, one look for each host.
 */
const nextDue = statement('next_delivery_due')`WITH RECURSIVE ${head}
SELECT coalesce(bool_or(next_try_at <= now()), false) AS "isAnyDue",
       (extract(epoch FROM min(next_try_at) FILTER (WHERE next_try_at > now()) - now()) * 1000)::float8 AS "nextInMs"
FROM head`;

export async function dueDeliveries(database: Database): Promise<Due> {
  const [row] = await database.query<Due>(nextDue);
  return row!;
}
