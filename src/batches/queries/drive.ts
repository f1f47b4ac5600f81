import { randomUUID } from 'node:crypto';
import { type Queries, statement } from '../../database/statement.js';
import type { BatchStatus, LineFault } from '../batch.js';

/** A driver that is silent for this long loses its batch to another. */
const leaseLife = '15 seconds';
export const renewMs = 4_000;

/** A batch that this node drives. `token` proves it: no statement of a driver with another token changes anything. */
export interface LeasedBatch {
  id: string;
  token: string;
  keyId: string;
  status: BatchStatus;
  format: string;
  metadata: Record<string, unknown>;
  modelId: string | null;
  tag: string | null;
  /** Its priority in the queue. */
  rank: number;
  inputFileId: string;
  baseUrl: string | null;
  total: number | null;
  readLines: number;
  readBytes: number;
  endsAs: 'cancelled' | 'expired' | null;
  /** True: the time of the batch is over. */
  isLate: boolean;
  /** Since the last segment was written, or since it started. */
  uncollectedMs: number;
}

/*
 * Purpose: gives a batch that is due to this node: of the keys with the fewest leased batches, the one due first.
 * Race: SKIP LOCKED and the new token give it to one driver. A driver that was silent for too long finds its token gone.
 *   Two drivers at once may both take batches of one key.
 * Index: batch_open; there are few rows.
 */
const leaseStatement = statement('lease_batch')`WITH leased AS MATERIALIZED (
  SELECT api_key_id FROM batch WHERE ended_at IS NULL AND leased_until >= clock_timestamp()
)
UPDATE batch
SET leased_by = $1::uuid, lease_token = $2::uuid, leased_until = clock_timestamp() + interval '${leaseLife}'
WHERE id = (
  SELECT id FROM batch
  WHERE ended_at IS NULL AND due_at <= clock_timestamp() AND ($3::boolean OR status <> 'validating')
    AND (leased_until IS NULL OR leased_until < clock_timestamp())
  ORDER BY (SELECT count(*) FROM leased WHERE leased.api_key_id = batch.api_key_id), due_at
  LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, lease_token AS token, api_key_id AS "keyId", status, format, metadata, model_id AS "modelId", tag,
          priority AS rank, input_file_id AS "inputFileId", base_url AS "baseUrl", total, read_lines AS "readLines",
          read_bytes AS "readBytes", ends_as AS "endsAs", expires_at <= clock_timestamp() AS "isLate",
          coalesce(extract(epoch FROM clock_timestamp() - coalesce(collected_at, started_at)), 0)::float8 * 1000
            AS "uncollectedMs"`;

/** `mayCheck`: false leaves out batches whose input has not been checked. */
export async function leaseBatch(
  queries: Queries,
  nodeId: string,
  mayCheck = true,
): Promise<LeasedBatch | undefined> {
  return (await queries.query<LeasedBatch>(leaseStatement, [nodeId, randomUUID(), mayCheck]))[0];
}

/*
 * Purpose: finds when a driver has to look again.
 * Race: none. A batch that is added later wakes all nodes.
 * Index: batch_open.
 */
const nextStatement = statement('next_batch_due')`SELECT
  (extract(epoch FROM min(greatest(due_at, leased_until)) - clock_timestamp()) * 1000)::float8 AS "inMs"
FROM batch WHERE ended_at IS NULL AND ($1::boolean OR status <> 'validating')`;

/** Milliseconds until a batch is due. undefined: none is open. `mayCheck`: as for `leaseBatch`. */
export async function nextBatchDueMs(queries: Queries, mayCheck = true): Promise<number | undefined> {
  return (await queries.query<{ inMs: number | null }>(nextStatement, [mayCheck]))[0]?.inMs ?? undefined;
}

type Lease = Pick<LeasedBatch, 'id' | 'token'>;

/** Another driver has the batch, or it has ended, or something has ended it early. */
export class LeaseLost extends Error {}

function orLost<Row>(rows: readonly Row[]): Row {
  if (rows[0] === undefined) throw new LeaseLost('the batch belongs to another driver, or has ended');
  return rows[0];
}

const held = 'id = $1::uuid AND lease_token = $2::uuid AND ended_at IS NULL';
const renewed = `leased_until = clock_timestamp() + interval '${leaseLife}'`;

/*
 * Purpose: the statements of a driver about its batch.
 * Race: each finds no row if the token is not that of the lease any more.
 * Index: batch_pkey.
 */
const renewStatement = statement('renew_batch')`UPDATE batch SET ${renewed} WHERE ${held} RETURNING id`;

const releaseStatement = statement('release_batch')`UPDATE batch
SET leased_by = NULL, lease_token = NULL, leased_until = NULL,
    due_at = CASE WHEN ends_as IS NOT DISTINCT FROM $4::text
      THEN least(
        clock_timestamp() + $3::float8 * interval '1 millisecond',
        CASE WHEN expires_at > clock_timestamp() THEN expires_at END
      ) ELSE due_at END
WHERE ${held}`;

const startStatement = statement('start_batch')`UPDATE batch
SET status = 'in_progress', total = $3::integer, started_at = clock_timestamp(), ${renewed}
WHERE ${held} AND status = 'validating'
RETURNING id`;

const endEarlyStatement = statement('end_batch_early')`UPDATE batch
SET ends_as = $3::text, ${renewed},
    status = CASE WHEN $3::text = 'cancelled' THEN 'cancelling' ELSE 'finalizing' END,
    cancelling_at = CASE WHEN $3::text = 'cancelled' THEN clock_timestamp() END,
    finalizing_at = CASE WHEN $3::text = 'expired' THEN clock_timestamp() END
WHERE ${held} AND ends_as IS NULL
RETURNING id`;

const finalizeStatement = statement('finalize_batch')`UPDATE batch
SET status = 'finalizing', finalizing_at = clock_timestamp(), ${renewed}
WHERE ${held} AND status = 'in_progress'
RETURNING id`;

const endStatement = statement('end_batch')`UPDATE batch
SET status = coalesce(ends_as, CASE WHEN $3::jsonb IS NULL THEN 'completed' ELSE 'failed' END),
    errors = CASE WHEN ends_as IS NULL THEN coalesce($3::jsonb, errors) ELSE errors END, ended_at = clock_timestamp(),
    leased_by = NULL, lease_token = NULL, leased_until = NULL
WHERE ${held} AND read_lines = coalesce(total, 0)
  AND completed + failed + cancelled + expired = read_lines
RETURNING status, input_file_id AS "inputFileId", api_key_id AS "keyId", webhook_url AS "webhookUrl"`;

export async function renewBatch(queries: Queries, { id, token }: Lease): Promise<void> {
  orLost(await queries.query(renewStatement, [id, token]));
}

/** `endsAs`: as the driver knows it. A batch that was cancelled meanwhile is due at once, any other once it expires. */
export async function releaseBatch(
  queries: Queries,
  { id, token, endsAs }: Lease & Pick<LeasedBatch, 'endsAs'>,
  dueInMs: number,
): Promise<void> {
  await queries.query(releaseStatement, [id, token, dueInMs, endsAs]);
}

export async function startBatch(queries: Queries, { id, token }: Lease, total: number): Promise<void> {
  orLost(await queries.query(startStatement, [id, token, total]));
}

export async function endBatchEarly(
  queries: Queries,
  { id, token }: Lease,
  endsAs: 'cancelled' | 'expired',
): Promise<void> {
  orLost(await queries.query(endEarlyStatement, [id, token, endsAs]));
}

export async function finalizeBatch(queries: Queries, { id, token }: Lease): Promise<void> {
  await queries.query(finalizeStatement, [id, token]);
}

export interface EndedBatch {
  status: BatchStatus;
  inputFileId: string;
  keyId: string;
  webhookUrl: string | null;
}

/** `errors`: the batch has failed, unless it was cancelled meanwhile. */
export async function endBatch(
  queries: Queries,
  { id, token }: Lease,
  errors?: readonly LineFault[],
): Promise<EndedBatch> {
  const values = [id, token, errors === undefined ? null : JSON.stringify(errors)];
  return orLost(await queries.query<EndedBatch>(endStatement, values));
}
