import { until } from '../support/index.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ limits: '1000/s', config: { maxBodyBytes: 100_000 } });

const send = (
  path: string,
  body: RequestInit['body'],
  headers: Record<string, string> = keyHeader(service.key),
): Promise<Response> => fetch(`${service.url}${path}`, { method: 'POST', body, headers });

const echo = '/v1/queue/demo/text/echo';

describe('an accepted submission', () => {
  test('is answered with the four fields in their order, and nothing else', async () => {
    const response = await service.submit('demo/text/echo', { prompt: 'hello' });
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const text = await response.text();
    const body = JSON.parse(text) as Record<string, string>;
    expect(Object.keys(body)).toEqual(['request_id', 'response_url', 'status_url', 'cancel_url']);
    const url = `${service.url}/v1/queue/requests/${body['request_id']}`;
    expect(body).toEqual({
      request_id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      response_url: url,
      status_url: `${url}/status`,
      cancel_url: `${url}/cancel`,
    });
    expect(response.headers.get('location')).toBe(body['status_url']);
  });

  test('is committed before it is answered', async () => {
    const id = await calls.submit('demo/text/echo', { prompt: 'kept' });
    const rows = await service.query(`SELECT input::text, model_id FROM request WHERE id = $1`, [id]);
    expect(rows).toEqual([{ input: '{"prompt":"kept"}', model_id: 'demo/text/echo' }]);
  });

  test('is stored exactly as it was sent, also among many concurrent ones', async () => {
    const bodies = Array.from({ length: 40 }, (_, i) => `\n {"number": ${i}.0, "place":"港"}\t`);
    const answers = await Promise.all(bodies.map((body) => send(echo, body)));
    const ids = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { request_id: string }).request_id),
    );
    const rows = await service.query(
      `SELECT input::text FROM unnest($1::uuid[]) WITH ORDINALITY AS sent (id, number) JOIN request USING (id) ORDER BY number`,
      [ids],
    );
    expect(rows.map(({ input }) => input)).toEqual(bodies);
  });

  test('gets an id of its own, with the time of its submission', async () => {
    const [{ from }] = (await service.query('SELECT now() AS "from"')) as [{ from: Date }];
    const ids = await calls.submitAll(20, 'demo/text/echo');
    expect(new Set(ids).size).toBe(20);
    // A node knows the database's clock by its last heartbeat, to some milliseconds.
    const outside = await service.query(
      `SELECT id, uuid_time(id) FROM unnest($1::uuid[]) AS id
       WHERE uuid_time(id) NOT BETWEEN $2::timestamptz - interval '1 second' AND now() + interval '1 second'`,
      [ids, from],
    );
    expect(outside).toEqual([]);
  });

  test.each([
    undefined,
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-8',
    'text/plain',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])('is read as JSON with any content type: %s', async (type) => {
    const headers = { ...keyHeader(service.key), ...(type !== undefined && { 'content-type': type }) };
    const response = await send(echo, new Uint8Array(Buffer.from('{"prompt":"é"}')), headers);
    expect(response.status).toBe(202);
    const { request_id: id } = (await response.json()) as { request_id: string };
    expect(await (await calls.response(id)).text()).toBe('{"prompt":"é"}');
  });

  test('may carry the query parameters that client libraries add', async () => {
    const response = await send(`${echo}?logs=true&webhook=https%3A%2F%2Fexample.org%2Fhook&logs=7`, '{}');
    expect(response.status).toBe(202);
  });
});

describe('a submission is refused, and leaves nothing behind,', () => {
  let before: number[];
  const counts = (): Promise<number[]> =>
    Promise.all(['request', 'request_event', 'idempotency_key'].map((table) => calls.count(table)));
  beforeAll(async () => {
    // Requests that were submitted before may still be writing their events.
    await until(async () => (await calls.count(`request WHERE state <> 'COMPLETED'`)) === 0);
    before = await counts();
  });
  afterEach(async () => expect(await counts()).toEqual(before));

  test('with a key that is missing, invalid, or not for it', async () => {
    const reader = await calls.newKey({ scopes: ['read', 'cancel'] });
    const limited = await calls.newKey({ models: ['demo/image/*'] });
    for (const [headers, code] of [
      [{}, 'missing_key'],
      [keyHeader('ns_unknown'), 'invalid_key'],
    ] as const) {
      const response = await send(echo, '{}', headers);
      expect(response.headers.get('www-authenticate')).toBe('Key');
      expect(await verdict(response)).toEqual([401, code]);
    }
    for (const key of [reader, limited]) {
      expect(await verdict(send(echo, '{}', keyHeader(key)))).toEqual([403, 'forbidden']);
    }
    const none = send('/v1/queue/no/such/model', '{}', keyHeader(limited));
    expect(await verdict(none)).toEqual([403, 'forbidden']);
  });

  test.each([
    '/v1/queue/no/such/model',
    '/v1/queue/demo',
    '/v1/queue/demo/text',
    '/v1/queue/demo/text/echo/more',
    '/v1/queue/demo%252Ftext%252Fecho',
    '/v1/queue/demo%2F%2Ftext%2Fecho',
    '/v1/queue/requests%2Fdemo',
    '/v1/queue/DEMO/text/echo',
    '/v1/queue/demo/text/echo%20',
    '/v1/queue/demo//text/echo',
    `/v1/queue/${'a/'.repeat(20)}b`,
    `/v1/queue/${'a'.repeat(300)}`,
    '/v1/queue/__proto__',
    '/v1/queue/constructor',
  ])('at %s, because the model does not exist', async (path) => {
    expect(await verdict(send(path, '{}'))).toEqual([404, 'unknown_model']);
  });

  test.each([
    ['demo/text/ecko', /^There is no model "demo\/text\/ecko" here, did you mean "demo\/text\/echo"\?$/],
    ['demo%2Ftext%2Fecko', /did you mean "demo\/text\/echo"/],
    ['demo/image/fractals', /did you mean "demo\/image\/fractal"/],
    ['acme/video/upscale', /^There is no model "acme\/video\/upscale" here\.$/],
  ])('at %s, and the error suggests the nearest model, if any', async (path, detail) => {
    const problem = await problemOf(await send(`/v1/queue/${path}`, '{}'));
    expect(problem).toMatchObject({ code: 'unknown_model', detail: expect.stringMatching(detail) });
    expect(problem.detail).not.toContain('models.yaml');
  });

  test('at an unknown model, without a suggestion of a model that the key may not use', async () => {
    const key = await calls.newKey({ models: ['demo/text/ech', 'demo/image/*'] });
    const problem = await problemOf(await send('/v1/queue/demo/text/ech', '{}', keyHeader(key)));
    const detail = 'There is no model "demo/text/ech" here.';
    expect(problem).toMatchObject({ code: 'unknown_model', detail });
  });

  test.each(['/v1/queue', '/v1/queue/requests/demo/text/echo'])(
    'at %s, because the path cannot be a model',
    async (path) => expect(await verdict(send(path, '{}'))).toEqual([404, 'not_found']),
  );

  test.each(['', ' ', '{', '{"a":}', "{'a':1}", 'a=b', '[]', '[{}]', 'null', '"text"', '1'])(
    'with the body %j, which is no JSON object',
    async (body) => expect(await verdict(send(echo, body))).toEqual([400, 'invalid_json']),
  );

  test('with an input that violates the schema of the model, and the errors name the paths', async () => {
    const response = await service.submit('demo/image/fractal', { prompt: '', width: 'wide', colour: 'red' });
    expect(response.status).toBe(422);
    const { code, errors } = await problemOf(response);
    expect(code).toBe('invalid_input');
    expect(errors!.map(({ path }) => path).sort()).toEqual(['/colour', '/prompt', '/width']);
    expect(errors).toEqual(Array(3).fill({ path: expect.any(String), message: expect.any(String) }));
  });

  test.each([
    ['a NUL', '{"prompt":"a\\u0000b"}', '/prompt'],
    ['a NUL in a name', '{"a\\u0000":1}', '/a\uFFFD'],
    ['half a surrogate pair', '{"a":["\\ud83d"]}', '/a/0'],
  ])('with text that PostgreSQL cannot hold: %s', async (_name, body, path) => {
    const response = await send(echo, body);
    expect(response.status).toBe(422);
    const errors = [{ path, message: expect.any(String) }];
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_input', errors });
  });

  test('with a body that is too large', async () => {
    expect(await verdict(send(echo, `{"a":"${'x'.repeat(100_000)}"}`))).toEqual([413, 'body_too_large']);
  });
});

test('a body of exactly the allowed size is accepted', async () => {
  const body = `{"a":"${'x'.repeat(100_000 - 8)}"}`;
  expect(body).toHaveLength(100_000);
  expect((await send(echo, body)).status).toBe(202);
});

test('a submission over the rate limit is refused with 403 rate_limited and a Retry-After', async () => {
  const headers = keyHeader(await calls.newKey({ rateLimitSubmit: '2/m' }));
  expect((await send(echo, '{}', headers)).headers.get('x-ratelimit-remaining')).toBe('1');
  expect((await send(echo, '{}', headers)).status).toBe(202);
  const refused = await send(echo, '{}', headers);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await verdict(refused)).toEqual([403, 'rate_limited']);
});
