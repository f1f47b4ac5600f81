import { BatchValidation } from '../../src/batches/batch-validation.js';
import { Batches } from '../../src/batches/batches.js';
import { LineSubmissions } from '../../src/batches/line-submissions.js';
import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { readBatchFile } from '../../src/batches/queries/lines.js';
import { Config } from '../../src/config/config.js';
import { Database } from '../../src/database/database.js';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { FileCalls } from '../support/file-calls.js';
import { onNextCall } from '../support/on-next-call.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/wide': { concurrency: 20 },
    'test/one': { concurrency: 1 },
    'test/strict': {
      input_schema: { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string' } } },
    },
  },
  limits: '100000/s',
});
const batches = new BatchCalls(service);

test('runs each line and writes its output or the original error of the model', async () => {
  const text = inputLines(50, (i) => (i % 10 === 3 ? { status: 422, body: '{"reason":"no"}' } : { page: i }));
  const made = await batches.send(text, '?model_id=test/wide&tag=book:7');
  expect(made).toMatchObject({ status: 'validating', model_id: 'test/wide', tag: 'book:7', priority: 'low' });
  const batch = await batches.ended(made.batch_id);
  expect(batch).toMatchObject({
    status: 'completed',
    counts: { total: 50, waiting: 0, running: 0, completed: 45, failed: 5, cancelled: 0, expired: 0 },
  });
  const { output, errors } = await batches.results(batch);
  expect(output[0]!.output).toEqual({ done: output[0]!.request_id, attempt: 1 });
  expect(errors.map((line) => line.custom_id).sort()).toEqual([13, 23, 3, 33, 43].map((i) => `line-${i}`));
  expect(errors[0]!.error).toMatchObject({
    code: 'model_error',
    model_status: 422,
    model_body: { reason: 'no' },
  });
  const page = await service.get(`/v1/queue/requests?tag=batch:${made.batch_id}&tag=book:7&limit=100`, {
    headers: keyHeader(service.key),
  });
  const { data } = (await page.json()) as { data: { request_id: string }[] };
  expect(data.length).toBe(50);
});

test('accepts lines from a list and from a file, and preserves each digit of their numbers', async () => {
  const made = await batches.create({
    model_id: 'test/wide',
    requests: [
      { custom_id: 'a', input: { n: 1 } },
      { custom_id: 'b', model_id: 'test/one', input: {} },
    ],
  });
  expect((await batches.ended(made.batch_id)).counts.completed).toBe(2);
  const files = new FileCalls(service);
  const line = '{"custom_id": "big", "input": {"n": 12345678901234567890.10}}\r\n\r\n\r\n';
  const url = await files.store(line, 'application/x-ndjson', 'lines.jsonl');
  const ofFile = await batches.create({ model_id: 'test/wide', input_file: url });
  const batch = await batches.ended(ofFile.batch_id);
  expect(batch.counts).toMatchObject({ total: 1, completed: 1 });
  expect(model.calls.some(({ body }) => body.includes('12345678901234567890.10'))).toBe(true);
});

test.each(['none', '%zz'])('refuses an input file that does not exist: %s', async (name) => {
  const input_file = `${service.url}/v1/files/0198c2c5-7f4a-7c3e-8a27-3f1b2d4c5e6f/${name}`;
  const body = JSON.stringify({ model_id: 'test/wide', input_file });
  expect(await verdict(batches.call('', { method: 'POST', body }))).toEqual([422, 'input_file_not_found']);
});

test.each([
  ['[1]', 1, 'invalid_json'],
  ['{"custom_id": 1, "input": {}}', 1, 'bad_request'],
  ['{"custom_id": "", "input": {}}', 1, 'bad_request'],
  ['{"custom_id": "a"}', 1, 'bad_request'],
  ['{"custom_id": "a", "input": {}, "webhook": "x"}', 1, 'bad_request'],
  ['\n{"custom_id": "a", "input": {}}\n{"custom_id": "a", "input": {}}', 3, 'duplicate_custom_id'],
  ['{"custom_id": "a", "input": {}, "model_id": "test/none"}', 1, 'unknown_model'],
  ['\n\n', null, 'bad_request'],
])('submits nothing if the input contains the invalid line %j', async (line, number, code) => {
  const { batch_id } = await batches.send(line, '?model_id=test/wide');
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({
    status: 'failed',
    errors: [{ line: number, code }],
    counts: { total: null },
  });
  expect(await service.query('SELECT FROM request WHERE $1 = ANY (tags)', [`batch:${batch_id}`])).toEqual([]);
  await batches.results({ ...batch, counts: { ...batch.counts, total: 0 } });
});

test('a line that fails the schema of its model becomes an error line without a request', async () => {
  const { batch_id } = await batches.send(
    inputLines(4, (i) => (i === 2 ? {} : { prompt: 'x' })),
    '?model_id=test/strict',
  );
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({ status: 'completed', counts: { completed: 3, failed: 1 } });
  const { errors } = await batches.results(batch);
  expect(errors).toMatchObject([{ custom_id: 'line-2', request_id: null, error: { code: 'invalid_input' } }]);
});

test('output can be read while the batch runs, and a cancel writes an error for each unfinished line', async () => {
  const held = inputLines(6, (i) => ({ hold: i >= 2 }));
  const { batch_id } = await batches.send(held, '?model_id=test/one');
  await batches.until(batch_id, ({ counts }) => counts.completed === 2 && counts.running === 1);
  expect((await batches.lines(batch_id, 'output')).map((line) => line.custom_id)).toEqual([
    'line-0',
    'line-1',
  ]);
  const answer = await batches.cancel(batch_id);
  expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([202, 'cancelling']);
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({ status: 'cancelled', counts: { total: 6, completed: 2, cancelled: 4 } });
  const { errors } = await batches.results(batch);
  expect(new Set(errors.map(({ error }) => error!.code))).toEqual(new Set(['batch_cancelled']));
  expect((await batches.cancel(batch_id)).status).toBe(200);
});

test('large errors are read in pieces while the batch runs', async () => {
  const body = JSON.stringify({ reason: 'n'.repeat(60_000) });
  const input = inputLines(40, (i) => (i === 39 ? { hold: true } : { status: 422, body }));
  const { batch_id } = await batches.send(input, '?model_id=test/wide');
  await batches.until(batch_id, ({ counts }) => counts.failed === 39);
  const { lines } = await readBatchFile(service.app.get(Database), batch_id, 'errors');
  expect(lines.length).toBe(39);
  expect(JSON.stringify(lines).length).toBeLessThan(20_000);
  const all = service.app.get(Batches);
  const pieces: Buffer[] = [];
  for await (const piece of all.readErrors((await all.find(batch_id))!)) pieces.push(piece);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1024 ** 2 + 70_000);
  const errors = await batches.lines(batch_id, 'errors');
  expect(errors.map(({ error }) => error!.model_body)).toEqual(Array(39).fill(JSON.parse(body)));
  expect(Buffer.concat(pieces).toString().match(/\n/g)?.length).toBe(39);
  await batches.cancel(batch_id);
  await batches.results(await batches.ended(batch_id));
});

test('a batch expires, and its lines with it', async () => {
  const { batch_id } = await batches.send(
    inputLines(5, () => ({ hold: true })),
    '?model_id=test/one&completion_window=2s',
  );
  const batch = await batches.ended(batch_id, { timeoutMs: 30_000 });
  expect(batch).toMatchObject({ status: 'expired', counts: { total: 5, expired: 5 } });
  const { errors } = await batches.results(batch);
  expect(new Set(errors.map(({ error }) => error!.code))).toEqual(new Set(['batch_expired']));
});

test('a batch whose lines are all done before it expires is completed, although its driver sees that later', async () => {
  const { batch_id } = await batches.send(
    inputLines(2, () => ({ hold: true })),
    '?model_id=test/wide',
  );
  await batches.until(batch_id, ({ counts }) => counts.running === 2);
  const driver = service.app.get(BatchDriver);
  await driver.stop();
  const lines = await service.query<{ id: string }>('SELECT id FROM request WHERE $1 = ANY (tags)', [
    `batch:${batch_id}`,
  ]);
  for (const { id } of lines) await model.answer(id);
  for (const { id } of lines) await calls.reached(id, 'COMPLETED');
  await service.query('UPDATE batch SET expires_at = clock_timestamp() WHERE id = $1', [batch_id]);
  driver.start();
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({ status: 'completed', counts: { total: 2, completed: 2 } });
  await batches.results(batch);
});

test('a batch that is cancelled while its invalid input is checked ends as cancelled', async () => {
  onNextCall(service.app.get(BatchValidation), 'run', (run) => async (...values) => {
    const found = await run(...values);
    await batches.cancel(values[0].id);
    return found;
  });
  const { batch_id } = await batches.send('[1]', '?model_id=test/wide');
  const batch = await batches.ended(batch_id);
  expect(batch).toMatchObject({ status: 'cancelled', counts: { total: null }, errors: [] });
});

test.each(['completed', 'cancelled'])(
  'a batch whose lines exceed a MAX_BODY_BYTES that was lowered after their check can still be %s',
  async (end) => {
    const config = service.app.get(Config);
    const { maxBodyBytes } = config;
    onNextCall(service.app.get(LineSubmissions), 'submit', (submit) => async (...values) => {
      config.maxBodyBytes = 10;
      if (end === 'completed') return submit(...values);
      await batches.cancel(values[0].id);
      return 1;
    });
    try {
      const { batch_id } = await batches.send(inputLines(3), '?model_id=test/wide');
      const batch = await batches.ended(batch_id);
      expect(batch).toMatchObject({ status: end, counts: { total: 3, [end]: 3 } });
      await batches.results(batch);
    } finally {
      config.maxBodyBytes = maxBodyBytes;
    }
  },
);

test('a repetition with the same Idempotency-Key gets the same batch', async () => {
  const body = { model_id: 'test/wide', requests: [{ custom_id: 'a', input: {} }] };
  const headers = { 'idempotency-key': 'once' };
  const first = await batches.create(body, headers);
  expect((await batches.create(body, headers)).batch_id).toBe(first.batch_id);
  const other = await batches.call('', {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, tag: 'a:b' }),
  });
  expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([
    422,
    'idempotency_key_reused',
  ]);
});

test.each(['a repetition', 'another batch'])(
  'the lines of %s under a used Idempotency-Key are not kept',
  async (what) => {
    const key = await calls.newKey();
    const own = new BatchCalls({ url: service.url, key });
    const stored = async (): Promise<object[]> =>
      service.query(
        `SELECT files, stored_files.bytes FROM stored_files
         JOIN batch USING (api_key_id) WHERE batch.id = $1`,
        [batch_id],
      );
    const headers = { 'idempotency-key': 'lines' };
    const { batch_id } = await own.send(
      inputLines(1, () => ({ hold: true })),
      '?model_id=test/wide',
      headers,
    );
    await own.until(batch_id, ({ counts }) => counts.running === 1);
    const before = await stored();
    const again = await own.call('?model_id=test/wide', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', ...headers },
      body: inputLines(what === 'a repetition' ? 1 : 2, () => ({ hold: true })),
    });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual(
      what === 'a repetition' ? [202, 'true'] : [422, null],
    );
    await service.app.get(FilePruner).runOnce();
    expect(await stored()).toEqual(before);
    await own.cancel(batch_id);
    await own.ended(batch_id);
  },
);

test('a key can list and delete its own batch, and another key cannot read it', async () => {
  const own = await calls.newKey();
  const mine = new BatchCalls({ url: service.url, key: own });
  const { batch_id } = await mine.create({
    model_id: 'test/wide',
    requests: [{ custom_id: 'a', input: {} }],
  });
  await mine.ended(batch_id);
  const page = (await (await mine.call('?status=completed')).json()) as { data: unknown[] };
  expect(page.data.length).toBe(1);
  for (const path of ['', '/output', '/errors'])
    expect((await batches.call(`/${batch_id}${path}`)).status).toBe(404);
  expect((await mine.cancel(batch_id)).status).toBe(409);
  expect((await mine.call(`/${batch_id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await mine.call(`/${batch_id}`)).status).toBe(404);
  expect(
    await service.query('SELECT FROM file_use WHERE request_id = $1 AND NOT is_over', [batch_id]),
  ).toEqual([]);
  expect(await service.query('SELECT FROM batch_segment WHERE batch_id = $1', [batch_id])).toEqual([]);
});

test('a key has at most 100 open batches, however many calls create one at once', async () => {
  const key = await calls.newKey();
  const own = new BatchCalls({ url: service.url, key });
  const later = inputLines(1, () => ({ hold: true }));
  const make = (idempotencyKey: string): Promise<Response> =>
    own.call('?model_id=test/one', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey },
      body: later,
    });
  const answers = await Promise.all(Array.from({ length: 110 }, (_, i) => make(`call-${i}`)));
  // A repeated call makes none.
  const again = await make(`call-${answers.findIndex(({ ok }) => ok)}`);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  const made = await Promise.all(answers.filter(({ ok }) => ok).map((answer) => answer.json()));
  for (const { batch_id: id } of made as { batch_id: string }[]) await own.cancel(id);
  for (const { batch_id: id } of made as { batch_id: string }[]) await own.ended(id);
});
