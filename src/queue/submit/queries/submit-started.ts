import { randomUUID } from 'node:crypto';
import type { Database } from '../../../database/database.js';
import { parameters, statement } from '../../../database/statement.js';
import { hookTexts, isHooked } from '../../transition-hooks.js';
import { mayStart, type StartOptions, veryFront } from '../../runs/queries/claim.js';
import { insertOne, type Submission, submissionTypes, valuesOf } from './submission.js';

/*
 * Purpose: writes a request with its first lease in one commit instead of two, if no other waits before it.
 * Race: as for a claim, nothing starts on a node that was given up or is drained, by a statement that the network
 *   held back, for a paused model, or by a grant from before slots were taken away. Requests in the queue go first.
 *   The slot is this node's own and was taken before.
 * Index: queue_entry_pkey from the floor on, and for more urgent priorities; inserts into request_pkey (today's
 *   partition) and lease_pkey.
 */
const { placeholders: $, bind } = parameters({
  ...submissionTypes,
  nodeId: 'uuid',
  timeoutMs: 'float8',
  floorPriority: 'smallint',
  floorStart: 'bigint',
  floorSeq: 'bigint',
  slotRound: 'integer',
  byMs: 'float8',
  token: 'uuid',
});

const submitStartedStatement = statement('submit_started')`WITH chance AS MATERIALIZED (
  SELECT clock_timestamp() AS at
  WHERE ${mayStart($.modelId, $.nodeId, $.slotRound)}
    AND clock_timestamp() < to_timestamp(${$.byMs} / 1000)
    AND NOT EXISTS (
      SELECT FROM queue_entry
      WHERE model_id = ${$.modelId} AND (priority, virtual_start, seq) >= (${$.floorPriority}, ${$.floorStart}, ${$.floorSeq})
    )
    AND NOT EXISTS (SELECT FROM queue_entry WHERE model_id = ${$.modelId} AND priority < ${$.floorPriority})
), written AS (
  ${insertOne('chance', { created_at: 'at', started_at: 'at', state: `'IN_PROGRESS'`, attempt: '1' })}
  RETURNING seq${() => (isHooked('request.started') ? ', id, api_key_id, webhook_url' : '')}
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at)
  SELECT ${$.id}, ${$.token}, ${$.modelId}, ${$.nodeId}, 1, at, at + ${$.timeoutMs} * interval '1 millisecond'
  FROM chance
)${hookTexts('request.started', 'written')}
SELECT seq FROM written`;

/** The values that a claim would return for it. */
export const firstStart = {
  attempt: 1,
  failedAttempts: 0,
  lostAttempts: 0,
  boundedKeyId: null,
  queueMs: 0,
} as const;

/** Returns the token of its lease, too; undefined: nothing was written. */
export async function submitStarted(
  database: Database,
  submission: Submission,
  { nodeId, timeoutMs, floor, slotRound, byMs }: StartOptions,
): Promise<{ seq: number; token: string } | undefined> {
  const token = randomUUID();
  const { priority: floorPriority, start: floorStart, seq: floorSeq } = floor ?? veryFront;
  const values = {
    ...valuesOf(submission),
    nodeId,
    timeoutMs,
    floorPriority,
    floorStart,
    floorSeq,
    slotRound,
    byMs,
    token,
  };
  const [row] = await database.query<{ seq: number }>(submitStartedStatement, bind(values));
  return row && { seq: row.seq, token };
}
