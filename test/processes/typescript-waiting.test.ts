import { createClient, NowServingError, type Status } from '../../clients/typescript/src/index.js';
import { ndjson } from '../support/model-server.js';
import { unknownId } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  limits: 'off',
  models: {
    'test/model': {},
    'test/strict': { input_schema: { type: 'object', required: ['prompt'] } },
  },
});
const clientWith = (options: object = {}) => createClient({ url: service.url, key: service.key, ...options });
const rows = async (): Promise<number> => calls.count('request');

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const statesOf = (updates: Status[]): string[] => updates.map(({ status }) => status);
const linesOf = (updates: Status[]): string[] =>
  updates.flatMap(({ logs = [] }) => logs.map(({ message }) => message));
/** An output after `count` lines of log. */
const talkative = (count: number): { type: string; body: string; lines: string[] } => {
  const lines = Array.from({ length: count }, (_, i) => `line ${i}`);
  const said = lines.map((message) => ({ type: 'log', level: 'INFO', message }));
  return { type: 'application/x-ndjson', body: ndjson([...said, { type: 'output', output: 'done' }]), lines };
};

it('runs a request and returns its output, its id and its last status', async () => {
  const { output, requestId, status } = await clientWith().run('test/model', { input: { a: 1 } });
  expect(output).toEqual({ done: requestId, attempt: 1 });
  expect(status).toMatchObject({ status: 'COMPLETED', success: true, request_id: requestId });
  expect(status).not.toHaveProperty('response');
});

it('submits, reads the status and fetches the response step by step', async () => {
  const queue = clientWith();
  const { request_id: id } = await queue.submit('test/model', { input: { hold: true } });
  await expect(queue.response(id)).rejects.toMatchObject({
    code: 'not_completed',
    status: 400,
    requestId: id,
  });
  expect(await queue.status(id)).toMatchObject({ request_id: id });
  const result = queue.result(id);
  await model.answer(id, '"late"');
  expect(await result).toMatchObject({ output: 'late', requestId: id, status: { success: true } });
  expect(await queue.response(id)).toBe('late');
});

it('follows a request through its states, with each line of its log once', async () => {
  const { lines, ...script } = talkative(5);
  const updates = await all(clientWith().subscribe('test/model', { input: script, logs: true }));
  expect(statesOf(updates).at(-1)).toBe('COMPLETED');
  expect(statesOf(updates).filter((status) => status === 'COMPLETED')).toHaveLength(1);
  expect(linesOf(updates)).toEqual(lines);
});

it('resumes a stream that broke off, without gap or repetition', async () => {
  let streams = 0;
  // Each stream breaks after its first event.
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || ++streams > 4) return answer;
    const reader = answer.body!.getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value, done } = await reader.read();
        if (done || streams > 4) return controller.close();
        controller.enqueue(value);
        await reader.cancel();
        controller.error(new TypeError('terminated'));
      },
    });
    return new Response(body, answer);
  };
  const queue = clientWith({ fetch });
  const { request_id: id } = await queue.submit('test/model', { input: { hold: true } });
  const updates: Status[] = [];
  const following = (async () => {
    for await (const update of queue.follow(id, { logs: true })) updates.push(update);
  })();
  const lines = ['one', 'two', 'three', 'four'];
  for (const message of lines) {
    await model.say(id, [{ type: 'log', message }]);
    await until(() => linesOf(updates).includes(message), { explain: () => updates });
  }
  await model.say(id, [{ type: 'output', output: 1 }]);
  await following;
  expect(streams).toBeGreaterThan(3);
  expect(linesOf(updates)).toEqual(lines);
  const shown = updates.map((update) => JSON.stringify(update));
  expect(new Set(shown).size).toBe(shown.length);
});

it('follows by polling where there is no stream', async () => {
  const fetch: typeof globalThis.fetch = (url, init) =>
    (url as string).includes('/stream')
      ? Promise.resolve(new Response('[]', { headers: { 'content-type': 'application/json' } }))
      : globalThis.fetch(url, init);
  const queue = clientWith({ fetch });
  const { lines, ...script } = talkative(3);
  const updates = await all(queue.subscribe('test/model', { input: script, logs: true }));
  expect(statesOf(updates).at(-1)).toBe('COMPLETED');
  expect(linesOf(updates)).toEqual(lines);
});

it('has the whole log in the status of a run', async () => {
  const { lines, ...script } = talkative(3);
  const { status } = await clientWith().run('test/model', { input: script, logs: true });
  expect(linesOf([status])).toEqual(lines);
});

it('submits once, though the answer was lost', async () => {
  let tries = 0;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    if (++tries < 3) throw new TypeError('terminated');
    return answer;
  };
  const before = await rows();
  await clientWith({ fetch }).submit('test/model', { input: {} });
  expect([tries, (await rows()) - before]).toEqual([3, 1]);
});

it('creates one request for two submissions with the same idempotency key', async () => {
  const queue = clientWith();
  const options = { input: { a: 1 }, idempotencyKey: String.raw`order "17" \ again` };
  const [first, second] = [await queue.run('test/model', options), await queue.run('test/model', options)];
  expect(second).toEqual(first);
  await expect(queue.submit('test/model', { ...options, input: { a: 2 } })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
});

it('reports errors by their code', async () => {
  const queue = clientWith();
  const failed = queue.run('test/model', { input: { status: 400, body: '{"reason":"no"}' } });
  await expect(failed).rejects.toMatchObject({
    code: 'model_error',
    details: { reason: 'no' },
    requestId: expect.any(String),
  });
  await expect(failed).rejects.toBeInstanceOf(NowServingError);
  await expect(queue.submit('test/strict', { input: {} })).rejects.toMatchObject({
    code: 'invalid_input',
    status: 422,
    errors: [{ path: '/prompt', message: expect.any(String) }],
    callId: expect.any(String),
  });
  await expect(queue.submit('test/none', { input: {} })).rejects.toMatchObject({ code: 'unknown_model' });
  await expect(queue.result(unknownId())).rejects.toMatchObject({ code: 'unknown_request', status: 404 });
  await expect(clientWith({ key: undefined }).submit('test/model', { input: {} })).rejects.toMatchObject({
    code: 'missing_key',
  });
});

it('cancels a running request', async () => {
  const queue = clientWith();
  const { request_id: id } = await queue.submit('test/model', { input: { hold: true } });
  await model.arrived(id);
  expect(await queue.cancel(id)).toEqual({ status: 'CANCELLATION_REQUESTED' });
  await expect(queue.result(id)).rejects.toMatchObject({ code: 'cancelled', requestId: id });
});

it.each([
  [
    'run',
    (queue: ReturnType<typeof clientWith>, options: object) => queue.run('test/model', options as never),
  ],
  [
    'subscribe',
    (queue: ReturnType<typeof clientWith>, options: object) =>
      all(queue.subscribe('test/model', options as never)),
  ],
])('an aborted %s cancels its request only with cancelOnAbort', async (_name, start) => {
  for (const cancelOnAbort of [true, false]) {
    const controller = new AbortController();
    const before = model.calls.length;
    const call = start(clientWith(), { input: { hold: true }, signal: controller.signal, cancelOnAbort });
    const { id } = await until(() => model.calls[before], { message: 'the run has begun' });
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError', code: 'aborted' });
    if (cancelOnAbort) {
      expect((await calls.reached(id, 'COMPLETED')).error).toMatchObject({ code: 'cancelled' });
    } else {
      await model.answer(id);
      expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true });
    }
  }
});

it('repeats a submission over a limit until it is accepted', async () => {
  const key = await calls.newKey({ rateLimitSubmit: '2/s' });
  const queue = clientWith({ key });
  const ids = await Promise.all([1, 2, 3].map(() => queue.submit('test/model', { input: {} })));
  expect(new Set(ids.map(({ request_id }) => request_id)).size).toBe(3);
});

it('lets its reader leave a stream early', async () => {
  const queue = clientWith();
  const { request_id: id } = await queue.submit('test/model', { input: { hold: true } });
  for await (const { request_id } of queue.follow(id)) {
    expect(request_id).toBe(id);
    break;
  }
  await model.answer(id);
});
