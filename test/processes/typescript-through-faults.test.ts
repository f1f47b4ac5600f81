import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type Status } from '../../clients/typescript/src/index.js';
import { ChaosProxy } from '../support/chaos-proxy.js';
import { inParallel } from '../support/in-parallel.js';
import { type Call, ndjson } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';

const { service, model, calls } = testQueue({
  limits: 'off',
  models: {
    'test/model': { concurrency: 50 },
    'test/again': { concurrency: 50, attempts: 2, retry: { base: '50ms', cap: '100ms' } },
  },
});
let proxy: ChaosProxy;

beforeAll(async () => (proxy = await new ChaosProxy(service.url, 19).start()));
afterAll(() => proxy.stop());

const client = () => createClient({ url: proxy.url, key: service.key, retries: 12, timeoutS: 5 });
const echo = ({ response, body }: Call): void => {
  response.setHeader('content-type', 'application/json');
  response.end(body);
};
/** How often each input was computed. */
const timesComputed = (): number[] => [
  ...model.calls
    .reduce((times, { body }) => times.set(body, (times.get(body) ?? 0) + 1), new Map<string, number>())
    .values(),
];

beforeEach(() => model.calls.splice(0));

test('1,000 runs over broken connections each get their own result, and none is computed twice', async () => {
  model.respond = echo;
  const queue = client();
  const before = await calls.count('request');
  const numbers = Array.from({ length: 1_000 }, (_, number) => number);
  const results = await inParallel(40, numbers, (number) => queue.run('test/model', { input: { number } }));
  expect(results.map(({ output }) => output)).toEqual(numbers.map((number) => ({ number })));
  expect(new Set(results.map(({ requestId }) => requestId)).size).toBe(1_000);
  expect(timesComputed()).toEqual(numbers.map(() => 1));
  expect((await calls.count('request')) - before).toBe(1_000);
  expect(proxy.counts.cut).toBeGreaterThan(100);
  expect(proxy.counts.refused).toBeGreaterThan(0);
}, 240_000);

test('streams over broken connections continue without gap or repetition', async () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  model.respond = ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const rest = lines.map((message) => ndjson([{ type: 'log', message }]));
    const timer = setInterval(() => {
      const line = rest.shift();
      if (line !== undefined) return response.write(line);
      clearInterval(timer);
      return response.end(ndjson([{ type: 'output', output: 'done' }]));
    }, 40);
  };
  const queue = client();
  const cutBefore = proxy.counts.cut;
  await inParallel(40, Array.from({ length: 200 }), async (_, number) => {
    const updates: Status[] = [];
    for await (const update of queue.subscribe('test/model', { input: { number }, logs: true }))
      updates.push(update);
    expect(updates.flatMap(({ logs = [] }) => logs.map(({ message }) => message))).toEqual(lines);
    expect(updates.filter(({ status }) => status === 'COMPLETED')).toHaveLength(1);
    const shown = updates.map((update) => JSON.stringify(update));
    expect(new Set(shown).size).toBe(shown.length);
  });
  expect(timesComputed()).toEqual(Array.from({ length: 200 }, () => 1));
  expect(proxy.counts.cut - cutBefore).toBeGreaterThan(30);
}, 240_000);

test('outputs over broken connections grow without gap or repetition, and start again with another attempt', async () => {
  const text = 'x'.repeat(400);
  const parts = Array.from({ length: 20 }, (_, part) => ({ part, text }));
  model.respond = ({ response, body, attempt }) => {
    const fails = attempt === 1 && (JSON.parse(body) as { number: number }).number % 4 === 0;
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const rest = (fails ? parts.slice(0, 8) : parts).map((delta) => ndjson([{ type: 'delta', delta }]));
    const timer = setInterval(() => {
      const line = rest.shift();
      if (line !== undefined) return response.write(line);
      clearInterval(timer);
      return response.end(fails ? ndjson([{ type: 'error', message: 'again', retryable: true }]) : '');
    }, 40);
  };
  const queue = client();
  const cutBefore = proxy.counts.cut;
  await inParallel(40, Array.from({ length: 200 }), async (_, number) => {
    const { request_id } = await queue.submit('test/again', { input: { number } });
    let grown: unknown[] = [];
    const resets: number[] = [];
    const onReset = (attempt: number): void => {
      resets.push(attempt);
      grown = [];
    };
    for await (const delta of queue.output(request_id, { onReset })) {
      grown.push(delta);
      expect(grown).toEqual(parts.slice(0, grown.length));
    }
    expect(grown).toEqual(parts);
    // A reader that came during the second attempt had nothing to reset.
    expect(resets.join()).toMatch(number % 4 === 0 ? /^2?$/ : /^$/);
  });
  expect(proxy.counts.cut - cutBefore).toBeGreaterThan(30);
}, 240_000);

test('an output that fails yields its parts, and then rejects with the reason', async () => {
  model.respond = ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(
      ndjson([
        { type: 'delta', delta: 'half' },
        { type: 'error', message: 'no more' },
      ]),
    );
  const queue = createClient({ url: service.url, key: service.key });
  const { request_id } = await queue.submit('test/model', { input: {} });
  const parts: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const part of queue.output(request_id)) parts.push(part);
  };
  await expect(read()).rejects.toMatchObject({ code: 'model_error', detail: 'no more' });
  expect(parts).toEqual(['half']);
});

test('the client polls when a proxy holds a stream back', async () => {
  model.respond = echo;
  const paths: string[] = [];
  // Like a proxy that waits for the end of an answer before it passes the answer on.
  const buffering = createServer((request, response) => {
    paths.push(request.url!.replace(/^.*\//, ''));
    const call = { method: request.method!, headers: { authorization: `Key ${service.key}` } };
    const body = request.method === 'POST' ? '{"hold":true}' : undefined;
    void fetch(service.url + request.url!, { ...call, body })
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => buffering.listen(0, '127.0.0.1', resolve));
  const queue = createClient({ url: `http://127.0.0.1:${(buffering.address() as AddressInfo).port}` });
  model.respond = () => undefined;
  const states: string[] = [];
  for await (const { status, request_id } of queue.subscribe('test/model', { input: {} })) {
    states.push(status);
    if (status === 'IN_PROGRESS') await model.answer(request_id);
  }
  expect(states.at(-1)).toBe('COMPLETED');
  expect(states).toContain('IN_PROGRESS');
  expect(paths.slice(1, 3)).toEqual(['stream', 'status']);
  await new Promise((resolve) => buffering.close(resolve).closeAllConnections());
});
