import { BatchPruner } from '../../src/batches/duties/batch-pruner.js';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { BatchCalls, type BatchView, inputLines } from '../support/batch-calls.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { FileCalls } from '../support/file-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ models: { 'test/wide': { concurrency: 20 } }, limits: '100000/s' });
const batches = new BatchCalls(service);
const files = new FileCalls(service);

/** Rows of each table that belong to a batch. */
async function rowsOf(id: string): Promise<Record<string, number>> {
  const [row] = await service.query<Record<string, number>>(
    `SELECT (SELECT count(*) FROM batch WHERE id = $1)::integer AS batch,
            (SELECT count(*) FROM batch_line WHERE batch_id = $1)::integer AS batch_line,
            (SELECT count(*) FROM batch_segment WHERE batch_id = $1)::integer AS batch_segment,
            (SELECT count(*) FROM erased_line WHERE batch_id = $1)::integer AS erased_line,
            (SELECT count(*) FROM file_use WHERE request_id = $1 AND NOT is_over)::integer AS file_use`,
    [id],
  );
  return row!;
}

/** Returns how many of these files are on the disk. */
async function filesOnDisk(ids: readonly string[]): Promise<number> {
  return (await files.onDisk()).filter((name) => ids.some((id) => name.startsWith(id))).length;
}

async function prune(): Promise<void> {
  await service.app.get(BatchPruner).runOnce();
  await service.app.get(FilePruner).runOnce();
}

async function endedAgo(batch: BatchView, days: number): Promise<void> {
  await service.query(`UPDATE batch SET ended_at = ended_at - $2::integer * interval '1 day' WHERE id = $1`, [
    batch.batch_id,
    days,
  ]);
}

async function ended(): Promise<BatchView> {
  const text = inputLines(3, (i) => (i === 1 ? { status: 422 } : {}));
  return batches.ended((await batches.send(text, '?model_id=test/wide')).batch_id);
}

/** The files of the input, and of the output and the errors. */
async function filesOf({ batch_id: id }: BatchView): Promise<{ input: string[]; segments: string[] }> {
  const [row] = await service.query<{ input: string[]; segments: string[] }>(
    `SELECT ARRAY[input_file_id::text] AS input,
            ARRAY(SELECT file_id::text FROM batch_segment WHERE batch_id = batch.id) AS segments
     FROM batch WHERE id = $1`,
    [id],
  );
  return row!;
}

test('the pruner deletes the input of an ended batch at once, and the batch with its results after the retention', async () => {
  const [old, young] = [await ended(), await ended()];
  const { output } = await batches.results(old);
  expect((await new CollectionCalls(service).erase(output[0]!.request_id!)).status).toBe(204);
  await prune();
  const [ofOld, ofYoung] = [await filesOf(old), await filesOf(young)];
  for (const { input, segments } of [ofOld, ofYoung])
    expect([await filesOnDisk(input), await filesOnDisk(segments)]).toEqual([0, 2]);
  await endedAgo(old, 31);
  await endedAgo(young, 29);
  await prune();
  const { batch_id: id } = old;
  expect(await rowsOf(id)).toEqual({
    batch: 0,
    batch_line: 0,
    batch_segment: 0,
    erased_line: 0,
    file_use: 0,
  });
  for (const path of ['', '/output', '/errors'])
    expect((await batches.call(`/${id}${path}`)).status).toBe(404);
  expect(await filesOnDisk(ofOld.segments)).toBe(0);
  await batches.results(await batches.read(young.batch_id));
  expect(await filesOnDisk(ofYoung.segments)).toBe(2);
});

test('a batch that runs is kept, however old it is', async () => {
  const held = inputLines(1, () => ({ hold: true }));
  const { batch_id: id } = await batches.send(held, '?model_id=test/wide');
  await batches.until(id, ({ counts }) => counts.running === 1);
  await service.query(`UPDATE batch SET created_at = created_at - interval '40 days' WHERE id = $1`, [id]);
  await prune();
  expect(await batches.read(id)).toMatchObject({ status: 'in_progress' });
  await batches.cancel(id);
  await batches.results(await batches.ended(id));
});

test('an uploaded input is kept until its last batch has ended', async () => {
  const url = await files.store(
    inputLines(2, (i) => ({ hold: i === 1 })),
    'application/x-ndjson',
    'lines.jsonl',
  );
  const made = await Promise.all(
    [1, 2].map(() => batches.create({ model_id: 'test/wide', input_file: url })),
  );
  const [first, second] = made.map(({ batch_id }) => batch_id) as [string, string];
  for (const id of [first, second]) {
    await batches.until(id, ({ counts }) => counts.completed === 1 && counts.running === 1);
    await prune();
    expect((await fetch(url)).status).toBe(200);
  }
  await batches.cancel(first);
  await batches.ended(first);
  await prune();
  expect((await fetch(url)).status).toBe(200);
  await batches.cancel(second);
  await batches.ended(second);
  await prune();
  expect((await fetch(url)).status).toBe(404);
});
