import { writeFile } from 'node:fs/promises';
import { Config } from '../../src/config/config.js';
import { policyText } from '../../src/config/rate-limits.js';
import { Gate } from '../../src/limits/gate.js';
import { AdminCalls } from '../support/admin-calls.js';
import { type BatchResult, CollectionCalls } from '../support/collection-calls.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { startTestService, until } from '../support/index.js';
import { onNextCall } from '../support/on-next-call.js';
import { testQueue } from '../support/test-queue.js';

const schema = { type: 'object', properties: { width: { type: 'integer' } } };
const models = {
  'test/one': { concurrency: 8, expires: '1h' },
  'test/typed': { input_schema: schema },
  'test/short': { concurrency: 1, max_waiting: 2 },
  'test/arrival': { concurrency: 1, order: 'arrival' },
  'test/fair': { concurrency: 1 },
};
const { service, calls, model } = testQueue({ models, limits: '10000/s' });
const collection = new CollectionCalls(service);
const entry = (more: object = {}): object => ({ model_id: 'test/one', input: {}, ...more });
const codes = (results: BatchResult[]) => results.map(({ status, code }) => [status, code]);

test('a batch submits each entry, and answers in the order of the entries', async () => {
  const results = await collection.batch([
    entry({ input: { n: 1 }, tag: 'job:1' }),
    entry({ input: { n: 2 }, tag: ['job:1', 'last:yes'], priority: 'low' }),
    entry({ model_id: 'test/typed', input: { width: 3 }, delay: '1h' }),
  ]);
  expect(results).toHaveLength(3);
  for (const { status, request_id: id, ...urls } of results) {
    const url = `${service.url}/v1/queue/requests/${id!}`;
    expect([status, urls]).toEqual([
      202,
      { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` },
    ]);
  }
  const statuses = await Promise.all(results.map(({ request_id: id }) => calls.status(id!)));
  expect(statuses).toMatchObject([
    { model_id: 'test/one', tags: ['job:1'] },
    { model_id: 'test/one', tags: ['job:1', 'last:yes'] },
    { model_id: 'test/typed', status: 'IN_QUEUE', reason: 'scheduled' },
  ]);
  await calls.response(results[0]!.request_id!);
  const sent = model.calls.find(({ id }) => id === results[0]!.request_id);
  expect(sent!.body).toBe('{ "n": 1 }'.replaceAll(' ', ''));
});

test('inputs stay as they were written', async () => {
  const inputs = [
    '{"n":123456789012345678901234567890,"e":1.0e2,"a":"\\u00e9"}',
    '{ "b" : [1, 2 , {"c]":"}\\""} ], "a" : -0.0 }',
    '{"input":{"input":1},"n":1.10}',
  ];
  const body = `\uFEFF{"requests" : [ {"input":${inputs[0]!},"model_id":"test/one"},
    { "input":[],"model_id":"test/one", "input" : ${inputs[1]!} } ,{"model_id":"test/one","input":${inputs[2]!}} ]}`;
  const answer = await collection.call('POST', '', body);
  const { results } = (await answer.json()) as { results: BatchResult[] };
  const stored = await Promise.all(
    results.map(async ({ request_id: id }) => {
      const [row] = await service.query<{ input: string }>('SELECT input::text FROM request WHERE id = $1', [
        id,
      ]);
      return row!.input;
    }),
  );
  expect(stored).toEqual(inputs);
});

test('a bad entry gets the error of the same single submission, and affects no other entry', async () => {
  const before = await calls.count('request');
  const deep = JSON.parse(`${'{"a":'.repeat(200)}{}${'}'.repeat(200)}`) as object;
  const results = await collection.batch([
    entry(),
    1,
    null,
    { input: {} },
    entry({ model_id: 'test/on' }),
    entry({ model_id: 'requests/\0/\ud800' }),
    { model_id: 'test/one' },
    entry({ input: [1] }),
    entry({ input: { a: 'b\0' } }),
    entry({ input: deep }),
    entry({ model_id: 'test/typed', input: { width: 'wide' } }),
    entry({ prority: 'high' }),
    entry({ priority: 'urgent' }),
    entry({ priority: ['high', 'low'] }),
    entry({ expires: '999999999d' }),
    entry({ delay: true }),
    entry({ delay: { s: 1 } }),
    entry({ tag: [] }),
    entry({ tag: ['a:b', 1] }),
    entry({ webhook: 'http://a.example/\0' }),
    entry({ webhook: 'http://a.example/\ud800' }),
    entry({ idempotency_key: '' }),
    entry({ idempotency_key: 'ä' }),
    entry({ ['__proto__']: 1, constructor: 1 }),
    entry({ tag: null, priority: '', logs: true }),
  ]);
  expect(codes(results)).toEqual([
    [202, undefined],
    [400, 'bad_request'],
    [400, 'bad_request'],
    [400, 'bad_request'],
    [404, 'unknown_model'],
    [404, 'unknown_model'],
    [400, 'invalid_json'],
    [400, 'invalid_json'],
    [422, 'invalid_input'],
    [422, 'invalid_input'],
    [422, 'invalid_input'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [202, undefined],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_query'],
    [400, 'invalid_idempotency_key'],
    [400, 'invalid_idempotency_key'],
    [400, 'invalid_query'],
    [202, undefined],
  ]);
  expect(results[4]!.detail).toContain('did you mean "test/one"?');
  expect(results[10]!.errors).toEqual([{ path: '/width', message: expect.any(String) }]);
  expect(results[11]!.detail).toContain('There is no option "prority", did you mean "priority"?');
  expect(await calls.count('request')).toBe(before + 3);
});

test('an entry is refused if its model is added after its input was read, which no schema has checked', async () => {
  onNextCall(service.app.get(Gate), 'enterItems', (enterItems) => async (...values) => {
    const text = model.file({ ...models, 'test/added': { input_schema: schema } });
    await writeFile(service.config.modelsFile, text);
    expect((await new AdminCalls(service).call('POST', '/models/reload')).status).toBe(200);
    return enterItems(...values);
  });
  const late = entry({ model_id: 'test/added', input: { width: 'wide' } });
  expect(codes(await collection.batch([late]))).toEqual([[404, 'unknown_model']]);
  expect(codes(await collection.batch([late]))).toEqual([[422, 'invalid_input']]);
});

test.each([
  ['', 'invalid_json'],
  ['[]', 'invalid_json'],
  ['{"requests":[{"model_id":"test/one","input":{}},]}', 'invalid_json'],
  ['{}', 'bad_request'],
  ['{"requests":{}}', 'bad_request'],
  ['{"requests":[{}],"tag":"a:b"}', 'invalid_query'],
  ['{"requests":[]}', 'bad_request'],
  [JSON.stringify({ requests: Array.from({ length: 1_001 }, () => entry()) }), 'bad_request'],
])('%.60s is refused as a batch, and nothing is submitted', async (body, code) => {
  const before = await calls.count('request');
  expect((await problemOf(await collection.call('POST', '', body))).code).toBe(code);
  expect(await calls.count('request')).toBe(before);
});

test('a thousand entries are queued in the order of the batch', async () => {
  const requests = Array.from({ length: 1_000 }, (_, n) => entry({ input: { n }, delay: '1h' }));
  const results = await collection.batch(requests);
  const ids = results.map(({ request_id: id }) => id!);
  expect(new Set(ids).size).toBe(1_000);
  const rows = await service.query<{ n: number }>(
    `SELECT (input ->> 'n')::integer AS n FROM request WHERE id = ANY ($1) ORDER BY seq`,
    [ids],
  );
  expect(rows.map(({ n }) => n)).toEqual(ids.map((_, n) => n));
});

test('each entry runs once', async () => {
  const results = await collection.batch(Array.from({ length: 60 }, () => entry()));
  const ids = results.map(({ request_id: id }) => id!);
  await until(async () => (await collection.statuses(ids)).every((one) => one?.status === 'COMPLETED'));
  expect(ids.filter((id) => model.times(id) !== 1)).toEqual([]);
});

test.each(['test/arrival', 'test/fair'])(
  'entries with and without an idempotency key are written in one commit, and wait for %s in their order',
  async (modelId) => {
    const running = await calls.submit(modelId, { hold: true });
    await model.arrived(running);
    const keys = ['c', undefined, 'a', undefined, 'b'].map((key) => key && `${modelId} ${key}`);
    const results = await collection.batch(
      keys.map((key) => entry({ model_id: modelId, idempotency_key: key })),
    );
    const ids = results.map(({ request_id: id }) => id!);
    const statuses = await Promise.all(ids.map((id) => calls.status(id)));
    expect(statuses.map((status) => status.queue_position)).toEqual([0, 1, 2, 3, 4]);
    const commits = 'SELECT count(DISTINCT xmin::text)::integer AS commits FROM request WHERE id = ANY ($1)';
    expect(await service.query(commits, [ids])).toEqual([{ commits: 1 }]);
    await model.answer(running);
  },
);

describe('an idempotency key', () => {
  test('refers to its first submission, whether single, in another batch or in the same batch', async () => {
    const alone = await calls.submit('test/one?tag=a:1', { n: 1 }, { 'idempotency-key': 'alone' });
    const same = { input: { n: 1 }, tag: 'a:1' };
    const results = await collection.batch([
      entry({ ...same, idempotency_key: 'alone' }),
      entry({ ...same, idempotency_key: 'new' }),
      entry({ input: { n: 2 }, idempotency_key: 'alone' }),
      entry({ ...same, idempotency_key: 'new' }),
      entry({ ...same, tag: 'a:2', idempotency_key: 'new' }),
      entry(),
      entry({ idempotency_key: 'another' }),
    ]);
    expect(codes(results).map(([status]) => status)).toEqual([202, 202, 422, 202, 422, 202, 202]);
    expect(results[2]!.code).toBe('idempotency_key_reused');
    const ids = results.map(({ request_id: id }) => id);
    expect(ids[0]).toBe(alone);
    expect(ids[3]).toBe(ids[1]);
    expect(new Set([ids[0], ids[1], ids[5], ids[6]]).size).toBe(4);
    expect(await calls.submit('test/one?tag=a:1', { n: 1 }, { 'idempotency-key': 'new' })).toBe(ids[1]);
    const again = await collection.batch([entry({ ...same, idempotency_key: 'new' })]);
    expect(again[0]!.request_id).toBe(ids[1]);
  });

  test('is compared with its first submission, not with other entries of a batch', async () => {
    const one = (n: number) => entry({ input: { n }, idempotency_key: 'compared' });
    const [first] = await collection.batch([one(1)]);
    const again = await collection.batch([one(2), one(1), one(2)]);
    expect(again.map(({ code, request_id: id }) => code ?? id)).toEqual([
      'idempotency_key_reused',
      first!.request_id,
      'idempotency_key_reused',
    ]);
  });

  test('is used once by concurrent batches with the same keys in different orders', async () => {
    const batch = Array.from({ length: 100 }, (_, n) =>
      entry({ input: { n }, idempotency_key: `raced-${n}` }),
    );
    const before = await calls.count('request');
    const answers = await Promise.all(
      [batch, batch.toReversed(), batch, batch.toReversed()].map((one) => collection.batch(one)),
    );
    expect(await calls.count('request')).toBe(before + 100);
    const ids = (results: BatchResult[]) => results.map(({ request_id: id }) => id);
    expect(ids(answers[1]!).toReversed()).toEqual(ids(answers[0]!));
    expect(ids(answers[3]!).toReversed()).toEqual(ids(answers[2]!));
    expect(ids(answers[2]!)).toEqual(ids(answers[0]!));
  });

  test('can be used again after a day', async () => {
    const [first] = await collection.batch([entry({ idempotency_key: 'old' })]);
    await service.query(
      `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`,
    );
    const [second] = await collection.batch([entry({ idempotency_key: 'old', input: { n: 2 } })]);
    expect([second!.status, second!.request_id === first!.request_id]).toEqual([202, false]);
  });
});

test('the limits on waiting requests apply to each entry of a batch', async () => {
  const end = await calls.submit('test/short', { hold: true });
  await model.arrived(end);
  const results = await collection.batch(Array.from({ length: 4 }, () => entry({ model_id: 'test/short' })));
  expect(codes(results)).toEqual([
    [202, undefined],
    [202, undefined],
    [429, 'queue_full'],
    [429, 'queue_full'],
  ]);
  const key = await calls.newKey({ maxWaiting: 1 });
  const busy = [entry({ delay: '1h' }), entry({ delay: '1h' }), entry({ delay: '1h' })];
  expect(codes(await collection.batch(busy, key))).toEqual([
    [202, undefined],
    [429, 'queue_full'],
    [429, 'queue_full'],
  ]);
  await model.answer(end);
});

test('concurrent batches and single submissions of a key fill its waiting limit exactly, and all are answered', async () => {
  const [most, rounds] = [10, 5];
  for (let round = 0; round < rounds; round++) {
    const key = await calls.newKey({ maxWaiting: most });
    const batch = Array.from({ length: 2 * most }, () => entry({ delay: '1h' }));
    const single = async (): Promise<number> =>
      (await service.submit('test/one?delay=1h', {}, keyHeader(key))).status;
    const [answers, statuses] = await Promise.all([
      Promise.all(Array.from({ length: 3 }, () => collection.batch(batch, key))),
      Promise.all(Array.from({ length: most }, single)),
    ]);
    const accepted = [...answers.flat().map(({ status }) => status), ...statuses].filter(
      (one) => one === 202,
    );
    expect(accepted).toHaveLength(most);
  }
});

test('entries that repeat an idempotency key take no room in the queue', async () => {
  const key = await calls.newKey({ maxWaiting: 3 });
  const keyed = (...names: string[]) =>
    names.map((name) => entry({ delay: '1h', idempotency_key: `room ${name}` }));
  const first = await collection.batch(keyed('a', 'a', 'b', 'b'), key);
  expect(codes(first)).toEqual(Array.from({ length: 4 }, () => [202, undefined]));
  const again = await collection.batch(keyed('a', 'b', 'c', 'd', 'c', 'd'), key);
  expect(codes(again)).toEqual([
    [202, undefined],
    [202, undefined],
    [202, undefined],
    [429, 'queue_full'],
    [202, undefined],
    [429, 'queue_full'],
  ]);
  expect([again[0], again[1], again[4]].map((one) => one!.request_id)).toEqual(
    [first[0], first[2], again[2]].map((one) => one!.request_id),
  );
});

test('entries have their own rate limit: those beyond it are refused, the others accepted', async () => {
  const key = await calls.newKey({ rateLimitBatch: '5/m', rateLimitSubmit: '1/m', rateLimitOther: '10/m' });
  const answer = await collection.call('POST', '', { requests: [entry(), entry(), entry()] }, key);
  expect([
    answer.status,
    answer.headers.get('x-ratelimit-limit'),
    answer.headers.get('x-ratelimit-remaining'),
    answer.headers.get('retry-after'),
  ]).toEqual([200, '5', '2', null]);
  await answer.json();
  const second = await collection.call(
    'POST',
    '',
    { requests: [entry(), { bad: 1 }, entry(), entry()] },
    key,
  );
  const { results } = (await second.json()) as { results: BatchResult[] };
  expect(codes(results)).toEqual([
    [202, undefined],
    [400, 'bad_request'],
    [403, 'rate_limited'],
    [403, 'rate_limited'],
  ]);
  expect(second.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
  const third = await collection.call('POST', '', { requests: [entry(), { bad: 1 }] }, key);
  expect([third.status, third.headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
  const refused = ((await third.json()) as { results: BatchResult[] }).results;
  expect(codes(refused)).toEqual(refused.map(() => [403, 'rate_limited']));
  // Batches do not count against the limit of single submissions, nor the other way round.
  expect((await service.submit('test/one', {}, keyHeader(key))).status).toBe(202);
  expect(await verdict(service.submit('test/one', {}, keyHeader(key)))).toEqual([403, 'rate_limited']);
});

test('the batch call itself counts against the limit for other calls', async () => {
  const key = await calls.newKey({ rateLimitSubmit: '1/m', rateLimitOther: '2/m' });
  const results = [await collection.batch([entry()], key), await collection.batch([entry()], key)];
  expect(results.map(codes)).toEqual([[[202, undefined]], [[202, undefined]]]);
  expect(await verdict(collection.call('POST', '', { requests: [entry()] }, key))).toEqual([
    403,
    'rate_limited',
  ]);
});

test('the default limits accept a whole batch of 1,000', async () => {
  const { rateLimitSubmit, rateLimitOther, rateLimitBatch } = new Config();
  const key = await calls.newKey({
    rateLimitSubmit: policyText(rateLimitSubmit),
    rateLimitOther: policyText(rateLimitOther),
    rateLimitBatch: policyText(rateLimitBatch),
  });
  const requests = Array.from({ length: 1_000 }, () => entry({ delay: '1h' }));
  const results = await collection.batch(requests, key);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set([202]));
  expect(results).toHaveLength(1_000);
});

test('a batch needs a key with the scope submit, and each entry needs the right to its model', async () => {
  const reader = await calls.newKey({ scopes: ['read', 'cancel'] });
  expect(await verdict(collection.call('POST', '', { requests: [entry()] }, reader))).toEqual([
    403,
    'forbidden',
  ]);
  const other = await calls.newKey({ models: ['test/typed'], maxPriority: 'low' });
  const results = await collection.batch(
    [entry(), entry({ model_id: 'test/typed' }), entry({ model_id: 'test/typed', priority: 'high' })],
    other,
  );
  expect(codes(results)).toEqual([
    [403, 'forbidden'],
    [202, undefined],
    [403, 'forbidden'],
  ]);
});

test('a batch may be as large as the body limit, and no larger', async () => {
  const small = await startTestService({ limits: '1000/s', config: { maxBodyBytes: 10_000 } });
  try {
    const requests = [{ model_id: 'demo/text/echo', input: { prompt: 'x'.repeat(5_000) } }];
    const calls = new CollectionCalls(small);
    expect((await calls.batch(requests))[0]!.status).toBe(202);
    const twice = { requests: [...requests, ...requests] };
    expect(await verdict(calls.call('POST', '', twice))).toEqual([413, 'body_too_large']);
  } finally {
    await small.stop();
  }
});
