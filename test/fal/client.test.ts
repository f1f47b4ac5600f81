import { ApiError, createFalClient, type FalClient, type QueueStatus, ValidationError } from '@fal-ai/client';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { falAt } from '../support/fal-client.js';
import { keyHeader, unknownId } from '../support/queue-calls.js';
import { ndjson } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const prompt = { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string' } } };
const { service, calls, model } = testQueue({
  limits: 'off',
  config: { adapters: ['fal'] },
  models: {
    'acme/image/upscale': {},
    'acme/slow': { concurrency: 1 },
    'acme/strict/text': { input_schema: prompt },
  },
});

const client = (credentials?: string): FalClient => falAt(service, credentials);

const image = 'acme/image/upscale';
const statusesOf = (updates: readonly QueueStatus[]): string[] => [
  ...new Set(updates.map(({ status }) => status)),
];
const messagesOf = (update: QueueStatus | undefined): string[] =>
  update !== undefined && 'logs' in update ? update.logs.map(({ message }) => message) : [];

/** Returns the error with which a promise rejects. */
async function rejection<E extends Error>(
  promise: Promise<unknown>,
  type: new (...args: never[]) => E,
): Promise<E> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  return error as E;
}

test.each([
  ['POST', '/cancel', 'PUT'],
  ['GET', '/cancel', 'PUT'],
  ['POST', '/status', 'GET, HEAD'],
  ['PUT', '/status/stream', 'GET, HEAD'],
  ['POST', '', 'GET, HEAD'],
])('%s of a request%s is answered 405 and submits nothing', async (method, path, allow) => {
  const url = `${service.url}/fal/acme/image/requests/${unknownId()}${path}`;
  const answer = await fetch(url, {
    method,
    headers: keyHeader(service.key),
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
});

test.each(['polling', 'streaming'] as const)(
  'subscribe by %s sees every state, the logs, and the result',
  async (mode) => {
    const updates: QueueStatus[] = [];
    let id = '';
    const result = client().subscribe(image, {
      input: { hold: true },
      mode,
      pollInterval: 20,
      logs: true,
      onEnqueue: (requestId) => (id = requestId),
      onQueueUpdate: (update) => updates.push(update),
    });
    await until(() => id !== '');
    for (const message of ['one', 'two', 'three']) {
      await model.say(id, [{ type: 'log', message }]);
      await until(() => messagesOf(updates.at(-1)).includes(message));
    }
    (await model.arrived(id)).response.end(
      ndjson([{ type: 'output', output: { url: 'https://files.example/1.png' } }]),
    );
    expect(await result).toEqual({ data: { url: 'https://files.example/1.png' }, requestId: id });
    expect(statusesOf(updates).slice(-2)).toEqual(['IN_PROGRESS', 'COMPLETED']);
    // Cumulative when polled. From a stream the client collects the deltas.
    expect(messagesOf(updates.at(-1))).toEqual(['one', 'two', 'three']);
    expect(updates.at(-1)).toMatchObject({
      request_id: id,
      logs: [{ level: 'INFO', source: 'USER', timestamp: expect.stringMatching(/Z$/) }, {}, {}],
      metrics: { inference_time: expect.any(Number) },
    });
  },
);

test.each(['polling', 'streaming'] as const)(
  '"proxyUrl" may be the adapter: subscribe by %s',
  async (mode) => {
    const fal = createFalClient({
      credentials: service.key,
      proxyUrl: { url: `${service.url}/fal`, when: 'always' },
    });
    const updates: QueueStatus[] = [];
    const input = {
      type: 'application/x-ndjson',
      body: ndjson([
        { type: 'log', message: 'one' },
        { type: 'output', output: 1 },
      ]),
    };
    const onQueueUpdate = (update: QueueStatus): unknown => updates.push(update);
    const result = await fal.subscribe(image, { input, mode, pollInterval: 20, logs: true, onQueueUpdate });
    expect(result).toEqual({ data: 1, requestId: updates[0]!.request_id });
    expect(messagesOf(updates.at(-1))).toEqual(['one']);
    const late = await rejection(fal.queue.cancel(image, result), ApiError);
    expect(late).toMatchObject({ status: 400, body: { status: 'ALREADY_COMPLETED' } });
    expect(await fal.run(image, { input })).toMatchObject({ data: 1 });
    const refused = await rejection(fal.run('https://api.fal.ai/acme', { input: {} }), ApiError);
    expect(refused).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('queue.fal.run') },
    });
  },
);

test('the target header that a proxy passes on does not override the path', async () => {
  const target = 'https://queue.fal.run/acme/slow';
  const headers = { 'x-fal-target-url': target, ...keyHeader(service.key) };
  const answer = await fetch(`${service.url}/fal/${image}`, { method: 'POST', headers, body: '{}' });
  const { request_id: id } = (await answer.json()) as { request_id: string };
  expect(await calls.status(id)).toMatchObject({ model_id: image });
  for (const wrong of ['https://api.fal.ai/storage', 'nowhere']) {
    const other = await service.get('/fal', { headers: { 'x-fal-target-url': wrong } });
    expect([other.status, await other.json()]).toEqual([
      400,
      { detail: expect.any(String), error_type: 'bad_request' },
    ]);
  }
});

test.each([
  ['запрещено', 'bad_request'],
  ['two\nlines', 'bad_request'],
  ['safety', 'safety'],
])(
  'a refusal with the error_type %j of its model is answered as the model wrote it',
  async (error_type, header) => {
    const refusal = { detail: 'no cats', error_type };
    const id = await calls.run(image, { status: 422, body: JSON.stringify(refusal) });
    const headers = keyHeader(service.key);
    const answer = await service.get(`/fal/${image}/requests/${id}`, { headers });
    expect([answer.status, await answer.json()]).toEqual([422, refusal]);
    expect(answer.headers.get('x-fal-error-type')).toBe(header);
  },
);

test('a queue position can be followed until the request completes', async () => {
  const first = await client().queue.submit('acme/slow', { input: { hold: true } });
  const second = await client().queue.submit('acme/slow', { input: { hold: true } });
  const third = await client().queue.submit('acme/slow', { input: {} });
  expect([first, second, third].map(({ status }) => status)).toEqual(['IN_QUEUE', 'IN_QUEUE', 'IN_QUEUE']);
  expect([first, second, third].map((queued) => queued.queue_position)).toEqual([0, 0, 1]);
  const status = await client().queue.status('acme/slow', { requestId: third.request_id });
  expect(status).toEqual({ ...third, status: 'IN_QUEUE' });
  await model.answer(first.request_id);
  await model.answer(second.request_id);
  await client().queue.subscribeToStatus('acme/slow', { requestId: third.request_id, pollInterval: 20 });
  expect((await client().queue.result('acme/slow', { requestId: third.request_id })).data).toEqual({
    done: third.request_id,
    attempt: 1,
  });
});

test('priority, start timeout and an idempotency key reach the queue', async () => {
  const headers = { 'Idempotency-Key': 'one' };
  const options = {
    input: {},
    priority: 'low',
    startTimeout: 30,
    headers,
  } as const;
  const { request_id: id } = await client().queue.submit(image, options);
  expect((await client().queue.submit(image, options)).request_id).toBe(id);
  const rows = await service.query(
    `SELECT priority, adapter, has_own_expiry, extract(epoch FROM expires_at - created_at)::integer AS seconds
     FROM request WHERE id = $1`,
    [id],
  );
  expect(rows).toEqual([
    {
      priority: 1,
      adapter: 'fal',
      has_own_expiry: true,
      seconds: 30,
    },
  ]);
});

test('a submission without an input has an empty object as its input', async () => {
  const { request_id: id } = await client().queue.submit(image, {});
  expect((await model.arrived(id)).body).toBe('{}');
});

test('the normal priority that the client always sends is accepted from a low-priority key', async () => {
  const low = client(await calls.newKey({ maxPriority: 'low' }));
  await low.queue.submit(image, { input: {} });
});

test('an input that does not match its schema is a ValidationError with the fields', async () => {
  const error = await rejection(
    client().queue.submit('acme/strict/text', { input: { prompt: 5 } }),
    ValidationError,
  );
  expect(error.status).toBe(422);
  expect(error.getFieldErrors('prompt')).toEqual([
    { loc: ['body', 'prompt'], msg: 'must be a string', type: 'value_error' },
  ]);
});

test("a model's own refusal is an error with the details of the model", async () => {
  const detail = [{ loc: ['body', 'seed'], msg: 'too large', type: 'value_error' }];
  const refused = { status: 422, body: JSON.stringify({ detail }) };
  let id = '';
  const onEnqueue = (requestId: string): unknown => (id = requestId);
  const error = await rejection(
    client().subscribe(image, { input: refused, pollInterval: 20, onEnqueue }),
    ValidationError,
  );
  expect(error).toMatchObject({ status: 422, requestId: id, fieldErrors: detail });
});

test('other errors are an ApiError with their detail', async () => {
  const unknown = await rejection(client().queue.submit('acme/image/upscaler', { input: {} }), ApiError);
  expect(unknown).toMatchObject({
    status: 404,
    body: { detail: expect.stringContaining('acme/image/upscale') },
  });
  const key = await rejection(client('wrong').queue.submit(image, { input: {} }), ApiError);
  expect(key).toMatchObject({ status: 401, body: { error_type: 'invalid_key' } });
});

test('a cancel removes a request from the queue, and its result is answered 499', async () => {
  const { request_id: running } = await client().queue.submit('acme/slow', { input: { hold: true } });
  const { request_id: requestId } = await client().queue.submit('acme/slow', { input: {} });
  const early = await rejection(client().queue.result('acme/slow', { requestId }), ApiError);
  expect(early).toMatchObject({ status: 400, requestId, body: { detail: 'Request is still in progress' } });
  await client().queue.cancel('acme/slow', { requestId });
  const error = await rejection(client().queue.result('acme/slow', { requestId }), ApiError);
  expect(error).toMatchObject({ status: 499, requestId, body: { error_type: 'client_cancelled' } });
  expect(await client().queue.status('acme/slow', { requestId })).toMatchObject({
    status: 'COMPLETED',
    error_type: 'client_cancelled',
    metrics: { inference_time: null },
  });
  await model.answer(running);
  await calls.reached(running, 'COMPLETED');
  const late = await rejection(client().queue.cancel('acme/slow', { requestId: running }), ApiError);
  expect(late).toMatchObject({ status: 400, body: { status: 'ALREADY_COMPLETED' } });
});

test('a start timeout of the caller is reported, and not tried again', async () => {
  const { request_id: running } = await client().queue.submit('acme/slow', { input: { hold: true } });
  const { request_id: requestId } = await client().queue.submit('acme/slow', {
    input: {},
    startTimeout: 1.1,
  });
  await client().queue.subscribeToStatus('acme/slow', { requestId, pollInterval: 50 });
  const error = await rejection(client().queue.result('acme/slow', { requestId }), ApiError);
  expect(error).toMatchObject({ status: 504, isUserTimeout: true, body: { error_type: 'startup_timeout' } });
  await model.answer(running);
});

test('requests of the adapter and of the service are the same requests', async () => {
  const { request_id: requestId } = await client().queue.submit(image, { input: {} });
  expect(await (await calls.response(requestId)).json()).toEqual({ done: requestId, attempt: 1 });
  const id = await calls.run(image, {});
  expect((await client().queue.result(image, { requestId: id })).data).toEqual({ done: id, attempt: 1 });
  const others = { headers: keyHeader(await calls.newKey()) };
  expect((await service.get(`/fal/acme/image/requests/${id}`, others)).status).toBe(404);
});

/** The ids of the requests whose input has this name. */
const idsOf = async (name: string): Promise<string[]> => {
  const rows = await service.query<{ id: string }>(
    "SELECT id FROM request WHERE input ->> 'name' = $1 ORDER BY id",
    [name],
  );
  return rows.map(({ id }) => id);
};
const idOf = (name: string): Promise<string> =>
  until(async () => (await idsOf(name))[0], { message: `the request ${name} is there` });

test('run returns the output, and its request is an ordinary request', async () => {
  const { data, requestId } = await client().run(image, { input: { name: 'run' } });
  expect(data).toEqual({ done: requestId, attempt: 1 });
  expect(await calls.status(requestId)).toMatchObject({ success: true });
  const rows = await service.query('SELECT adapter FROM request WHERE id = $1', [requestId]);
  expect(rows).toEqual([{ adapter: 'fal' }]);
});

test('a failed run is one error and one request', async () => {
  const error = await rejection(client().run(image, { input: { name: 'failing', drop: true } }), ApiError);
  expect(error).toMatchObject({ status: 500, body: { error_type: 'runner_connection_error' } });
  expect(await idsOf('failing')).toHaveLength(1);
});

test('stream has each part of the output when it arrives, and then the output', async () => {
  const stream = await client().stream(image, { input: { name: 'parts', hold: true } });
  const seen: unknown[] = [];
  stream.on('data', (part) => seen.push(part));
  const id = await idOf('parts');
  await model.say(id, [{ type: 'delta', delta: { step: 1 } }]);
  await until(() => seen.length === 1);
  await model.say(id, [{ type: 'delta', delta: { step: 2 } }]);
  await until(() => seen.length === 2);
  (await model.arrived(id)).response.end(ndjson([{ type: 'output', output: { done: true } }]));
  expect(await stream.done()).toEqual({ done: true });
  expect(seen).toEqual([{ step: 1 }, { step: 2 }, { done: true }]);
});

test('a stream that fails is an error, before and after its first part', async () => {
  const early = await client().stream(image, { input: { name: 'early', status: 500 } });
  expect(await rejection(early.done(), ApiError)).toMatchObject({
    status: 500,
    body: { error_type: 'runner_server_error' },
  });
  const late = await client().stream(image, { input: { name: 'late', hold: true } });
  const failed = rejection(late.done(), Error);
  const id = await idOf('late');
  await model.say(id, [{ type: 'delta', delta: 'one' }]);
  const { response } = await model.arrived(id);
  response.end(ndjson([{ type: 'error', message: 'no' }]));
  expect(await failed).toBeInstanceOf(ApiError);
});

test('a run that is aborted cancels its request', async () => {
  service.app.get(AbandonedCalls).graceMs = 200;
  const abort = new AbortController();
  const run = client().run(image, { input: { name: 'aborted', hold: true }, abortSignal: abort.signal });
  const failed = rejection(run, Error);
  const id = await idOf('aborted');
  await model.arrived(id);
  abort.abort();
  await failed;
  await calls.reached(id, 'COMPLETED');
  expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
});

test('a repeated run continues the request of the aborted call', async () => {
  service.app.get(AbandonedCalls).graceMs = 10_000;
  const call = (signal?: AbortSignal): Promise<Response> =>
    fetch(`${service.url}/fal/run/${image}`, {
      method: 'POST',
      headers: keyHeader(service.key),
      body: JSON.stringify({ name: 'again', hold: true }),
      ...(signal && { signal }),
    });
  const abort = new AbortController();
  const first = rejection(call(abort.signal), Error);
  const id = await idOf('again');
  await model.arrived(id);
  abort.abort();
  await first;
  await until(async () => (await service.query('SELECT FROM abandoned_call')).length === 1);
  const second = call();
  await until(async () => (await service.query('SELECT FROM abandoned_call')).length === 0);
  await model.answer(id);
  expect(await (await second).json()).toEqual({ done: id, attempt: 1 });
  expect(await idsOf('again')).toEqual([id]);
});
