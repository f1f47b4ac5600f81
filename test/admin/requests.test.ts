import { Handles } from '../../src/auth/handles.js';
import { keyHeader, unknownId, verdict } from '../support/queue-calls.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/one': { concurrency: 1, attempts: 2 }, 'test/wide': { concurrency: 50 } },
  limits: '10000/s',
});

interface Shown {
  request_id: string;
  status: string;
  outcome: string | null;
  key: { id: string; name: string };
  node: string | null;
  error?: { code: string; message: string; details?: unknown };
  output_type?: string;
}

interface Page {
  data: Shown[];
  next_cursor: string | null;
  count?: { value: number; is_exact: boolean; failures?: object[] };
}

let observer: string;
let reader: string;

beforeAll(async () => {
  observer = await calls.newKey({ name: 'observer', scopes: ['observe'] });
  reader = await calls.newKey({ name: 'reader', scopes: ['payloads'] });
});

const get = (path: string, key = service.key): Promise<Response> =>
  service.get(`/v1/admin/${path}`, { headers: keyHeader(key) });
const post = (path: string, body?: object, key = service.key): Promise<Response> =>
  fetch(`${service.url}/v1/admin/${path}`, {
    method: 'POST',
    headers: keyHeader(key),
    ...(body && { body: JSON.stringify(body) }),
  });
const json = async <T>(answer: Promise<Response>): Promise<T> => (await answer).json() as Promise<T>;
const list = (query: string, key?: string): Promise<Page> => json<Page>(get(`requests?${query}`, key));
const handle = (id: string): string => service.app.get(Handles).handleOf(id);
const audited = (action: string, target?: string) =>
  service.query<{ actor_name: string; reason: string | null; after: object }>(
    'SELECT actor_name, reason, after FROM audit_entry WHERE action = $1 AND ($2::text IS NULL OR target = $2)',
    [action, target ?? null],
  );

test('the list has the requests of all keys, newest first, page by page, and each filter narrows it', async () => {
  const own = await calls.newKey({ name: 'web shop' });
  const ids: string[] = [];
  for (const status of [200, 200, 418]) {
    const id = await calls.submit('test/wide?tag=shop:1', { status }, keyHeader(own));
    await calls.reached(id, 'COMPLETED');
    ids.push(id);
  }
  const other = await calls.run('test/one', {});
  const first = await list('tag=shop:1&limit=2');
  expect(first.data.map(({ request_id: id }) => id)).toEqual([ids[2], ids[1]]);
  expect(first.count).toEqual({ value: 3, is_exact: true });
  expect(first.data[0]).toMatchObject({
    outcome: 'failed',
    key: { name: 'web shop' },
    node: expect.any(String) as string,
  });
  const second = await list(`cursor=${first.next_cursor}`);
  expect(second.data.map(({ request_id: id }) => id)).toEqual([ids[0]]);
  expect([second.next_cursor, second.count]).toEqual([null, undefined]);

  const [{ key, node }] = first.data as [Shown];
  const found = async (query: string): Promise<string[]> =>
    (await list(query)).data.map(({ request_id: id }) => id);
  expect(await found(`key_id=${key.id}`)).toEqual([...ids].reverse());
  expect(await found(`key_id=${key.id}&outcome=failed`)).toEqual([ids[2]]);
  expect(await found(`code=model_error&tag=shop:1`)).toEqual([ids[2]]);
  expect(await found(`node=${node}&model_id=test/one`)).toEqual([other]);
  expect(await found('node=nowhere')).toEqual([]);
  expect(await found(`id_prefix=${ids[1]!.slice(0, 18)}`)).toContain(ids[1]);
  expect(await found(`id_prefix=${ids[1]!.toUpperCase()}`)).toEqual([ids[1]]);
  expect(await found('status=IN_QUEUE')).toEqual([]);
});

test('a prefix finds every id that begins with it, up to the whole id, also without hyphens', async () => {
  const before = await calls.run('test/wide');
  const id = `${before.slice(0, -4)}ffff`;
  await service.query('UPDATE request SET id = $2 WHERE id = $1', [before, id]);
  const digits = id.replaceAll('-', '');
  for (const prefix of [
    id.slice(0, -2),
    id.slice(0, -1),
    digits.slice(0, -1),
    digits,
    `${digits.slice(0, 20)}-`,
  ])
    expect([prefix, (await list(`id_prefix=${prefix}`)).data.map(({ request_id: found }) => found)]).toEqual([
      prefix,
      [id],
    ]);
  for (const prefix of [
    '0'.repeat(32),
    '00000000-0000-0000-0000-000000000000',
    'f'.repeat(32),
    'f'.repeat(36),
  ])
    expect([prefix, (await list(`id_prefix=${prefix}`)).data]).toEqual([prefix, []]);
});

test('a request that waits at the bound of its key shows the bound', async () => {
  const bounded = await calls.newKey({ name: 'bounded', maxRunning: 1 });
  const [running, held] = [
    await calls.submit('test/wide', { hold: true }, keyHeader(bounded)),
    await calls.submit('test/wide', {}, keyHeader(bounded)),
  ];
  await calls.reached(running, 'IN_PROGRESS');
  expect(await json(get(`requests/${held}`))).toMatchObject({ status: 'IN_QUEUE', held_at: 1 });
  await model.answer(running);
  await calls.reached(held, 'COMPLETED');
  expect(await json(get(`requests/${held}`))).not.toHaveProperty('held_at');
});

test('the list groups failed requests by model, code and message, with their number', async () => {
  for (const [id, status] of [
    ['test/wide', 418],
    ['test/wide', 418],
    ['test/wide', 404],
    ['test/one', 422],
  ] as const)
    await calls.reached(await calls.submit(`${id}?tag=why:1`, { status }), 'COMPLETED');
  const { data, count } = await list('tag=why:1&outcome=failed&limit=1');
  expect(count).toMatchObject({
    value: 4,
    is_exact: true,
    failures: [
      { model_id: 'test/wide', code: 'model_error', count: 2, message: expect.stringContaining('418') },
      { model_id: 'test/one', code: 'model_error', count: 1, message: data[0]!.error!.message },
      { model_id: 'test/wide', code: 'model_error', count: 1, message: expect.stringContaining('404') },
    ],
  });
  expect((await list('tag=why:1')).count).toEqual({ value: 4, is_exact: true });
});

test('a request whose error PostgreSQL cannot read is listed, counted and found like any other', async () => {
  const id = await calls.submit('test/wide?tag=unreadable:1', { status: 418, body: '{"why":"no"}' });
  await calls.reached(id, 'COMPLETED');
  const poison = `UPDATE request SET error = replace(error::text, 'no', '\\u0000\\ud800')::json WHERE id = $1`;
  await service.query(poison, [id]);
  const shown = { request_id: id, error: { code: 'model_error', details: { why: '\0\ud800' } } };
  for (const query of ['outcome=failed', 'code=model_error', 'code=model_error&outcome=failed', 'limit=1']) {
    const page = await list(`tag=unreadable:1&${query}`);
    expect(page).toMatchObject({ data: [shown], count: { value: 1 } });
  }
  expect(await list('tag=unreadable:1&code=timed_out')).toMatchObject({ data: [] });
  const { count } = await list('tag=unreadable:1&outcome=failed');
  expect(count!.failures).toMatchObject([{ code: 'model_error', message: expect.stringContaining('418') }]);
  expect(await json(get(`requests/${id}`))).toMatchObject(shown);
});

test('operators see the error message of a model; the caller of the request does not', async () => {
  const failing = { status: 500, body: JSON.stringify({ error: { message: 'CUDA out of memory' } }) };
  const id = await calls.submit('test/one?tag=words:1', failing);
  await calls.reached(id, 'COMPLETED');
  const said = 'The model answered 500: CUDA out of memory';
  const { data, count } = await list('tag=words:1&outcome=failed', observer);
  expect([data[0]!.error!.message, count!.failures]).toEqual([
    said,
    [expect.objectContaining({ message: said })],
  ]);
  const { data: life } = await json<{ data: object[] }>(get(`requests/${id}/events`, observer));
  expect([life.at(2), life.at(-1)]).toMatchObject([{ message: said }, { message: said }]);

  const own = await json<Shown>(service.get(`/v1/queue/requests/${id}/status?logs=1`));
  expect(own.error).toMatchObject({ code: 'model_error', message: 'The model answered 500.' });
  expect(JSON.stringify(own)).not.toContain('CUDA');

  expect((await post(`requests/${id}/erase`)).status).toBe(204);
  expect(JSON.stringify(await json(get(`requests/${id}/events`)))).not.toContain('CUDA');
});

test('callers that accept a slightly old list share one page', async () => {
  const page = async (age: string): Promise<string[]> => {
    const headers = { ...keyHeader(service.key), 'cache-control': age };
    const { data } = await json<Page>(service.get('/v1/admin/requests?tag=shared:1', { headers }));
    return data.map(({ request_id: id }) => id);
  };
  expect(await page('max-age=9')).toEqual([]);
  const id = await calls.submit('test/wide?tag=shared:1', {});
  expect(await page('max-age=9')).toEqual([]);
  expect(await page('no-cache')).toEqual([id]);
  expect(await page('max-age=9')).toEqual([id]);
});

test('waiting and running requests are found by their state', async () => {
  const [running, waiting] = await calls.submitAll(2, 'test/one', { hold: true });
  await calls.reached(running!, 'IN_PROGRESS');
  expect((await list('status=IN_PROGRESS')).data.map(({ request_id: id }) => id)).toEqual([running]);
  expect((await list('status=IN_QUEUE')).data).toMatchObject([
    { request_id: waiting, queue_position: 0, reason: 'busy' },
  ]);
  await calls.cancel(waiting!);
  expect((await list('code=cancelled')).data.map(({ request_id: id }) => id)).toEqual([waiting]);
  const node = (await list('status=IN_PROGRESS')).data[0]!.node;
  expect((await list(`status=IN_PROGRESS&node=${node}`)).data.map(({ request_id: id }) => id)).toEqual([
    running,
  ]);
  expect((await list(`node=${node}&limit=1`)).data.map(({ request_id: id }) => id)).toEqual([running]);
  await model.answer(running!);
});

test.each([
  ['outcome=none', 'invalid_query'],
  ['key_id=none', 'invalid_query'],
  ['cursor=none', 'invalid_query'],
  ['limit=0', 'invalid_query'],
  ['colour=red', 'invalid_query'],
])('the list refuses %s', async (query, code) =>
  expect(await verdict(get(`requests?${query}`))).toEqual([400, code]),
);

test('without the scope payloads, a key sees handles but no details or payloads, and cannot guess an id', async () => {
  const id = await calls.run('test/wide', { status: 418, body: '{"secret":"tea"}' });
  const page = await list('limit=1', observer);
  const error = { code: 'model_error', message: expect.stringContaining('418') as string };
  expect(page.data).toMatchObject([{ request_id: handle(id), error }]);
  expect(JSON.stringify(page)).not.toContain(id);
  expect(JSON.stringify(page)).not.toContain('tea');
  expect(Buffer.from(page.next_cursor!, 'base64url').toString()).not.toContain(id);
  expect((await list(`id_prefix=${id.slice(0, 8)}`, observer)).data).toEqual([]);
  expect((await list(`id_prefix=${handle(id)}`, observer)).data).toHaveLength(1);
  expect(await json(get(`requests/${handle(id)}`, observer))).toMatchObject({ request_id: handle(id) });
  for (const part of ['input', 'response', 'log', 'picture'])
    expect(await verdict(get(`requests/${handle(id)}/${part}`, observer))).toEqual([403, 'forbidden']);
  for (const action of ['cancel', 'retry', 'erase'])
    expect(await verdict(post(`requests/${handle(id)}/${action}`, undefined, reader))).toEqual([
      403,
      'forbidden',
    ]);
  expect(await verdict(service.get(`/v1/queue/requests/${handle(id)}`))).toEqual([404, 'unknown_request']);
  expect(await verdict(get(`requests/${id}/log?cursor=1`, observer))).toEqual([403, 'forbidden']);
  const refused = await until(
    async () => {
      const targets = await service.query<{ target: string }>(
        `SELECT target FROM audit_entry WHERE action = 'access.refuse' ORDER BY id`,
      );
      return targets.length === 8 && targets.map(({ target }) => target);
    },
    { message: 'each refused try is audited' },
  );
  // The audit names the handle, even if the call used the id, because keys with `observe` read the audit.
  expect(refused[0]).toBe(`GET /v1/admin/requests/${handle(id)}/input`);
  expect(refused.at(-1)).toBe(`GET /v1/admin/requests/${handle(id)}/log`);
});

test('payloads are returned unchanged, also in ranges, and the audit has one read per key and payload', async () => {
  const output = '{"n":12345678901234567890,"image":"data:image/png;base64,iVBORw0KGgo="}';
  const id = await calls.run('test/wide', { body: output, note: 'ä' });
  const whole = await get(`requests/${id}/response`, reader);
  expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await whole.text()).toBe(output);
  const part = await service.get(`/v1/admin/requests/${id}/response`, {
    headers: { ...keyHeader(reader), range: 'bytes=1-4' },
  });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    `bytes 1-4/${output.length}`,
    '"n":',
  ]);
  const picture = await get(`requests/${id}/picture`, reader);
  expect([picture.headers.get('content-type'), (await picture.arrayBuffer()).byteLength]).toEqual([
    'image/png',
    8,
  ]);
  expect(await json(get(`requests/${id}/input`, reader))).toMatchObject({ note: 'ä' });
  expect(await json(get(`requests/${id}`, reader))).toMatchObject({
    output_bytes: output.length,
    output_type: 'image/png',
  });
  expect((await audited('payload.read', handle(id))).map(({ after }) => after)).toEqual([
    { part: 'output' },
    { part: 'input' },
  ]);
  // The request's own key counts as another reader.
  await Promise.all(Array.from({ length: 3 }, async () => (await get(`requests/${id}/input`)).text()));
  expect(await audited('payload.read', handle(id))).toMatchObject([
    { actor_name: 'reader' },
    { actor_name: 'reader' },
    { actor_name: 'bootstrap', after: { part: 'input' } },
  ]);
});

test('a range outside of a payload is answered 416, and an invalid range is ignored', async () => {
  const output = '{"n":1}';
  const id = await calls.run('test/wide', { body: output });
  const read = async (range: string) => {
    const headers = { ...keyHeader(reader), range };
    const answer = await service.get(`/v1/admin/requests/${id}/response`, { headers });
    return [answer.status, answer.headers.get('content-range'), await answer.text()];
  };
  for (const range of ['bytes=7-', 'bytes=2147483647-', 'bytes=2147483648-', 'bytes=9999999999-9999999999'])
    expect([range, ...(await read(range)).slice(0, 2)]).toEqual([range, 416, 'bytes */7']);
  for (const range of ['bytes=5-2', 'bytes=-', 'bytes=99999999999-', 'lines=1-2'])
    expect([range, ...(await read(range))]).toEqual([range, 200, null, output]);
});

test('the status of a request is also at /status, as for callers', async () => {
  const id = await calls.run('test/wide', {});
  const { request_id, ...shown } = await json<Shown>(get(`requests/${id}`, observer));
  expect(request_id).toBe(handle(id));
  expect(await json(get(`requests/${handle(id)}/status`, observer))).toEqual({ request_id, ...shown });
  expect(await verdict(get(`requests/${unknownId()}/status`))).toEqual([404, 'unknown_request']);
});

test('a log is read in pages that link to the next, and reading it on the stream is audited too', async () => {
  const id = await calls.run('test/wide', {});
  await service.query(
    `INSERT INTO request_event (request_id, kind, attempt, level, source, message)
     SELECT $1::uuid, 'log', 1, 'INFO', 'runner', 'line ' || n FROM generate_series(1, 1500) AS n`,
    [id],
  );
  const stream = async (query: string, key: string): Promise<string> =>
    (await get(`requests/${id}/status/stream${query}`, key)).text();
  expect(await stream('?logs=1', observer)).not.toContain('line 1');
  expect(await stream('', reader)).not.toContain('line 1');
  expect(await audited('payload.read', handle(id))).toEqual([]);
  expect(await stream('?logs=1', reader)).toContain('line 1');
  expect(await stream('?logs=1', reader)).toContain('line 1');

  const first = await get(`requests/${id}/log`, reader);
  const page = (await first.json()) as Page;
  expect(page.data).toHaveLength(1_000);
  const next = `${service.url}/v1/admin/requests/${id}/log?cursor=${page.next_cursor}`;
  expect(first.headers.get('link')).toBe(`<${next}>; rel="next"`);
  const last = await service.get(next, { headers: keyHeader(reader) });
  expect(last.headers.get('link')).toBeNull();
  const rest = (await last.json()) as Page;
  expect([rest.data.length, rest.next_cursor]).toEqual([500, null]);
  for (const query of ['cursor=nonsense', 'cursor=-1', 'cursor=1&cursor=2', 'colour=red'])
    expect(await verdict(get(`requests/${id}/log?${query}`, reader))).toEqual([400, 'invalid_query']);
  expect(await audited('payload.read', handle(id))).toMatchObject([
    { actor_name: 'reader', after: { part: 'log' } },
  ]);
});

test('the history of a request lists its events, their nodes and its positions', async () => {
  const [first, second] = await calls.submitAll(2, 'test/one', { attempts: [{ status: 500 }, {}] });
  await calls.reached(second!, 'COMPLETED');
  await calls.reached(first!, 'COMPLETED');
  const { data, positions } = await json<{
    data: { kind: string; node: string; at: string; until: string | null }[];
    positions: { position: number }[];
  }>(get(`requests/${second}/events`, observer));
  expect(data.map(({ kind }) => kind)).toEqual(['submitted', 'started', 'requeued', 'started', 'completed']);
  expect(data[1]).toMatchObject({
    node: expect.any(String) as string,
    outcome: 'failed',
    code: 'model_error',
  });
  // The end of a pause stays known after the pause.
  const [, , requeued, started] = data;
  expect(data.map(({ until: end }) => end !== null)).toEqual([false, false, true, false, false]);
  expect(Date.parse(requeued!.until!)).toBeGreaterThan(Date.parse(requeued!.at));
  expect(Date.parse(requeued!.until!)).toBeLessThanOrEqual(Date.parse(started!.at));
  expect(data[0]).toMatchObject({ node: null, attempt: 0 });
  expect(positions.at(0)!.position).toBeGreaterThanOrEqual(0);
  const { data: lines } = await json<{ data: unknown[] }>(get(`requests/${second}/log`, reader));
  expect(Array.isArray(lines)).toBe(true);
});

test('an operator cancels, retries and erases requests, and cancels and erasures are audited', async () => {
  const [running, waiting] = await calls.submitAll(2, 'test/one', { hold: true });
  const reason = 'asked for by its owner';
  expect(await json(post(`requests/${waiting}/cancel`, { reason }))).toMatchObject({ outcome: 'cancelled' });
  const { data: life } = await json<{ data: unknown[] }>(get(`requests/${waiting}/events`, observer));
  expect(life.at(-1)).toMatchObject({ kind: 'completed', outcome: 'cancelled', node: null });
  expect(await audited('request.cancel', handle(waiting!))).toMatchObject([
    { actor_name: 'bootstrap', reason },
  ]);
  expect(await verdict(post(`requests/${waiting}/cancel`))).toEqual([400, 'already_completed']);
  expect(await verdict(post(`requests/${running}/erase`))).toEqual([400, 'not_completed']);
  expect(await json(post(`requests/${running}/cancel`))).toMatchObject({ request_id: running });
  await calls.reached(running!, 'COMPLETED');

  const again = await json<Shown & { retry_of: string }>(post(`requests/${running}/retry`, { reason }));
  expect(again).toMatchObject({ retry_of: running, key: { name: 'bootstrap' } });
  await until(() => model.calls.some(({ id }) => id === again.request_id));
  await model.answer(again.request_id);
  await calls.reached(again.request_id, 'COMPLETED');
  expect((await post(`requests/${again.request_id}/erase`, { reason })).status).toBe(204);
  expect(await verdict(post(`requests/${again.request_id}/erase`))).toEqual([410, 'gone']);
  expect(await json(get(`requests/${again.request_id}`))).toMatchObject({
    erased_at: expect.any(String) as string,
  });
  expect(await audited('request.erase', handle(again.request_id))).toHaveLength(1);
  expect(await verdict(post(`requests/${unknownId()}/cancel`))).toEqual([404, 'unknown_request']);
  expect(await verdict(post(`requests/nonsense/cancel`, { because: 1 }))).toEqual([400, 'invalid_query']);
});

test('the stream of any request shows handles to an observer', async () => {
  const id = await calls.run('test/wide', {});
  const text = await (await get(`requests/${handle(id)}/status/stream`, observer)).text();
  expect(text).toContain(handle(id));
  expect(text).not.toContain(id);
});
