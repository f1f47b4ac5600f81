import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { newId } from '../../src/database/new-id.js';
import { replaceSegment } from '../../src/batches/queries/erased-lines.js';
import { insertBatch, removeBatch } from '../../src/batches/queries/write-batches.js';
import { erase } from '../../src/queue/retention/queries/erase.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import { newBatch } from '../support/batch-rows.js';
import { ending, keyId, QueueTables, runOne } from '../support/queue-tables.js';

let tables: QueueTables;
let database: Database;
let other: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  other = tables.session();
});
afterAll(() => tables.drop());

/** Adds an ended batch with a completed request. */
async function endedBatch(): Promise<{ batchId: string; requestId: string }> {
  const batchId = newId();
  await insertBatch(database, newBatch(batchId, keyId));
  await tables.rows(`UPDATE batch SET status = 'completed', ended_at = now() WHERE id = $1`, [batchId]);
  const run = await runOne(database, await tables.node(database));
  await finish(database, [ending(run)]);
  await tables.rows('UPDATE request SET tags = ARRAY[$2] WHERE id = $1', [run.id, `batch:${batchId}`]);
  return { batchId, requestId: run.id };
}

const erasedLines = (): Promise<object[]> => tables.rows('SELECT FROM erased_line');
const remove = (from: Database, id: string): Promise<boolean> =>
  from.transaction((query) => removeBatch({ query }, id));

test('a batch that is deleted during the erasure of one of its requests leaves no erased_line row', async () => {
  const { batchId, requestId } = await endedBatch();
  await database.execute('BEGIN');
  expect(await erase(database, requestId)).toBe(true);
  const removed = remove(other, batchId);
  await tables.blocked(1);
  await database.execute('COMMIT');
  expect(await removed).toBe(true);
  expect(await erasedLines()).toEqual([]);
});

test('a request that is erased during the deletion of its batch leaves no erased_line row', async () => {
  const { batchId, requestId } = await endedBatch();
  await database.execute('BEGIN');
  expect(await removeBatch(database, batchId)).toBe(true);
  const erased = erase(other, requestId);
  await tables.blocked(1);
  await database.execute('COMMIT');
  expect(await erased).toBe(true);
  expect(await erasedLines()).toEqual([]);
});

test('an erasure does not wait for a driver of the batch', async () => {
  const { batchId, requestId } = await endedBatch();
  await database.execute('BEGIN');
  await database.query({ name: '', text: `UPDATE batch SET completed = 0 WHERE id = '${batchId}'` });
  expect(await erase(other, requestId)).toBe(true);
  await database.execute('COMMIT');
  expect(await remove(database, batchId)).toBe(true);
  expect(await erasedLines()).toEqual([]);
});

test('the replacement of a segment waits for the deletion of its batch, and then changes nothing', async () => {
  const { batchId } = await endedBatch();
  const segment = { kind: 'output', number: 1, fileId: randomUUID(), bytes: 10 } as const;
  await tables.rows(
    'INSERT INTO batch_segment (batch_id, kind, number, file_id, lines, bytes) VALUES ($1, $2, $3, $4, 1, $5)',
    [batchId, segment.kind, segment.number, segment.fileId, segment.bytes],
  );
  await database.execute('BEGIN');
  // As the deletion does first.
  await database.query({ name: '', text: `SELECT FROM batch WHERE id = '${batchId}' FOR UPDATE` });
  const replaced = replaceSegment(other, batchId, segment, { fileId: randomUUID(), bytes: 5 });
  await tables.blocked(1);
  expect(await removeBatch(database, batchId)).toBe(true);
  await database.execute('COMMIT');
  expect(await replaced).toBe(false);
  expect(await tables.rows('SELECT FROM batch_segment')).toEqual([]);
});
