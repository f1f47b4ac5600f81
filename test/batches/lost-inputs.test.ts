import { rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { LineSubmissions } from '../../src/batches/line-submissions.js';
import { BatchValidation } from '../../src/batches/batch-validation.js';
import { bytesOf } from '../../src/files/stores/file-store.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { FileCalls } from '../support/file-calls.js';
import { until } from '../support/index.js';
import { onNextCall } from '../support/on-next-call.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ models: { 'test/wide': { concurrency: 20 } }, limits: '100000/s' });
const batches = new BatchCalls(service);

/** Stores lines as a file. Returns its URL, its id and the path of its bytes. */
async function storeLines(text: string): Promise<{ url: string; id: string; path: string }> {
  const url = await new FileCalls(service).store(text, 'application/x-ndjson', 'lines.jsonl');
  const id = new URL(url).pathname.split('/')[3]!;
  const rows = await service.query<{ upload: number }>('SELECT upload FROM file WHERE id = $1', [id]);
  return { url, id, path: join(service.config.dataDir, 'files', bytesOf(id, rows[0]!.upload)) };
}

test('a batch fails if the bytes of its input are lost before it is validated', async () => {
  const { url, path } = await storeLines(inputLines(3));
  await rm(path);
  const { batch_id } = await batches.create({ model_id: 'test/wide', input_file: url });
  expect(await batches.ended(batch_id)).toMatchObject({
    status: 'failed',
    counts: { total: null },
    errors: [{ line: null, code: 'input_file_not_found' }],
  });
});

test.each(['its file is cut short', 'its file is erased'])(
  'lines that cannot be read any more are error lines, if %s while the batch runs',
  async (how) => {
    const text = inputLines(10);
    const { url, id, path } = await storeLines(text);
    const isCut = how === 'its file is cut short';
    onNextCall(service.app.get(BatchValidation), 'run', (run) => async (...values) => {
      const found = await run(...values);
      // Within the fifth line.
      if (isCut) await truncate(path, text.indexOf('line-4') + 3);
      else {
        await service.query('DELETE FROM file_use WHERE file_id = $1', [id]);
        await service.query('DELETE FROM file WHERE id = $1', [id]);
      }
      return found;
    });
    const { batch_id } = await batches.create({ model_id: 'test/wide', input_file: url });
    const batch = await batches.ended(batch_id);
    const completed = isCut ? 4 : 0;
    expect(batch).toMatchObject({
      status: 'completed',
      counts: { total: 10, waiting: 0, running: 0, completed, failed: 10 - completed },
    });
    expect((await batches.lines(batch_id, 'output')).map((line) => line.custom_id).sort()).toEqual(
      Array.from({ length: completed }, (_, i) => `line-${i}`),
    );
    const errors = await batches.lines(batch_id, 'errors');
    expect(errors.map(({ custom_id, request_id, error }) => [custom_id, request_id, error!.code])).toEqual(
      Array.from({ length: 10 - completed }, () => ['', null, 'input_file_not_found']),
    );
  },
);

test('lines that cannot be read any more are cancelled with their batch', async () => {
  const { url, path } = await storeLines(inputLines(10));
  onNextCall(service.app.get(LineSubmissions), 'submit', () => async ({ id }) => {
    await rm(path);
    await batches.cancel(id);
    return 1;
  });
  const { batch_id } = await batches.create({ model_id: 'test/wide', input_file: url });
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({ status: 'cancelled', counts: { total: 10, cancelled: 10 } });
  const errors = await batches.lines(batch_id, 'errors');
  expect(errors.map(({ error }) => error!.code)).toEqual(Array.from({ length: 10 }, () => 'batch_cancelled'));
});

test('a batch waits while the file folder is missing, and continues when it is back', async () => {
  const { url } = await storeLines(inputLines(3));
  const folder = join(service.config.dataDir, 'files');
  await rename(folder, `${folder}.away`);
  const { batch_id } = await batches.create({ model_id: 'test/wide', input_file: url });
  await until(async () => {
    const [row] = await service.query<{ waits: boolean }>(
      `SELECT due_at > created_at + interval '3 seconds' AS waits FROM batch WHERE id = $1`,
      [batch_id],
    );
    return row!.waits;
  });
  await rename(`${folder}.away`, folder);
  expect(await batches.ended(batch_id, { timeoutMs: 30_000 })).toMatchObject({
    status: 'completed',
    counts: { total: 3, completed: 3 },
  });
});
