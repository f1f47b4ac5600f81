import { parameters, type Queries, statement } from '../../database/statement.js';

export interface BatchInsert {
  id: string;
  keyId: string;
  format: string;
  metadata: object;
  modelId: string | null;
  tag: string | null;
  priority: number;
  webhookUrl: string | null;
  baseUrl: string | null;
  inputFileId: string;
  idempotencyKey: string | null;
  fingerprint: Buffer;
  windowSeconds: number;
}

/*
 * Purpose: adds a batch, unless its idempotency key was used before. A key older than a day may be used again.
 * Race: of two with one idempotency key, the second waits for the first and adds nothing.
 * Index: batch_once; inserts into batch_pkey.
 */
const { placeholders: $, bind } = parameters({
  id: 'uuid',
  keyId: 'uuid',
  format: 'text',
  metadata: 'jsonb',
  modelId: 'text',
  tag: 'text',
  priority: 'smallint',
  webhookUrl: 'text',
  baseUrl: 'text',
  inputFileId: 'uuid',
  idempotencyKey: 'text',
  fingerprint: 'bytea',
  windowSeconds: 'integer',
});
const forgetStatement = statement('forget_batch_key')`UPDATE batch SET idempotency_key = NULL
WHERE api_key_id = $1::uuid AND idempotency_key = $2::text AND created_at < clock_timestamp() - interval '24 hours'`;

const insertStatement = statement('insert_batch')`INSERT INTO batch (
  id, api_key_id, format, metadata, model_id, tag, priority, webhook_url, base_url, input_file_id, idempotency_key,
  fingerprint, window_seconds, expires_at
)
VALUES (
  ${$.id}, ${$.keyId}, ${$.format}, ${$.metadata}, ${$.modelId}, ${$.tag}, ${$.priority}, ${$.webhookUrl},
  ${$.baseUrl}, ${$.inputFileId}, ${$.idempotencyKey}, ${$.fingerprint}, ${$.windowSeconds},
  clock_timestamp() + ${$.windowSeconds} * interval '1 second'
)
ON CONFLICT (api_key_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
RETURNING id`;

/** Returns false if its idempotency key is taken. */
export async function insertBatch(queries: Queries, batch: BatchInsert): Promise<boolean> {
  const { keyId, idempotencyKey } = batch;
  if (idempotencyKey !== null) await queries.query(forgetStatement, [keyId, idempotencyKey]);
  return (await queries.query(insertStatement, bind({ ...batch }))).length > 0;
}

/*
 * Purpose: reads the batch of an idempotency key, or counts the open batches of a key.
 * Race: none (read only).
 * Index: batch_once; batch_by_key.
 */
const onceStatement = statement('find_batch_by_key')`SELECT id, fingerprint FROM batch
WHERE api_key_id = $1::uuid AND idempotency_key = $2::text
  AND created_at >= clock_timestamp() - interval '24 hours'`;

const openStatement = statement('count_open_batches')`SELECT count(*)::integer AS open FROM batch
WHERE api_key_id = $1::uuid AND ended_at IS NULL`;

export async function findBatchByKey(
  queries: Queries,
  keyId: string,
  idempotencyKey: string,
): Promise<{ id: string; fingerprint: Buffer } | undefined> {
  return (
    await queries.query<{ id: string; fingerprint: Buffer }>(onceStatement, [keyId, idempotencyKey])
  )[0];
}

export async function countOpenBatches(queries: Queries, keyId: string): Promise<number> {
  return (await queries.query<{ open: number }>(openStatement, [keyId]))[0]!.open;
}

/*
 * Purpose: asks the driver of a batch to cancel it.
 * Race: waits for the step that the driver commits. No step after it submits anything.
 * Index: batch_pkey.
 */
const cancelStatement = statement('cancel_batch')`UPDATE batch
SET status = 'cancelling', ends_as = 'cancelled', cancelling_at = clock_timestamp(), due_at = clock_timestamp()
WHERE id = $1::uuid AND ended_at IS NULL AND ends_as IS NULL`;

export async function cancelBatch(queries: Queries, id: string): Promise<void> {
  await queries.query(cancelStatement, [id]);
}

/*
 * Purpose: deletes an ended batch, and then the lists of its segments and of its erased lines. Its files are released in
 *   the same transaction.
 * Race: of two deletions one finds it. The first statement waits for the erasure of a request of the batch; only a
 *   second one sees the row that the erasure added.
 * Index: batch_pkey, batch_segment_pkey, erased_line_pkey.
 */
const removeStatement = statement('remove_batch')`DELETE FROM batch
WHERE id = $1::uuid AND ended_at IS NOT NULL
RETURNING id`;

const removeListsStatement = statement('remove_lists_of_batch')`WITH segments AS (
  DELETE FROM batch_segment WHERE batch_id = $1::uuid
)
DELETE FROM erased_line WHERE batch_id = $1::uuid`;

/** `queries` must be those of a transaction. */
export async function removeBatch(queries: Queries, id: string): Promise<boolean> {
  if ((await queries.query(removeStatement, [id])).length === 0) return false;
  await queries.query(removeListsStatement, [id]);
  return true;
}

/*
 * Purpose: finds batches that ended longer ago than retention keeps them.
 * Race: none: an ended batch changes no more.
 * Index: batch_ended.
 */
const oldStatement = statement('old_batches')`SELECT id FROM batch
WHERE ended_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
ORDER BY ended_at LIMIT 100`;

export async function oldBatches(queries: Queries, retentionMs: number): Promise<string[]> {
  return (await queries.query<{ id: string }>(oldStatement, [retentionMs])).map(({ id }) => id);
}
