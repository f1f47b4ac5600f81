import { inlined } from '../support/api-document.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const schema = {
  type: 'object',
  required: ['prompt'],
  properties: {
    prompt: { type: 'string', maxLength: 100 },
    size: { $ref: '#/$defs/size' },
    parts: { type: 'array', items: { $ref: '#' } },
  },
  $defs: { size: { type: 'integer', minimum: 1 } },
};

const { service, calls, model } = testQueue({
  models: {
    'acme/image/upscale': { description: 'Makes it larger.', concurrency: 2, input_schema: schema },
    'acme/slow': { concurrency: 2 },
    'other/quick': { attempts: 2 },
    'acme/away': {},
  },
  limits: '10000/s',
});

interface Model {
  id: string;
  waiting: number;
  running: number;
  load: number;
  oldest_wait_s: number | null;
  availability: string;
}

const get = (path: string, key = service.key): Promise<Response> =>
  service.get(path, { headers: keyHeader(key) });
const read = async <T>(path: string, key?: string): Promise<T> => {
  const response = await get(path, key);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as T;
};
const waitOf = async (id: string): Promise<number> => {
  const [row] = await service.query<{ waited: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 AS waited FROM request WHERE id = $1`,
    [id],
  );
  return row!.waited;
};
const listed = (key?: string): Promise<{ data: Model[] }> => read('/v1/models', key);

test('the list has the models in the order of the file, with their input schemas and load', async () => {
  const { data } = await listed();
  expect(data.map(({ id }) => id)).toEqual(['acme/image/upscale', 'acme/slow', 'other/quick', 'acme/away']);
  expect(data[0]).toEqual({
    id: 'acme/image/upscale',
    description: 'Makes it larger.',
    input_schema: schema,
    concurrency: 2,
    group: null,
    reserve: { high: 0, normal: 0 },
    waiting: 0,
    running: 0,
    load: 0,
    oldest_wait_s: null,
    run_time: null,
    queue_time: null,
    workers: null,
    availability: 'available',
    next_probe_at: null,
  });
  expect(data[1]).toMatchObject({ description: '', input_schema: null });
});

test('a model states its waiting and running requests, and the wait of the oldest one', async () => {
  const ids = await calls.submitAll(5, 'acme/slow', { hold: true });
  await Promise.all(ids.slice(0, 2).map((id) => model.arrived(id)));
  // What is shown may be a second old, so at first the oldest may be one of those that have begun since.
  const shown = await until(async () => {
    const slow = await read<Model>('/v1/models/acme/slow');
    const wait = slow.oldest_wait_s ?? 0;
    return slow.running === 2 && wait > 0 && wait <= (await waitOf(ids[2]!)) && slow;
  });
  expect(shown).toMatchObject({ waiting: 3, running: 2, load: 5 });
  for (const id of ids) await model.answer(id);
  await Promise.all(ids.map((id) => calls.reached(id, 'COMPLETED')));
  await until(async () => (await read<Model>('/v1/models/acme/slow')).running === 0);
  expect(await read<Model>('/v1/models/acme/slow')).toMatchObject({
    waiting: 0,
    load: 0,
    oldest_wait_s: null,
  });
});

test('the oldest request may have a low priority or wait for its next attempt, and scheduled requests do not count', async () => {
  const submit = async (query: string, input: object): Promise<string> => {
    const answer = await service.submit(`other/quick?${query}`, input);
    return ((await answer.json()) as { request_id: string }).request_id;
  };
  const retry = { headers: { 'retry-after': '60' }, status: 429 };
  const scheduled = await submit('delay=1h', {});
  const delayed = await submit('priority=low', { attempts: [retry, {}] });
  await until(async () => (await read<Model>('/v1/models/other/quick')).oldest_wait_s !== null);
  const running = await Promise.all(Array.from({ length: 4 }, () => submit('priority=high', { hold: true })));
  for (const id of running) await model.arrived(id);
  const later = await submit('priority=high', {});
  await until(async () => {
    const { waiting, running: runs, oldest_wait_s: waited } = await read<Model>('/v1/models/other/quick');
    return waiting === 2 && runs === 4 && waited! > (await waitOf(later));
  });
  for (const id of [scheduled, delayed, later]) await calls.cancel(id);
  for (const id of running) await model.answer(id);
});

test('a model is listed as unavailable until its server is back', async () => {
  const shows = (availability: string): Promise<unknown> =>
    until(async () => (await read<Model>('/v1/models/acme/away')).availability === availability, {
      message: `it is ${availability}`,
    });
  await shows('available');
  let isAway = true;
  const { respond } = model;
  model.respond = (call) => (isAway ? call.response.writeHead(503).end() : respond(call));
  const id = await calls.submit('acme/away');
  await shows('unavailable');
  isAway = false;
  await calls.reached(id, 'COMPLETED');
  await shows('available');
  model.respond = respond;
});

test('a key sees the models that it may call, and no others', async () => {
  const key = await calls.newKey({ models: ['acme/*'] });
  expect((await listed(key)).data.map(({ id }) => id)).toEqual([
    'acme/image/upscale',
    'acme/slow',
    'acme/away',
  ]);
  for (const path of ['/v1/models/other/quick', '/v1/models/other/quick/openapi.json'])
    expect(await verdict(get(path, key))).toEqual([403, 'forbidden']);
});

test.each(['/v1/models', '/v1/models/acme/slow', '/v1/models/acme/slow/openapi.json'])(
  '%s is for keys with the scope read',
  async (path) => {
    const anonymous = await service.get(path);
    expect(anonymous.headers.get('www-authenticate')).toBe('Key');
    expect(await verdict(anonymous)).toEqual([401, 'missing_key']);
    expect(await verdict(get(path, 'wrong'))).toEqual([401, 'invalid_key']);
    const submitter = await calls.newKey({ scopes: ['submit'] });
    expect(await verdict(get(path, submitter))).toEqual([403, 'forbidden']);
    const response = await get(path);
    expect(response.headers.get('ratelimit-policy')).toContain('q=10000');
  },
);

test('an id may have its slashes encoded, and a slash at its end', async () => {
  for (const path of [
    'acme/image/upscale',
    'acme%2Fimage%2fupscale',
    'acme/image/upscale/',
    'acme%2Fimage/upscale?a=b',
  ])
    expect(await read(`/v1/models/${path}`)).toMatchObject({ id: 'acme/image/upscale' });
  expect(await read('/v1/models/acme%2Fimage%2Fupscale/openapi.json')).toMatchObject({ openapi: '3.1.0' });
  expect((await listed()).data).toHaveLength(4);
});

test('the answer to an unknown model suggests the nearest one', async () => {
  for (const path of ['/v1/models/acme/slo', '/v1/models/acme/slo/openapi.json']) {
    const { code, detail } = await problemOf(await get(path));
    expect([code, detail]).toEqual(['unknown_model', expect.stringContaining('did you mean "acme/slow"?')]);
  }
  for (const path of [
    '/v1/models/openapi.json',
    '/v1/models/a%2Fopenapi.json',
    '/v1/models/%',
    '/v1/models/a b',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test.each(['/v1/models', '/v1/models/acme/slow', '/v1/models/acme/slow/openapi.json'])(
  '%s takes nothing but GET and HEAD',
  async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(service.url + path, { method, headers: keyHeader(service.key) });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  },
);

describe('the description of one model', () => {
  interface Document {
    openapi: string;
    info: { title: string; description: string };
    servers: { url: string }[];
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>;
    components: Record<string, Record<string, unknown>>;
  }
  const document = (id: string): Promise<Document> => read(`/v1/models/${id}/openapi.json`);

  test('has its calls and its input, and points to this service', async () => {
    const whole = await document('acme/image/upscale');
    const { openapi, info, servers, paths, components } = whole;
    expect([openapi, info.title, info.description]).toEqual([
      '3.1.0',
      'acme/image/upscale',
      'Makes it larger.',
    ]);
    expect(servers).toMatchObject([{ url: service.url }]);
    expect(Object.entries(paths).map(([path, item]) => [path, ...Object.keys(item)])).toEqual([
      ['/v1/queue/acme/image/upscale', 'post'],
      ['/v1/queue/requests/{request_id}', 'get'],
      ['/v1/queue/requests/{request_id}/status', 'get'],
      ['/v1/queue/requests/{request_id}/cancel', 'put'],
    ]);
    const submission = paths['/v1/queue/acme/image/upscale']!['post']!;
    expect(submission).toMatchObject({
      operationId: 'submitRequest',
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Input' } } } },
    });
    expect(inlined(whole, submission.parameters!).map(({ name }) => name)).not.toContain('model_id');
    expect(components['schemas']!['Input']).toMatchObject({
      required: ['prompt'],
      properties: {
        size: { $ref: '#/components/schemas/Input_size' },
        parts: { items: { $ref: '#/components/schemas/Input' } },
      },
    });
  });

  test('has no dangling reference and no unused component', async () => {
    const whole = await document('acme/image/upscale');
    const text = JSON.stringify(whole);
    const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!));
    const resolve = (path: string): unknown =>
      path
        .split('/')
        .reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], whole);
    expect([...references].filter((path) => resolve(path) === undefined)).toEqual([]);
    const names = Object.entries(whole.components).flatMap(([kind, parts]) =>
      kind === 'securitySchemes' ? [] : Object.keys(parts).map((name) => `components/${kind}/${name}`),
    );
    const mapped = [...text.matchAll(/"#\/(components\/\w+\/[\w.-]+)/g)].map(([, path]) => path!);
    expect(names.filter((name) => !mapped.includes(name))).toEqual([]);
    expect(text).not.toContain('demo/image/fractal');
  });

  test('allows any object if the model has no schema', async () => {
    const { info, components } = await document('acme/slow');
    expect(info.description).toBe('The model acme/slow.');
    expect(components['schemas']!['Input']).toEqual({
      description: 'The input of acme/slow.',
      type: 'object',
    });
  });
});
