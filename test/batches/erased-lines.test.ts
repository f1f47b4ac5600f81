import { openAiLines } from '../../src/adapters/openai/batch-lines.js';
import { BatchPruner } from '../../src/batches/duties/batch-pruner.js';
import { ownLines } from '../../src/batches/own-lines.js';
import { JsonThreads } from '../../src/json/json-threads.js';
import { BatchCalls, inputLines, type ResultLine } from '../support/batch-calls.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/one': {} }, limits: 'off' });
const batches = new BatchCalls(service);
const collection = new CollectionCalls(service);

const secret = 'the-secret-of-the-caller';
const isRefused = (i: number): boolean => i === 1;
const inputOf = (i: number): object => ({
  status: isRefused(i) ? 422 : 200,
  body: JSON.stringify({ said: `${secret} ${i}` }),
});

async function storedText(batchId: string): Promise<string> {
  const texts = await Promise.all([batches.call(`/${batchId}/output`), batches.call(`/${batchId}/errors`)]);
  return (await Promise.all(texts.map((answer) => answer.text()))).join('');
}

const gone = ({ custom_id, request_id }: ResultLine): object => ({
  custom_id,
  request_id,
  error: { code: 'gone', message: 'The request was erased.' },
});

test('the erasure of a request removes its line from the files of its batch and changes no other line', async () => {
  const { batch_id: id } = await batches.send(inputLines(4, inputOf), '?model_id=test/one');
  const ended = await batches.ended(id);
  const { output, errors } = await batches.results(ended);
  const [first, second, third] = output as [ResultLine, ResultLine, ResultLine];
  const [refused] = errors as [ResultLine];
  const before = await service.query<{ file: string }>('SELECT file_id AS file FROM batch_segment');
  for (const { request_id } of [second, refused])
    expect((await collection.erase(request_id!)).status).toBe(204);
  const expected = { output: [first, gone(second), third], errors: [gone(refused)] };
  expect(await batches.results(await batches.read(id))).toEqual(expected);
  const pruner = service.app.get(BatchPruner);
  await pruner.runOnce();
  expect(await batches.results(await batches.read(id))).toEqual(expected);
  expect((await storedText(id)).split(secret).length - 1).toBe(2);
  // The new files are read as they are, so they do not have the lines either.
  expect(await service.query('SELECT is_gone FROM erased_line')).toEqual([
    { is_gone: true },
    { is_gone: true },
  ]);
  const after = await service.query<{ file: string }>('SELECT file_id AS file FROM batch_segment');
  expect(after.length).toBe(before.length);
  for (const { file } of before) expect(after.map((one) => one.file)).not.toContain(file);
  const over = await service.query(`SELECT FROM file_use WHERE file_id = ANY ($1) AND NOT is_over`, [
    before.map(({ file }) => file),
  ]);
  expect(over).toEqual([]);
  // What is erased later is found by the next round.
  expect((await collection.erase(first.request_id!)).status).toBe(204);
  await pruner.runOnce();
  expect((await storedText(id)).split(secret).length - 1).toBe(1);
  expect((await batches.call(`/${id}`, { method: 'DELETE' })).status).toBe(204);
  expect(await service.query('SELECT FROM erased_line')).toEqual([]);
});

test('a segment with lost bytes does not block the removal of lines from other batches', async () => {
  const ended = async (): Promise<ResultLine> => {
    const { batch_id: id } = await batches.send(inputLines(1, inputOf), '?model_id=test/one');
    const { output } = await batches.results(await batches.ended(id));
    return output[0]!;
  };
  const [lost, other] = [await ended(), await ended()];
  for (const { request_id } of [lost, other]) expect((await collection.erase(request_id!)).status).toBe(204);
  await service.query(
    `DELETE FROM file USING batch_segment, erased_line
     WHERE file.id = file_id AND batch_segment.batch_id = erased_line.batch_id AND request_id = $1`,
    [lost.request_id],
  );
  await service.app.get(BatchPruner).runOnce();
  expect(await service.query('SELECT FROM erased_line WHERE NOT is_gone')).toEqual([]);
  await service.query('DELETE FROM erased_line');
});

test('a tag that only looks like the tag of a batch records no erased line', async () => {
  const [batch] = await service.query<{ id: string }>('SELECT gen_random_uuid() AS id');
  for (const tag of ['batch:none', `batch:${batch!.id}`]) {
    const answer = await service.submit(`test/one?tag=${tag}`, {});
    const { request_id: id } = (await answer.json()) as { request_id: string };
    await calls.reached(id, 'COMPLETED');
    expect((await collection.erase(id)).status).toBe(204);
  }
  expect(await service.query('SELECT FROM erased_line')).toEqual([]);
});

test.each([
  ['own', ownLines],
  ['openai', openAiLines],
])('the head of a line in the format %s contains its custom id and its request id', async (_name, format) => {
  const requestId = '01a220f1-a270-73a4-a02a-6394f6a844ff';
  const batch = { id: requestId, modelId: 'test/one', metadata: {} };
  for (const customId of [
    'a',
    'with "quotes" and \\',
    '","request_id":"01a2',
    'ä\n☃',
    '\u0001'.repeat(512),
  ]) {
    const line = { customId, requestId };
    const written = [
      await format.output({ ...line, output: '{}', completedAtMs: 1 }, batch, service.app.get(JsonThreads)),
      format.error({ ...line, error: { code: 'gone', message: 'Gone.', status: 410 } }, batch),
    ];
    for (const text of written) expect(format.headOf(text)).toEqual(line);
    const unsent = format.error(
      { customId, requestId: null, error: { code: 'gone', message: '', status: 410 } },
      batch,
    );
    expect(format.headOf(unsent)).toBeUndefined();
  }
});
