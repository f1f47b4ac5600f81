import { randomUUID } from 'node:crypto';
import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { QueueKey } from '../waiting/queue-key.js';
import type { TollClaim } from '../submit/toll.js';
import { valuesOf, type Submission } from './submit.js';

export interface StartOptions {
  nodeId: string;
  timeoutMs: number;
  /** Nothing waits before this key, as far as the node knows; null: look from the very front. */
  floor: Pick<QueueKey, 'priority' | 'seq'> | null;
  /** By then it must have reached the database, in milliseconds since 1970 by the database's clock. */
  byMs: number;
  /** Counted in the same commit; if there is no room for it, nothing is written. */
  toll?: TollClaim;
}

export interface SubmittedStarted {
  /** Its seq and its lease's token. undefined: nothing was written. */
  started: { seq: number; token: string } | undefined;
  /** With the columns of `toll`. */
  toll: object;
}

/*
 * Purpose: puts a request on disk with its first lease in the same commit, if none waits before it: an idle service
 *   starts a request one commit after it came, not two.
 * Race: as the claim, a node that was given up starts nothing, nor does a statement that the network held back. What
 *   waits in the queue goes first; the slot is this node's own and was taken before. The toll is counted first, under
 *   the lock of its row until the commit. Nobody waits for that lock here: what was looked at would be old by then.
 * Index: queue_entry_pkey for the look at the queue, from the floor on; inserts into request_pkey (today's partition)
 *   and lease_pkey.
 */
const statement = (name: string, toll: string): Statement => ({
  name,
  text: `WITH ${toll}, chance AS MATERIALIZED (
  SELECT clock_timestamp() AS at
  FROM toll
  WHERE granted > 0
    AND EXISTS (SELECT FROM node WHERE node.id = $7::uuid)
    AND clock_timestamp() < to_timestamp($11::float8 / 1000)
    AND NOT EXISTS (
      SELECT FROM queue_entry
      WHERE model_id = $2::text
        AND (priority, seq) >= ($9::smallint, $10::bigint)
    )
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, seq, input, created_at, expires_at,
                       state, attempt, started_at)
  SELECT $1::uuid, $2::text, $3::uuid, $4::smallint, nextval('request_seq'), $5::json, at,
         now() + $6::float8 * interval '1 millisecond', 'IN_PROGRESS', 1, at
  FROM chance
  RETURNING seq
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at)
  SELECT $1::uuid, $12::uuid, $2::text, $7::uuid, 1, at, at + $8::float8 * interval '1 millisecond'
  FROM chance
), event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT $1::uuid, 'started', 1
  FROM chance
)
SELECT (SELECT seq FROM written) AS seq, toll.*
FROM toll`,
});

const firstOfToll = 13;
const free = statement('submit_started', `toll (granted) AS (VALUES (1))`);
let tolled: Statement | undefined;
const tolledBy = ({ ctes }: TollClaim): Statement =>
  (tolled ??= statement('submit_started_tolled', ctes(firstOfToll)));

export async function submitStarted(
  database: Database,
  submission: Submission,
  { nodeId, timeoutMs, floor, byMs, toll }: StartOptions,
): Promise<SubmittedStarted> {
  const token = randomUUID();
  const values = [
    ...valuesOf(submission),
    nodeId,
    timeoutMs,
    floor?.priority ?? -32_768,
    floor?.seq ?? 0,
    byMs,
    token,
  ];
  const [row] =
    toll === undefined
      ? await database.query<Row>(free, values)
      : await database.query<Row>(tolledBy(toll), [...values, ...toll.values]);
  const { seq } = row!;
  return { started: seq === null ? undefined : { seq, token }, toll: row! };
}

interface Row {
  seq: number | null;
}
