import runpodSdk from 'runpod-sdk';
import { Webhook } from 'standardwebhooks';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { startTestService, until } from '../support/index.js';
import { keyHeader, unknownId } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, model, receiver, hooks } = testWebhooks(
  { adapters: ['runpod'] },
  {
    'acme/image/upscale/v2': { aliases: ['upscaler', 'x1y2z3'] },
    'test/one': { concurrency: 1, expires: '1h' },
    'test/strict': { input_schema: { type: 'object', required: ['prompt'] } },
  },
);

/** The client of the page in docs, for a model. */
const endpoint = (name = 'acme/image/upscale/v2', key = service.key) =>
  runpodSdk(key, { baseUrl: `${service.url}/runpod/v2` }).endpoint(name)!;

const post = (path: string, body: object, init: RequestInit = {}): Promise<Response> =>
  fetch(`${service.url}/runpod/v2/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify(body),
    ...init,
  });

const delta = (value: unknown): object => ({ type: 'delta', delta: value });

/** Returns the status and the body of the answer that the client throws. */
async function refusalOf(promise: Promise<unknown>): Promise<[number, Record<string, unknown>]> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { response } = error as { response: { status: number; data: Record<string, unknown> } };
  return [response.status, response.data];
}

/** Occupies the only slot of `test/one` until the returned function is called. */
async function busy(): Promise<() => Promise<void>> {
  const { id } = await endpoint('test/one').run({ input: { hold: true } });
  await model.arrived(id);
  return async () => {
    await model.answer(id);
    await calls.reached(id, 'COMPLETED');
  };
}

test('run answers at once, and status follows the job to its output', async () => {
  const queued = await endpoint().run({ input: { hold: true } });
  expect(queued).toEqual({ id: expect.any(String), status: 'IN_QUEUE' });
  await model.arrived(queued.id);
  expect(await endpoint().status(queued.id)).toEqual({
    id: queued.id,
    status: 'IN_PROGRESS',
    delayTime: expect.any(Number),
    started: true,
    completed: false,
    succeeded: false,
  });
  await model.answer(queued.id, '{"n":12345678901234567890.10}');
  await calls.reached(queued.id, 'COMPLETED');
  expect(await endpoint().status(queued.id)).toMatchObject({
    status: 'COMPLETED',
    completed: true,
    succeeded: true,
    delayTime: expect.any(Number),
    executionTime: expect.any(Number),
  });
  const path = `/runpod/v2/any/status/${queued.id}`;
  expect(await (await service.get(path)).text()).toContain('"output":{"n":12345678901234567890.10}');
});

test.each(['acme/image/upscale/v2', 'upscaler', 'x1y2z3'])('%s is an endpoint', async (name) => {
  const { id } = await endpoint(name).run({ input: { prompt: 1 } });
  expect((await model.arrived(id)).body).toBe('{"prompt":1}');
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ model_id: 'acme/image/upscale/v2' });
});

test('a large input arrives as it was written', async () => {
  const input = `{"text":"${'x'.repeat(300_000)}","n":12345678901234567890.10}`;
  const answer = await fetch(`${service.url}/runpod/v2/upscaler/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: `{"policy":{"lowPriority":true},"input":${input}}`,
  });
  const { id } = (await answer.json()) as { id: string };
  expect((await model.arrived(id)).body).toBe(input);
});

test('runSync waits for the output', async () => {
  const job = await endpoint().runSync({ input: { body: '{"text":"hello"}' } });
  expect(job).toMatchObject({ status: 'COMPLETED', output: { text: 'hello' }, succeeded: true });
});

test('a key is also accepted without a scheme, as the calls of the documentation send it', async () => {
  const answer = await post('upscaler/run', { input: {} }, { headers: { authorization: service.key } });
  expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'IN_QUEUE' }]);
});

test('a wait that times out returns the job, and the job continues', async () => {
  const job = await endpoint().runSync({ input: { hold: true } }, 1_000);
  expect(job).toMatchObject({ id: expect.any(String), status: 'IN_PROGRESS', completed: false });
  const ended = endpoint().statusSync(job.id);
  await model.answer(job.id, '{"late":true}');
  expect(await ended).toMatchObject({ status: 'COMPLETED', output: { late: true } });
});

test('a closed runsync cancels its job after a while', async () => {
  const abandoned = service.app.get(AbandonedCalls);
  const { graceMs } = abandoned;
  abandoned.graceMs = 50;
  try {
    const controller = new AbortController();
    const before = model.calls.length;
    const closed = post('upscaler/runsync', { input: { hold: true } }, { signal: controller.signal });
    const { id } = await until(() => model.calls[before]);
    controller.abort();
    await expect(closed).rejects.toThrow('aborted');
    const status = await calls.reached(id, 'COMPLETED');
    expect(status.error?.code).toBe('cancelled');
  } finally {
    abandoned.graceMs = graceMs;
  }
});

test('a runsync that is sent again after its connection broke gets the same job', async () => {
  const body = { input: { hold: true, again: 1 } };
  const controller = new AbortController();
  const before = model.calls.length;
  const closed = post('upscaler/runsync', body, { signal: controller.signal });
  const { id } = await until(() => model.calls[before]);
  controller.abort();
  await expect(closed).rejects.toThrow('aborted');
  await until(async () => (await calls.count('abandoned_call')) === 1);
  const again = endpoint('upscaler').runSync(body);
  await until(async () => (await calls.count('abandoned_call')) === 0);
  await model.answer(id);
  expect(await again).toMatchObject({ id, status: 'COMPLETED' });
  expect(model.calls.length).toBe(before + 1);
});

test('a job ends as FAILED, TIMED_OUT or CANCELLED, with the reason', async () => {
  const failed = await endpoint().runSync({ input: { status: 422, body: '{"detail":"no"}' } });
  expect(failed).toMatchObject({ status: 'FAILED', error: 'The model answered 422: no', succeeded: false });
  const silent = await endpoint().runSync({ input: { status: 422, body: '{}' } });
  expect(silent).toMatchObject({ status: 'FAILED', error: 'The model answered 422.' });
  const policy = { executionTimeout: 100 };
  const slow = await endpoint().runSync({ input: { hold: true }, policy });
  expect(slow).toMatchObject({ status: 'TIMED_OUT', error: expect.any(String) });
  const end = await busy();
  const late = await endpoint('test/one').runSync({ input: {}, policy: { ttl: 50 } });
  expect(late).toMatchObject({ status: 'TIMED_OUT', error: expect.any(String) });
  const { id } = await endpoint('test/one').run({ input: {} });
  const cancelled = await endpoint('test/one').cancel(id);
  expect(cancelled).toMatchObject({ id, status: 'CANCELLED' });
  await end();
});

test('a running job is cancelled, and an ended job is returned unchanged', async () => {
  const { id } = await endpoint().run({ input: { hold: true } });
  await model.arrived(id);
  expect(await endpoint().cancel(id)).toMatchObject({ id, status: 'CANCELLED' });
  expect(await endpoint().cancel(id)).toMatchObject({ id, status: 'CANCELLED' });
  const { id: done } = await endpoint().runSync({ input: {} });
  expect(await endpoint().cancel(done)).toMatchObject({ id: done, status: 'COMPLETED' });
});

test('a policy is kept within the bounds of the model', async () => {
  const policy = { executionTimeout: 600_000, ttl: 86_400_000, lowPriority: true };
  const { id } = await endpoint('test/one').run({ input: {}, policy });
  const rows = await service.query(
    `SELECT adapter, priority, timeout_ms, extract(epoch FROM expires_at - created_at)::integer AS seconds
     FROM request WHERE id = $1`,
    [id],
  );
  expect(rows).toEqual([{ adapter: 'runpod', priority: 1, timeout_ms: null, seconds: 3_600 }]);
});

test('a stream yields every part once', async () => {
  const { id } = await endpoint().run({ input: { hold: true } });
  const parts: unknown[] = [];
  const reading = (async () => {
    for await (const part of endpoint().stream(id)) parts.push(part);
  })();
  await model.say(id, [delta('Once')]);
  await until(() => parts.length === 1);
  await model.say(id, [delta({ upon: 1 }), delta(' a time')]);
  await until(() => parts.length === 3);
  await model.say(id, [{ type: 'output', output: 'Once upon a time' }]);
  (await model.arrived(id)).response.end();
  await reading;
  expect(parts).toEqual(
    ['Once', { upon: 1 }, ' a time'].map((output, index) => ({ output, metrics: { attempt: 1, index } })),
  );
  // What was read is remembered with the job.
  const again: unknown[] = [];
  for await (const part of endpoint().stream(id)) again.push(part);
  expect(again).toEqual([]);
});

test('each part of a stream goes to only one of two simultaneous readers', async () => {
  const { id } = await endpoint().run({ input: { hold: true } });
  const read = async (): Promise<number[]> => {
    const parts: number[] = [];
    for await (const { output } of endpoint().stream(id)) parts.push((output as { part: number }).part);
    return parts;
  };
  const reading = [read(), read()];
  for (let part = 0; part < 5; part++) {
    await model.say(id, [delta({ part })]);
    await until(async () => {
      const [row] = await service.query('SELECT output_read_to AS place FROM request WHERE id = $1', [id]);
      return row!['place'] === `1.${part + 1}`;
    });
  }
  await model.say(id, [{ type: 'output', output: 0 }]);
  (await model.arrived(id)).response.end();
  const all = (await Promise.all(reading)).flat();
  expect(all.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
});

test('the output of a model without parts is one part, and a failed job ends the stream', async () => {
  const { id } = await endpoint().run({ input: { body: '{"text":"whole"}' } });
  const parts: unknown[] = [];
  for await (const { output } of endpoint().stream(id)) parts.push(output);
  expect(parts).toEqual([{ text: 'whole' }]);
  const { id: failed } = await endpoint().run({ input: { status: 422, body: '{}' } });
  for await (const part of endpoint().stream(failed)) parts.push(part);
  expect(parts).toHaveLength(1);
  const end = await service.get(`/runpod/v2/upscaler/stream/${failed}`);
  expect(await end.json()).toMatchObject({ status: 'FAILED', error: expect.any(String), stream: [] });
});

test('retry submits a failed job again, and refuses one that succeeded', async () => {
  const { id } = await endpoint().runSync({ input: { attempts: [{ status: 422, body: '{}' }] } });
  const answer = await post(`upscaler/retry/${id}`, {});
  const { id: retried } = (await answer.json()) as { id: string };
  expect([answer.status, await calls.status(retried)]).toMatchObject([200, { retry_of: id }]);
  const { id: done } = await endpoint().runSync({ input: {} });
  const refused = await post(`upscaler/retry/${done}`, {});
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: expect.stringContaining('FAILED') },
  ]);
});

test('purgeQueue cancels the waiting jobs of its key, and no others', async () => {
  const end = await busy();
  const other = endpoint('test/one', await calls.newKey());
  const { id: theirs } = await other.run({ input: {} });
  const own = [await endpoint('test/one').run({ input: {} }), await endpoint('test/one').run({ input: {} })];
  expect(await endpoint('test/one').purgeQueue()).toEqual({ removed: 2, status: 'completed' });
  for (const { id } of own)
    expect(await endpoint('test/one').status(id)).toMatchObject({ status: 'CANCELLED' });
  expect(await other.status(theirs)).toMatchObject({ status: 'IN_QUEUE' });
  await end();
  await calls.reached(theirs, 'COMPLETED');
});

test('health has the jobs and the slots of the model', async () => {
  const end = await busy();
  await endpoint('test/one').run({ input: {} });
  const health = await until(async () => {
    const found = await endpoint('test/one').health();
    return found.jobs.inProgress === 1 && found;
  });
  expect(health).toEqual({
    jobs: {
      completed: expect.any(Number),
      failed: expect.any(Number),
      inProgress: 1,
      inQueue: 1,
      retried: 0,
    },
    workers: { idle: 0, initializing: 0, ready: 0, running: 1, throttled: 0, unhealthy: 0 },
  });
  const { completed } = health.jobs;
  await end();
  await until(async () => (await endpoint('test/one').health()).jobs.completed === completed + 2);
});

test('a webhook has the job, and the signature of the key', async () => {
  const path = hooks.newPath();
  const { id } = await endpoint().run({ input: { body: '{"n":1.10}' }, webhook: receiver.url(path) });
  const [hook] = await receiver.arrived(path);
  expect(hook!.body).toContain('"output":{"n":1.10}');
  expect(JSON.parse(hook!.body)).toMatchObject({
    id,
    status: 'COMPLETED',
    executionTime: expect.any(Number),
  });
  const [key] = await service.query<{ id: string }>(`SELECT id FROM api_key ORDER BY created_at LIMIT 1`);
  const secret = await service.app.get(WebhookSecrets).secretOf(key!.id);
  new Webhook(secret).verify(hook!.body, hook!.headers as unknown as Record<string, string>);
});

test('errors have their status and the reason', async () => {
  expect(await refusalOf(endpoint('acme/image/upscale').run({ input: {} }))).toMatchObject([
    404,
    { error: expect.stringContaining('There is no model'), code: 'unknown_model' },
  ]);
  expect(await refusalOf(endpoint('upscaler', 'wrong').run({ input: {} }))).toMatchObject([
    401,
    { code: 'invalid_key' },
  ]);
  expect(await refusalOf(endpoint().status(unknownId()))).toMatchObject([404, { code: 'unknown_request' }]);
  expect(await refusalOf(endpoint('test/strict').run({ input: {} }))).toMatchObject([
    422,
    { code: 'invalid_input', errors: [{ path: expect.any(String) }] },
  ]);
  const s3Config = { accessId: 'a', accessSecret: 'b', bucketName: 'c', endpointUrl: 'https://d.example' };
  expect(await refusalOf(endpoint().run({ input: {}, s3Config }))).toMatchObject([
    400,
    { error: expect.stringContaining('"s3Config" is not served') },
  ]);
  // A webhook is a member of the body here, so no query is blamed.
  const webhook = 'http://example.com/hook';
  expect(await refusalOf(endpoint().run({ input: {}, webhook }))).toMatchObject([
    400,
    { error: expect.stringMatching(/^The webhook cannot be used: its URL must begin with https:/) },
  ]);
  const bad = { executionTimeout: -1 };
  expect(await refusalOf(endpoint().run({ input: {}, policy: bad }))).toMatchObject([400, {}]);
  const unserved = await service.get('/runpod/v2/upscaler/requests');
  expect([unserved.status, await unserved.json()]).toMatchObject([
    404,
    { error: expect.stringContaining('docs/runpod.md') },
  ]);
});

test('a call over a limit is 429 with Retry-After, regardless of RATE_LIMIT_STATUS', async () => {
  const config = { adapters: ['runpod' as const], rateLimitSubmit: parseRateLimits('1/h') };
  const limited = await startTestService({ config });
  try {
    const client = runpodSdk(limited.key, { baseUrl: `${limited.url}/runpod/v2` }).endpoint(
      'demo/text/echo',
    )!;
    await client.run({ input: { prompt: 'one' } });
    expect(await refusalOf(client.run({ input: { prompt: 'two' } }))).toMatchObject([
      429,
      { code: 'rate_limited' },
    ]);
    const url = `${limited.url}/runpod/v2/demo/text/echo/run`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: keyHeader(limited.key),
      body: '{"input":{}}',
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await limited.stop();
  }
});

test('the API description has the routes under a tag of their own', async () => {
  const answer = await service.get('/openapi.json');
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, { tags: string[] }>> };
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/runpod/'));
  expect(own).toHaveLength(9);
  for (const [, item] of own) for (const { tags } of Object.values(item)) expect(tags).toEqual(['Runpod']);
});
