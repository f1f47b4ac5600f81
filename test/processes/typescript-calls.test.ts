import { createClient, NowServingError } from '../../clients/typescript/src/index.js';

type Reply = Response | Error;
interface Seen {
  url: string;
  method: string;
  headers: Headers;
  body: unknown;
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const problem = (status: number, code: string, headers?: Record<string, string>): Response =>
  json({ code, detail: `It is ${code}.` }, status, headers);
const lost = (): Error => new TypeError('fetch failed');
const queued = { request_id: 'r1', response_url: '', status_url: '', cancel_url: '' };

/** A client of a service that gives these replies in turn, and the calls that it got. */
function clientOf(replies: Reply[], options: object = {}) {
  const seen: Seen[] = [];
  const fetch = (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined;
    seen.push({ url: url as string, method: init.method ?? 'GET', headers: new Headers(init.headers), body });
    const reply = replies[seen.length - 1] ?? new Error('Nothing more was to be asked.');
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  };
  return { seen, queue: createClient({ url: 'http://service.test/base/', key: 'k', fetch, ...options }) };
}

/** Returns the error with which a call rejects, while pauses take no time. */
async function failureOf(call: Promise<unknown>): Promise<NowServingError> {
  const failure = call.then(
    () => undefined,
    (error: unknown) => error,
  );
  await jest.runAllTimersAsync();
  const error = await failure;
  expect(error).toBeInstanceOf(NowServingError);
  return error as NowServingError;
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Resolves while pauses take no time. */
async function passing<T>(call: Promise<T>): Promise<T> {
  await jest.runAllTimersAsync();
  return call;
}

it.each<[string, () => Reply]>([
  ['a lost connection', lost],
  ['a 503 of the service', () => problem(503, 'unavailable')],
  ['a 502 of a proxy', () => new Response('<html>Bad gateway</html>', { status: 502 })],
  ['a 429', () => problem(429, 'queue_full')],
  ['a 408', () => new Response('', { status: 408 })],
  ['a 403 of a limit', () => problem(403, 'rate_limited', { 'retry-after': '1' })],
  ['an answer that was cut', () => new Response('{"request_id":"r')],
])('%s is tried again, with the same key and body', async (_name, reply) => {
  const { queue, seen } = clientOf([reply(), reply(), json(queued, 202)]);
  expect(await passing(queue.submit('a/b', { input: { x: 1 } }))).toEqual(queued);
  expect(seen).toHaveLength(3);
  expect(new Set(seen.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
  for (const { url, method, body } of seen) {
    expect([method, url, body]).toEqual(['POST', 'http://service.test/base/v1/queue/a/b', { x: 1 }]);
  }
});

it.each([
  [400, 'invalid_json'],
  [401, 'invalid_key'],
  [403, 'forbidden'],
  [422, 'invalid_input'],
  [429, 'model_error'],
  [499, 'cancelled'],
  [502, 'model_error'],
  [502, 'model_unavailable'],
  [502, 'node_lost'],
  [504, 'timed_out'],
  [504, 'expired'],
])('%i %s is final', async (status, code) => {
  const { queue, seen } = clientOf([problem(status, code, { 'x-request-id': 'call-1' })]);
  const error = await failureOf(queue.response('r1'));
  expect(error).toMatchObject({ code, status, detail: `It is ${code}.`, requestId: 'r1', callId: 'call-1' });
  expect(seen).toHaveLength(1);
});

it('tries as often as configured, and reports the last error', async () => {
  const { queue, seen } = clientOf([lost(), lost(), new Response('', { status: 502 })], { retries: 2 });
  expect(await failureOf(queue.status('r1'))).toMatchObject({ code: 'http_502', status: 502 });
  expect(seen).toHaveLength(3);
});

it('waits for a Retry-After of a minute, but not of an hour', async () => {
  const { queue, seen } = clientOf([
    problem(429, 'queue_full', { 'retry-after': '60' }),
    problem(503, 'unavailable', { 'retry-after': '3600' }),
  ]);
  const call = queue.status('r1').catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(59_000);
  expect(seen).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(17_000);
  expect(await call).toMatchObject({ code: 'unavailable', retryAfter: 3600 });
  expect(seen).toHaveLength(2);
});

it.each(['0', 'Tue, 01 Jan 2019 00:00:00 GMT'])(
  'pauses longer after each failure, although Retry-After is %s',
  async (retryAfter) => {
    const tries: number[] = [];
    const fetch = (): Promise<Response> => {
      tries.push(performance.now());
      return Promise.resolve(problem(503, 'unavailable', { 'retry-after': retryAfter }));
    };
    await failureOf(clientOf([], { fetch }).queue.status('r1'));
    const pauses = tries.slice(1).map((at, i) => at - tries[i]!);
    expect(pauses).toHaveLength(5);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(new Set([0, ...pauses]).size).toBe(6);
  },
);

it('gives up a try that takes too long, and tries again', async () => {
  let tries = 0;
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    if (++tries === 3) return Promise.resolve(json(queued));
    return new Promise((_resolve, reject) => {
      init!.signal!.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const { queue } = clientOf([], { fetch, timeoutS: 1 });
  expect(await passing(queue.status('r1'))).toEqual(queued);
  expect(tries).toBe(3);
});

it('requests a long poll, half as long with each try', async () => {
  const completed = { ...queued, status: 'COMPLETED', success: true, response: { y: 2 } };
  const { queue, seen } = clientOf([lost(), lost(), json(completed)]);
  const { output, requestId, status } = await passing(queue.run('a/b', { input: {} }));
  expect([output, requestId, status.success, 'response' in status]).toEqual([{ y: 2 }, 'r1', true, false]);
  expect(seen.map(({ headers }) => headers.get('prefer'))).toEqual(['wait=30', 'wait=15', 'wait=7']);
});

it('continues by polling when the long poll of a submission ends too early', async () => {
  const { queue, seen } = clientOf([
    json(queued, 202),
    json({ ...queued, status: 'IN_QUEUE' }, 200, { 'retry-after': '1' }),
    json({ ...queued, status: 'COMPLETED', success: true }, 200, { 'preference-applied': 'wait=30' }),
    json(null),
  ]);
  expect((await passing(queue.run('a/b', { input: {} }))).output).toBeNull();
  expect(seen.map(({ url }) => url.replace(/^.*\/v1/, ''))).toEqual([
    '/queue/a/b',
    '/queue/requests/r1/status',
    '/queue/requests/r1/status',
    '/queue/requests/r1',
  ]);
});

it('reports that the output of a run is gone, if the answer to its submission lacks it', async () => {
  const completed = { ...queued, status: 'COMPLETED', success: true };
  const { queue } = clientOf([json(completed), json(completed), problem(410, 'gone')]);
  expect(await failureOf(queue.run('a/b', { input: {} }))).toMatchObject({ code: 'gone', requestId: 'r1' });
});

it('reports why a run has no output', async () => {
  const error = { code: 'model_error', message: 'It broke.', timestamp: '', details: { at: 3 } };
  const { queue } = clientOf([json({ ...queued, status: 'COMPLETED', success: false, error })]);
  expect(await failureOf(queue.run('a/b', { input: {} }))).toMatchObject({
    code: 'model_error',
    detail: 'It broke.',
    details: { at: 3 },
    requestId: 'r1',
  });
});

it('sends the options of a submission under the names of the API', async () => {
  const { queue, seen } = clientOf([json(queued, 202)]);
  await queue.submit('a/b', {
    input: {},
    webhook: 'https://example.org/?a=b&c',
    priority: 'high',
    notBefore: new Date('2026-11-23T12:00:00Z'),
    expiresS: 300,
    timeoutS: 1.5,
    tags: ['customer:7', 'order:8'],
    idempotencyKey: 'order "8"',
  });
  expect([...new URL(seen[0]!.url).searchParams]).toEqual([
    ['webhook', 'https://example.org/?a=b&c'],
    ['priority', 'high'],
    ['not_before', '2026-11-23T12:00:00.000Z'],
    ['expires', '300000ms'],
    ['timeout', '1500ms'],
    ['tag', 'customer:7'],
    ['tag', 'order:8'],
  ]);
  expect(seen[0]!.headers.get('idempotency-key')).toBe(String.raw`"order \"8\""`);
  expect(seen[0]!.headers.get('authorization')).toBe('Key k');
});

it('sends each of many submissions with an idempotency key and its options as JSON', async () => {
  const { queue, seen } = clientOf([lost(), json({ results: [{ status: 202, ...queued }] })]);
  await passing(queue.submitMany([{ model: 'a/b', input: { x: 1 }, delayS: 60, tags: ['a:b'] }]));
  expect(seen[1]!.body).toEqual({
    requests: [
      {
        model_id: 'a/b',
        input: { x: 1 },
        delay: '60000ms',
        tag: ['a:b'],
        idempotency_key: expect.any(String),
      },
    ],
  });
  expect(seen[0]!.body).toEqual(seen[1]!.body);
});

it('requests the next pages of a list by the cursor, without the filter', async () => {
  const { queue, seen } = clientOf([
    json({ data: [{ request_id: 'r1' }, { request_id: 'r2' }], next_cursor: 'c/1' }),
    json({ data: [], next_cursor: 'c2' }),
    json({ data: [{ request_id: 'r3' }], next_cursor: null }),
  ]);
  const ids: string[] = [];
  for await (const { request_id } of queue.list({ model: 'a/b', tags: ['x:1'], limit: 2 }))
    ids.push(request_id);
  expect(ids).toEqual(['r1', 'r2', 'r3']);
  expect(seen.map(({ url }) => new URL(url).search)).toEqual([
    '?model_id=a%2Fb&tag=x%3A1&limit=2',
    '?limit=2&cursor=c%2F1',
    '?limit=2&cursor=c2',
  ]);
});

it('repeats a retry under the same idempotency key', async () => {
  const { queue, seen } = clientOf([lost(), problem(503, 'unavailable'), json(queued, 202)]);
  expect(await passing(queue.retry('r1'))).toEqual(queued);
  const keys = seen.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^"[0-9a-f]{32}"$/)));
  expect(new Set(keys).size).toBe(1);
  const own = clientOf([json(queued, 202)]);
  await own.queue.retry('r1', { idempotencyKey: 'mine' });
  expect(own.seen[0]!.headers.get('idempotency-key')).toBe('"mine"');
});

it('treats a 410 to a delete as success', async () => {
  const { queue } = clientOf([lost(), problem(410, 'gone')]);
  await expect(passing(queue.delete('r1'))).resolves.toBeUndefined();
});

it.each(['..', 'a/../b', 'a//b', '', '.'])('refuses the model %j without a call', async (model) => {
  const { queue, seen } = clientOf([]);
  await expect((async () => queue.submit(model, { input: {} }))()).rejects.toThrow(TypeError);
  await expect(queue.result('..')).rejects.toThrow(TypeError);
  expect(seen).toEqual([]);
});

it('does not take an address without http', () => {
  expect(() => createClient({ url: 'queue.example.org' })).toThrow(/queue\.example\.org/);
});

it('ends at once when its signal fires, also between two tries', async () => {
  const { queue, seen } = clientOf([problem(503, 'unavailable', { 'retry-after': '100' })]);
  const controller = new AbortController();
  const call = queue.status('r1', { signal: controller.signal }).catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(1_000);
  controller.abort();
  expect(await call).toMatchObject({ name: 'AbortError', code: 'aborted', requestId: 'r1' });
  expect(seen).toHaveLength(1);
});

const accepted = (request_id: string): object => ({ ...queued, status: 202, request_id });
const refused = (status: number, code: string): object => ({ status, code, detail: `It is ${code}.` });
const itemsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ model: 'a/b', input: { n }, idempotencyKey: `key ${n}` }));
const keysOf = ({ body }: Seen): string[] =>
  (body as { requests: { idempotency_key: string }[] }).requests.map((one) => one.idempotency_key);

it('repeats the rate-limited ones of many submissions until they are accepted', async () => {
  const limited = refused(403, 'rate_limited');
  const turn = { 'retry-after': '1' };
  const { queue, seen } = clientOf([
    json({ results: [accepted('r0'), limited, refused(422, 'invalid_input'), limited] }, 200, turn),
    ...Array.from({ length: 9 }, () => json({ results: [limited, limited] }, 200, turn)),
    json({ results: [limited, accepted('r3')] }, 200, turn),
    lost(),
    json({ results: [accepted('r1')] }),
  ]);
  const results = await passing(queue.submitMany(itemsOf(4)));
  expect(results).toEqual([accepted('r0'), accepted('r1'), refused(422, 'invalid_input'), accepted('r3')]);
  expect(seen.slice(1, 11).map(keysOf)).toEqual(Array(10).fill(['key 1', 'key 3']));
  expect(seen.slice(11).map(keysOf)).toEqual(Array(2).fill(['key 1']));
});

it('returns the ids of many submissions even if some stay refused or get no answer', async () => {
  const full = { results: [accepted('r0'), refused(429, 'queue_full')] };
  const again = { results: [refused(429, 'queue_full')] };
  const staying = clientOf([json(full), json(again), json(again)], { retries: 2 });
  expect(await passing(staying.queue.submitMany(itemsOf(2)))).toEqual(full.results);
  expect(staying.seen.map(keysOf)).toEqual([['key 0', 'key 1'], ['key 1'], ['key 1']]);
  const cut = clientOf([json(full), lost(), lost()], { retries: 1 });
  expect(await passing(cut.queue.submitMany(itemsOf(2)))).toEqual([
    accepted('r0'),
    { status: 0, code: 'connection_failed', detail: expect.any(String) },
  ]);
});

it('completes 60 simultaneous submissions under a limit of 10 a second', async () => {
  const admitted: number[] = [];
  const fetch = (): Promise<Response> => {
    const now = performance.now();
    if (admitted.filter((at) => at > now - 1_000).length >= 10)
      return Promise.resolve(problem(403, 'rate_limited', { 'retry-after': '1' }));
    admitted.push(now);
    return Promise.resolve(json({ ...queued, request_id: `r${admitted.length}` }, 202));
  };
  const { queue } = clientOf([], { fetch });
  const all = Promise.all(Array.from({ length: 60 }, () => queue.submit('a/b', { input: {} })));
  expect(new Set((await passing(all)).map(({ request_id }) => request_id)).size).toBe(60);
  const hasty = clientOf([problem(403, 'rate_limited', { 'retry-after': '1' })], { retries: 0 });
  expect(await failureOf(hasty.queue.submit('a/b', { input: {} }))).toMatchObject({ code: 'rate_limited' });
});

/** An event stream that ends with its connection, or breaks off. */
function streamOf(events: { id: string; name?: string; data: object }[], breaks = false): Response {
  const text = events
    .map(
      ({ id, name, data }) => `${name ? `event: ${name}\n` : ''}id: ${id}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    .join('');
  let hasSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (!hasSent) controller.enqueue(new TextEncoder().encode(text));
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
      hasSent = true;
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const pathsOf = (seen: Seen[]): string[] => seen.map(({ url }) => url.replace(/^.*\/requests\/r1\//, ''));
const running = { request_id: 'r1', status: 'IN_PROGRESS' };
const completed = { request_id: 'r1', status: 'COMPLETED', success: true };

it.each<[string, number]>([
  ['20 s', 20_000],
  ['an hour', 3_600_000],
])('resumes its streams after an outage of %s', async (_name, outageMs) => {
  const part = (id: string, delta: string) => ({ id, name: 'output', data: { delta } });
  const outputs = [
    streamOf([part('1.1', 'a')], true),
    streamOf([part('1.2', 'b'), { id: '1.done', name: 'done', data: { success: true } }]),
  ];
  const statuses = [streamOf([{ id: '7', data: running }], true), streamOf([{ id: '8', data: completed }])];
  let seen: Seen[] = [];
  let awayUntil: number | undefined;
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    seen.push({ url, method: 'GET', headers: new Headers(init.headers), body: undefined });
    if (awayUntil !== undefined && performance.now() < awayUntil)
      return Promise.resolve(new Response('<html>Bad gateway</html>', { status: 502 }));
    awayUntil ??= performance.now() + outageMs;
    return Promise.resolve((url.includes('/output/') ? outputs : statuses).shift()!);
  };
  const { queue } = clientOf([], { fetch });
  expect(await passing(all(queue.output('r1')))).toEqual(['a', 'b']);
  expect(new Set(pathsOf(seen))).toEqual(new Set(['output/stream']));
  expect(seen.at(-1)!.headers.get('last-event-id')).toBe('1.1');
  seen = [];
  awayUntil = undefined;
  expect(await passing(all(queue.follow('r1')))).toEqual([running, completed]);
  expect(new Set(pathsOf(seen))).toEqual(new Set(['status/stream']));
  expect(seen.at(-1)!.headers.get('last-event-id')).toBe('7');
});

it('retries a stream that got no answer, and returns each log line once', async () => {
  const [one, two] = ['one', 'two'].map((message) => ({ message }));
  const seen: Seen[] = [];
  let streams = 0;
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    seen.push({ url, method: 'GET', headers: new Headers(init.headers), body: undefined });
    if (!url.includes('/stream'))
      return Promise.resolve(json({ ...running, logs: [one] }, 200, { 'retry-after': '2' }));
    if (++streams > 1)
      return Promise.resolve(
        streamOf([
          { id: '8', data: { ...running, logs: [one] } },
          { id: '9', data: { ...completed, logs: [two] } },
        ]),
      );
    return new Promise((_resolve, reject) => {
      init.signal!.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const { queue } = clientOf([], { fetch });
  const updates = await passing(all(queue.follow('r1', { logs: true })));
  expect(updates.flatMap(({ logs = [] }) => logs)).toEqual([one, two]);
  expect(updates.at(-1)).toMatchObject({ status: 'COMPLETED' });
  const paths = pathsOf(seen).map((path) => path.replace('?logs=1', ''));
  expect([paths[0], paths[1], paths.at(-2), paths.at(-1)]).toEqual([
    'status/stream',
    'status',
    'status',
    'status/stream',
  ]);
  expect(streams).toBe(2);
});
