import Replicate, { type Prediction, validateWebhook } from 'replicate';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import { startTestService, until } from '../support/index.js';
import { keyHeader, unknownId } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';
import { pulled } from '../support/worker-calls.js';

const prompt = {
  type: 'object',
  required: ['prompt'],
  properties: { prompt: { $ref: '#/$defs/text' } },
  $defs: { text: { type: 'string' } },
};
const { service, calls, model, receiver, hooks } = testWebhooks(
  { adapters: ['replicate'] },
  {
    'acme/text': { aliases: ['5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa'] },
    'acme/image/upscale': {},
    'acme/strict': { description: 'Takes a prompt.', input_schema: prompt },
    'acme/twice': { attempts: 2, retry: { base: '10ms', cap: '10ms' } },
    'test/one': { concurrency: 1 },
    'test/brief': { timeout: '200ms' },
    'test/unserved': { ...pulled, expires: '100ms' },
  },
);

/** The client of the page in docs. */
const client = (options: ConstructorParameters<typeof Replicate>[0] = {}): Replicate =>
  new Replicate({ auth: service.key, baseUrl: `${service.url}/replicate/v1`, ...options });

const text = 'acme/text';
const version = '5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa';
const delta = (value: unknown): object => ({ type: 'delta', delta: value });
const log = (message: string): object => ({ type: 'log', message });

const ended = (id: string): Promise<Prediction> =>
  until(async () => {
    const found = await client().predictions.get(id);
    return found.completed_at !== null && found;
  });

/** Returns the status and the body of the answer that the client throws. */
async function refusalOf(promise: Promise<unknown>): Promise<[number, Record<string, unknown>]> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { response, message } = error as { response: Response; message: string };
  const body = message.slice(message.indexOf('{'), message.lastIndexOf('}') + 1);
  return [response.status, JSON.parse(body) as Record<string, unknown>];
}

/** Returns the id of the next request that reaches the model. */
function nextCall(): () => Promise<string> {
  const before = model.calls.length;
  return async () => (await until(() => model.calls[before])).id;
}

test.each([
  ['owner and name', 'acme/text', 'acme/text'],
  ['a version that is an alias', `anyone/anything:${version}`, 'acme/text'],
  ['a version that is an id of three segments', 'x/y:acme/image/upscale', 'acme/image/upscale'],
] as const)('run finds the model by %s', async (_, ref, modelId) => {
  const called = nextCall();
  const output = await client().run(ref, { input: { body: '{"text":"hello"}' } });
  expect(output).toEqual({ text: 'hello' });
  expect(await calls.status(await called())).toMatchObject({ model_id: modelId });
});

test.each(['block', 'poll'] as const)('run with the mode %s reports its progress', async (mode) => {
  const seen: string[] = [];
  const called = nextCall();
  const running = client().run(text, { input: { hold: true }, wait: { mode, timeout: 1 } }, (prediction) =>
    seen.push(prediction.status),
  );
  const id = await called();
  await until(() => seen.includes('processing'));
  await model.answer(id, '"done"');
  expect(await running).toBe('done');
  expect([seen[0], seen.at(-1)]).toEqual(['starting', 'succeeded']);
});

test('a prediction that failed is an error with the reason', async () => {
  const input = { status: 422, body: '{"detail":"no"}' };
  await expect(client().run(text, { input })).rejects.toThrow(
    'Prediction failed: The model answered 422: no',
  );
});

test('an aborted run cancels its prediction', async () => {
  const controller = new AbortController();
  const called = nextCall();
  const running = client().run(text, {
    input: { hold: true },
    wait: { mode: 'poll', interval: 50 },
    signal: controller.signal,
  });
  const id = await called();
  controller.abort();
  await running;
  expect(await ended(id)).toMatchObject({ status: 'canceled', error: null });
});

test('a prediction has its input, output, logs and times as they were', async () => {
  const made = await client().predictions.create({ model: text, input: { hold: true, n: 1 } });
  expect(made).toMatchObject({ status: 'starting', model: text, output: null, source: 'api' });
  await model.say(made.id, [log('first'), log('second')]);
  await until(async () => (await client().predictions.get(made.id)).logs === 'first\nsecond\n');
  expect(await client().predictions.get(made.id)).toMatchObject({ status: 'processing', completed_at: null });
  await model.say(made.id, [{ type: 'output', output: { seed: 1 } }]);
  (await model.arrived(made.id)).response.end();
  expect(await ended(made.id)).toMatchObject({
    id: made.id,
    status: 'succeeded',
    input: { hold: true, n: 1 },
    output: { seed: 1 },
    error: null,
    data_removed: false,
    logs: 'first\nsecond\n',
    version: text,
    started_at: expect.any(String),
    completed_at: expect.any(String),
    metrics: { predict_time: expect.any(Number), total_time: expect.any(Number) },
    urls: { get: `${service.url}/replicate/v1/predictions/${made.id}` },
  });
});

test('numbers of an output are as the model wrote them', async () => {
  const input = { body: '{"n":12345678901234567890.10}' };
  const { id } = await client().predictions.create({ model: text, input, wait: true });
  const answer = await service.get(`/replicate/v1/predictions/${id}`);
  expect(await answer.text()).toContain('"output":{"n":12345678901234567890.10}');
});

test('a wait without a number returns the ended prediction, and a wait that times out returns starting', async () => {
  const done = await client().predictions.create({ model: text, input: { body: '1' }, wait: true });
  expect(done).toMatchObject({ status: 'succeeded', output: 1 });
  const open = await client().predictions.create({ model: text, input: { hold: true }, wait: 1 });
  expect(open).toMatchObject({ status: 'starting' });
  await model.answer(open.id);
  expect(await ended(open.id)).toMatchObject({ status: 'succeeded' });
});

test('a closed call that waits cancels its prediction, unless it is sent again', async () => {
  const abandoned = service.app.get(AbandonedCalls);
  const make = async (input: object): Promise<string> => {
    const [controller, called] = [new AbortController(), nextCall()];
    const { signal } = controller;
    const making = client().predictions.create({ model: text, input, wait: true, signal });
    const id = await called();
    controller.abort();
    // The client tries again, and each time its signal is aborted.
    await expect(making).rejects.toThrow('aborted');
    return id;
  };
  const { graceMs } = abandoned;
  const kept = await make({ hold: true, kept: 1 });
  await until(async () => (await calls.count('abandoned_call')) === 1);
  const again = client().predictions.create({ model: text, input: { hold: true, kept: 1 }, wait: true });
  await until(async () => (await calls.count('abandoned_call')) === 0);
  await model.answer(kept);
  expect(await again).toMatchObject({ id: kept, status: 'succeeded' });
  abandoned.graceMs = 50;
  try {
    expect(await ended(await make({ hold: true, kept: 2 }))).toMatchObject({ status: 'canceled' });
  } finally {
    abandoned.graceMs = graceMs;
  }
});

test('cancel stops a prediction, and returns an ended one unchanged', async () => {
  const { id } = await client().predictions.create({ model: text, input: { hold: true } });
  await model.arrived(id);
  expect(await client().predictions.cancel(id)).toMatchObject({ id, status: 'canceled' });
  expect(await client().predictions.cancel(id)).toMatchObject({ id, status: 'canceled' });
  const done = await client().predictions.create({ model: text, input: {}, wait: true });
  expect(await client().predictions.cancel(done.id)).toMatchObject({ id: done.id, status: 'succeeded' });
});

test('Cancel-After bounds the wait and the run', async () => {
  const create = (after: string): Promise<Response> =>
    fetch(`${service.url}/replicate/v1/models/test/one/predictions`, {
      method: 'POST',
      headers: { ...keyHeader(service.key), 'cancel-after': after },
      body: '{"input":{"hold":true}}',
    });
  const { id } = (await (await create('1h0m5s')).json()) as Prediction;
  const rows = await service.query(
    `SELECT has_own_expiry, extract(epoch FROM expires_at - created_at)::integer AS seconds, timeout_ms
     FROM request WHERE id = $1`,
    [id],
  );
  // The timeout of the model is shorter.
  expect(rows).toEqual([{ has_own_expiry: true, seconds: 3_605, timeout_ms: null }]);
  await model.answer(id);
  for (const bad of ['1s', 'soon', '5d']) expect((await create(bad)).status).toBe(400);
});

test.each([
  ['test/brief', 'took longer than the 0.2 s'],
  ['test/unserved', 'did not start before it expired'],
] as const)(
  'a prediction that exceeds a bound of %s has failed, with a longer Cancel-After too',
  async (modelId, reason) => {
    const withAge: typeof fetch = (url, init = {}) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'cancel-after': '1h' } });
    const { predictions } = client({ fetch: withAge });
    const { id } = await predictions.create({ model: modelId, input: { hold: true } });
    expect(await ended(id)).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) });
  },
);

test('predictions are listed in pages, newest first', async () => {
  const key = await calls.newKey();
  const mine = client({ auth: key });
  const ids: string[] = [];
  for (let i = 0; i < 101; i++) ids.unshift((await mine.predictions.create({ model: text, input: {} })).id);
  const pages: string[][] = [];
  for await (const page of mine.paginate(mine.predictions.list.bind(mine)))
    pages.push(page.map(({ id }) => id));
  expect(pages).toEqual([ids.slice(0, 100), ids.slice(100)]);
});

test('a stream has the output and the log, and needs no key', async () => {
  const events: [string, string][] = [];
  const called = nextCall();
  const reading = (async () => {
    for await (const { event, data } of client().stream(text, { input: { hold: true } }))
      events.push([event, data]);
  })();
  const id = await called();
  await model.say(id, [log('loading'), delta('Once\n')]);
  await until(() => events.length === 2);
  await model.say(id, [delta({ upon: 1 })]);
  await until(() => events.length === 3);
  await model.say(id, [{ type: 'output', output: 'Once' }]);
  (await model.arrived(id)).response.end();
  await reading;
  expect(events.filter(([event]) => event === 'output')).toEqual([
    ['output', 'Once\n'],
    ['output', '{"upon":1}'],
  ]);
  expect(events).toContainEqual(['logs', 'loading\n']);
  expect(events.at(-1)).toEqual(['done', '{}']);
});

test('a stream ends with an error if the prediction failed or began again', async () => {
  const outputs: string[] = [];
  const read = async (ref: 'acme/text' | 'acme/twice', input: object): Promise<void> => {
    for await (const { event, data } of client().stream(ref, { input }))
      if (event === 'output') outputs.push(data);
  };
  const refusal = '{"error":{"message":"The prompt is too long."}}';
  await expect(read(text, { status: 422, body: refusal })).rejects.toThrow('The prompt is too long.');
  const called = nextCall();
  const reading = read('acme/twice', { hold: true });
  reading.catch(() => undefined);
  const id = await called();
  await model.say(id, [delta('wrong')]);
  await until(() => outputs.length === 1);
  await model.say(id, [{ type: 'error', message: 'no', retryable: true }]);
  await expect(reading).rejects.toThrow('began again');
  await model.answer(id, '"right"', 2);
});

test('the stream of a prediction needs its signature or a key', async () => {
  const { id, urls } = await client().predictions.create({ model: text, input: { body: '"x"' }, wait: true });
  const stream = await (await fetch(urls.stream!)).text();
  expect(stream).toContain('event: done');
  const bare = urls.stream!.split('?')[0]!;
  expect((await fetch(bare)).status).toBe(401);
  const other = await client().predictions.create({ model: text, input: {}, wait: true });
  expect((await fetch(urls.stream!.replace(id, other.id))).status).toBe(401);
  expect(await (await fetch(bare, { headers: keyHeader(service.key) })).text()).toContain('event: done');
});

test('a file is uploaded, listed, named by an input, and deleted', async () => {
  const made = await client().files.create(new File(['hello'], 'greeting.txt', { type: 'text/plain' }));
  expect(made).toMatchObject({
    id: expect.any(String),
    content_type: 'text/plain',
    size: 5,
    checksums: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    expires_at: expect.any(String),
  });
  expect(await (await fetch(made.urls.get)).text()).toBe('hello');
  expect(await client().files.get(made.id)).toEqual(made);
  expect((await client().files.list()).results).toEqual([made]);
  expect(await client().files.delete(made.id)).toBe(true);
  expect(await refusalOf(client().files.get(made.id))).toMatchObject([404, { type: 'unknown_file' }]);
  const called = nextCall();
  await client().run(text, { input: { picture: new Blob(['pixels'], { type: 'image/png' }) } });
  const { body } = await model.arrived(await called());
  const { picture } = JSON.parse(body) as { picture: string };
  expect(await (await fetch(picture)).text()).toBe('pixels');
});

test('a file of an output is a FileOutput', async () => {
  const publicBaseUrl = 'https://queue.example';
  const here = (input: Request | string, init?: RequestInit): Promise<Response> =>
    fetch(new Request(input).url.replace(publicBaseUrl, service.url), init);
  const { url } = await (async () => {
    const made = await client().files.create(new Blob(['pixels']));
    return { url: made.urls.get.replace(service.url, publicBaseUrl) };
  })();
  const input = { body: JSON.stringify([url]) };
  const [file] = (await client({ fetch: here }).run(text, { input })) as [
    { url: () => URL; blob: () => Promise<Blob> },
  ];
  expect(file.url().href).toBe(url);
  expect(await (await file.blob()).text()).toBe('pixels');
});

test('a model has the schema of its input', async () => {
  const found = await client().models.get('acme', 'strict');
  expect(found).toMatchObject({
    owner: 'acme',
    name: 'strict',
    description: 'Takes a prompt.',
    visibility: 'private',
    latest_version: {
      id: 'acme/strict',
      openapi_schema: { components: { schemas: { Input: { required: ['prompt'] }, Output: {} } } },
    },
  });
});

test('the only version of a model is its id, and is also found by an alias', async () => {
  const { versions } = client().models;
  expect(await versions.list('acme', 'strict')).toMatchObject({
    previous: null,
    next: null,
    results: [{ id: 'acme/strict', openapi_schema: { info: { title: 'acme/strict' } } }],
  });
  // The Python client refuses a `cog_version` of null, and asks for the version of each run.
  expect(await versions.get('anyone', 'anything', version)).toMatchObject({
    id: version,
    cog_version: '',
    openapi_schema: { info: { title: 'acme/text' } },
  });
  expect(await refusalOf(versions.get('acme', 'strict', 'none'))).toMatchObject([
    404,
    { type: 'unknown_model' },
  ]);
});

test('a version may follow its owner and name', async () => {
  const { id } = await client().predictions.create({ version: `anyone/anything:${version}`, input: {} });
  expect(await calls.status(id)).toMatchObject({ model_id: 'acme/text' });
});

test('a model is a deployment of the same name', async () => {
  const { deployments } = client();
  const prediction = await deployments.predictions.create('acme', 'text', { input: { body: '"deployed"' } });
  expect(await ended(prediction.id)).toMatchObject({ model: 'acme/text', output: 'deployed' });
  expect(await deployments.get('acme', 'text')).toMatchObject({ owner: 'acme', name: 'text' });
  expect(await refusalOf(deployments.get('acme', 'none'))).toMatchObject([404, { type: 'unknown_model' }]);
});

test('a key is also accepted with the scheme Token of older scripts', async () => {
  const answer = await fetch(`${service.url}/replicate/v1/predictions`, {
    headers: { authorization: `Token ${service.key}` },
  });
  expect(answer.status).toBe(200);
});

test('webhooks arrive at the start and at the end, and the client verifies them', async () => {
  const path = hooks.newPath();
  const { id } = await client().predictions.create({
    model: text,
    input: { hold: true },
    webhook: receiver.url(path),
    webhook_events_filter: ['start', 'completed'],
  });
  const [start] = await receiver.arrived(path);
  expect(JSON.parse(start!.body)).toMatchObject({
    id,
    status: 'processing',
    output: null,
    completed_at: null,
  });
  await model.answer(id, '{"n":1.10}');
  const [, completed] = await receiver.arrived(path, 2);
  expect(completed!.body).toContain('"output":{"n":1.10}');
  expect(JSON.parse(completed!.body)).toMatchObject({ id, status: 'succeeded' });
  const reader = client({ auth: await calls.newKey({ scopes: ['read'] }) });
  expect(await refusalOf(reader.webhooks.default.secret.get())).toMatchObject([403, { type: 'forbidden' }]);
  const { key } = await client().webhooks.default.secret.get();
  for (const { headers, body } of [start!, completed!])
    expect(
      await validateWebhook({
        id: headers['webhook-id'],
        timestamp: String(headers['webhook-timestamp']),
        signature: String(headers['webhook-signature']),
        body,
        secret: key,
      }),
    ).toBe(true);
});

test.each([
  [undefined, ['succeeded']],
  [['completed', 'logs'], ['succeeded']],
  [['start'], ['processing']],
] as const)('with the filter %j a webhook comes for %j', async (filter, statuses) => {
  const path = hooks.newPath();
  const webhook = { webhook: receiver.url(path), ...(filter && { webhook_events_filter: [...filter] }) };
  const { id } = await client().predictions.create({ model: text, input: {}, ...webhook });
  await ended(id);
  const arrived = await receiver.arrived(path, statuses.length);
  expect(arrived.map(({ body }) => (JSON.parse(body) as Prediction).status)).toEqual(statuses);
  const rows = await service.query('SELECT FROM webhook_delivery WHERE request_id = $1', [id]);
  expect(rows).toHaveLength(statuses.length);
});

test('errors are an ApiError with the reason', async () => {
  const { predictions } = client();
  expect(await refusalOf(predictions.create({ model: 'acme/none', input: {} }))).toMatchObject([
    404,
    { type: 'unknown_model', status: 404, detail: expect.stringContaining('There is no model') },
  ]);
  expect(await refusalOf(predictions.create({ model: 'acme/strict', input: { prompt: 1 } }))).toMatchObject([
    422,
    {
      detail: expect.stringMatching(/\n- input\.prompt must be a string$/),
      invalid_fields: [{ field: 'input.prompt', description: 'must be a string' }],
    },
  ]);
  expect(await refusalOf(predictions.get(unknownId()))).toMatchObject([404, { type: 'unknown_request' }]);
  const wrong = client({ auth: 'wrong' });
  expect(await refusalOf(wrong.predictions.get(unknownId()))).toMatchObject([401, { type: 'invalid_key' }]);
  const webhook = { webhook: receiver.url(), webhook_events_filter: ['other' as 'output'] };
  expect(await refusalOf(predictions.create({ model: text, input: {}, ...webhook }))).toMatchObject([
    400,
    { detail: expect.stringContaining('takes a list of start, output, logs, completed') },
  ]);
  expect(await refusalOf(client().trainings.list())).toMatchObject([
    404,
    { detail: expect.stringContaining('docs/replicate.md') },
  ]);
});

test('a call over a limit is 429 regardless of RATE_LIMIT_STATUS, and the client tries again', async () => {
  const config = { adapters: ['replicate' as const], rateLimitSubmit: parseRateLimits('1/h') };
  const limited = await startTestService({ config });
  const statuses: number[] = [];
  const noting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    statuses.push(answer.status);
    return answer;
  };
  try {
    const options = { auth: limited.key, baseUrl: `${limited.url}/replicate/v1`, fetch: noting };
    const { predictions } = new Replicate(options);
    const prediction = { model: 'x/y', version: 'demo/text/echo', input: { prompt: 'one' } };
    await predictions.create(prediction);
    expect(await refusalOf(predictions.create(prediction))).toMatchObject([429, { type: 'rate_limited' }]);
    expect(statuses).toEqual([201, 429, 429, 429, 429, 429, 429]);
  } finally {
    await limited.stop();
  }
});

test('the API description has the routes under a tag of their own', async () => {
  const answer = await service.get('/openapi.json');
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, { tags: string[] }>> };
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/replicate/'));
  expect(own).toHaveLength(13);
  for (const [, item] of own) for (const { tags } of Object.values(item)) expect(tags).toEqual(['Replicate']);
});
