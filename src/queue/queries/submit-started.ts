import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { Place } from '../place.js';
import type { TollAnswer, TollClaim } from '../toll.js';
import type { Submission } from './submit.js';

export interface StartOptions {
  nodeId: string;
  timeoutMs: number;
  /** Nothing waits before this place, as far as the node knows; null: look from the very front. */
  floor: Pick<Place, 'priority' | 'seq'> | null;
  /** By then it must have reached the database, in milliseconds since 1970 by the database's clock. */
  byMs: number;
  /** Counted in the same commit; if there is no room for it, nothing is written. */
  toll?: TollClaim;
}

export interface SubmittedStarted {
  /** undefined: there was no room for the toll, or somebody else was counting for the same caller. */
  written: Written | undefined;
  /** undefined: there was none to count. */
  toll: TollAnswer | undefined;
}

export interface Written {
  id: string;
  seq: number;
  /** The token of its lease; null: it has to wait in the line. */
  token: string | null;
}

/*
 * Purpose: puts a request on disk and, if nobody waits before it, gives it its first lease in the same commit: an idle
 *   service starts a request one commit after it came, not two.
 * Race: as the claim, a node that was given up starts nothing, nor does a statement that the network held back. Who
 *   waits in the line goes first; the slot is this node's own and was taken before. The toll is counted first, under
 *   the lock of its row until the commit. Nobody waits for that lock here: what was looked at would be old by then.
 * Index: queue_entry_pkey for the look at the line, from the floor on; inserts into request_pkey (today's partition)
 *   and lease_pkey or queue_entry_pkey.
 */
const statement = (name: string, toll: string): Statement => ({
  name,
  text: `WITH toll AS MATERIALIZED (
  SELECT granted, remaining, reset_ms
  FROM ${toll}
), chance AS MATERIALIZED (
  SELECT clock_timestamp() AS at,
         EXISTS (SELECT FROM node WHERE node.id = $7::uuid)
           AND clock_timestamp() < to_timestamp($11::float8 / 1000)
           AND NOT EXISTS (
             SELECT FROM queue_entry
             WHERE model_id = $2::text
               AND (priority, seq) >= ($9::smallint, $10::bigint)
           ) AS given
  FROM toll
  WHERE granted > 0
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, seq, input, created_at, expires_at,
                       state, attempt, started_at)
  SELECT $1::uuid, $2::text, $3::uuid, $4::smallint, nextval('request_seq'), $5::json, at,
         now() + $6::float8 * interval '1 millisecond',
         CASE WHEN given THEN 'IN_PROGRESS' ELSE 'IN_QUEUE' END, given::integer, CASE WHEN given THEN at END
  FROM chance
  RETURNING id, model_id, priority, seq, expires_at, attempt, started_at,
            CASE WHEN state = 'IN_PROGRESS' THEN gen_random_uuid() END AS token
), entered AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, expires_at)
  SELECT model_id, priority, seq, id, expires_at
  FROM written
  WHERE token IS NULL
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at)
  SELECT id, token, model_id, $7::uuid, attempt, started_at, started_at + $8::float8 * interval '1 millisecond'
  FROM written
  WHERE token IS NOT NULL
), told AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT id, 'started', attempt
  FROM written
  WHERE token IS NOT NULL
)
SELECT id, seq, token, granted, remaining, reset_ms
FROM toll
LEFT JOIN written ON true`,
});

const free = statement(
  'submit_started',
  `(VALUES (1, NULL::integer[], NULL::float8[])) AS free (granted, remaining, reset_ms)`,
);
const tolled = statement(
  'submit_started_tolled',
  `rate_admit_alone($12::text, $13::text, $14::bigint[], $15::integer[])`,
);

type Row = TollAnswer & (Written | { id: null });

export async function submitStarted(
  database: Database,
  { id, modelId, keyId, priority, input, expiresMs }: Submission,
  { nodeId, timeoutMs, floor, byMs, toll }: StartOptions,
): Promise<SubmittedStarted> {
  const values = [
    id,
    modelId,
    keyId,
    priority,
    input,
    expiresMs,
    nodeId,
    timeoutMs,
    floor?.priority ?? -32_768,
    floor?.seq ?? 0,
    byMs,
  ];
  if (toll === undefined) return { written: (await database.query<Written>(free, values))[0], toll };
  const claim = [toll.subject, toll.routeClass, toll.windowsMs, toll.limits];
  const [row] = await database.query<Row>(tolled, [...values, ...claim]);
  return { written: row!.id === null ? undefined : row, toll: row };
}
