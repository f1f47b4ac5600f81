import { parseRateLimits } from '../../src/config/parsers.js';
import { keyHeader, unknownId, verdict } from '../support/queue-calls.js';
import { messagesOf, readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  config: {
    adapters: ['fal'],
    rateLimitSubmit: parseRateLimits('100/s'),
    corsOrigins: ['https://app.example'],
  },
  models: {
    'acme/slow/text': { concurrency: 1 },
    'acme/hasty': { concurrency: 1, expires: '200ms' },
    'acme/flaky': { timeout: '300ms' },
    'workflows/acme/pipeline/v2': {},
  },
});

interface Queued {
  request_id: string;
  status_url: string;
  response_url: string;
  cancel_url: string;
  queue_position: number;
}

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/fal/${path}`, {
    method: 'POST',
    headers: { ...keyHeader(service.key), ...headers },
    body: JSON.stringify(body),
  });

async function submitted(path: string, body: object = {}, headers?: Record<string, string>): Promise<Queued> {
  const answer = await post(path, body, headers);
  const queued = (await answer.json()) as Queued;
  expect([answer.status, answer.headers.get('x-fal-request-id')]).toEqual([200, queued.request_id]);
  return queued;
}

/** Returns status and body. */
async function answered(answer: Response | Promise<Response>): Promise<[number, Record<string, unknown>]> {
  const { status, headers } = await answer;
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  return [status, (await (await answer).json()) as Record<string, unknown>];
}

const completed = ({ status_url: url }: Queued): Promise<Record<string, unknown>> =>
  until(async () => {
    const [status, body] = await answered(service.get(url));
    return status === 200 && body;
  });

/** Occupies the only slot of `acme/slow/text` until the returned function is called. */
async function busy(): Promise<() => Promise<void>> {
  const queued = await submitted('acme/slow/text', { hold: true });
  await model.arrived(queued.request_id);
  return async () => {
    await model.answer(queued.request_id);
    await completed(queued);
  };
}

test('the URLs of a submission have owner and alias, and work with a slash at the end', async () => {
  const end = await busy();
  const queued = await submitted('acme/slow/text/?fal_unheard_of=1');
  const url = `${service.url}/fal/acme/slow/requests/${queued.request_id}`;
  expect(queued).toEqual({
    status: 'IN_QUEUE',
    request_id: queued.request_id,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
    queue_position: 0,
  });
  expect(await answered(service.get(`${url}/status/?logs=true`))).toEqual([202, queued]);
  await end();
  await completed(queued);
  const result = { done: queued.request_id, attempt: 1 };
  for (const form of [url, `${url}/`, `${url}/response`]) {
    const answer = await service.get(form);
    expect(answer.headers.get('x-fal-request-id')).toBe(queued.request_id);
    expect(await answered(answer)).toEqual([200, result]);
  }
});

test('the URLs of a model in a namespace contain the namespace', async () => {
  const queued = await submitted('workflows/acme/pipeline/v2');
  expect(queued.status_url).toContain('/fal/workflows/acme/pipeline/requests/');
  await completed(queued);
});

test('a status always has the member logs, and is 202 until the request has completed', async () => {
  const queued = await submitted('acme/slow/text', { hold: true });
  const { request_id: id, status_url: url } = queued;
  await model.say(id, [{ type: 'log', message: 'begun' }]);
  const [, running] = await until(async () => {
    const seen = await answered(service.get(`${url}?logs=true`));
    return (seen[1]['logs'] as unknown[] | undefined)?.length === 1 && seen;
  });
  expect(running).toMatchObject({
    status: 'IN_PROGRESS',
    logs: [{ message: 'begun', level: 'INFO', source: 'USER' }],
  });
  expect(await answered(service.get(`${url}?logs=false`))).toEqual([202, { ...running, logs: null }]);
  await model.say(id, [{ type: 'output', output: 1 }]);
  const end = await completed(queued);
  expect(end).toEqual({ ...running, status: 'COMPLETED', logs: null, metrics: expect.any(Object) });
  expect(end['metrics']).toEqual({ queue_time: expect.any(Number), inference_time: expect.any(Number) });
});

test('a stream has each log entry once, ends with COMPLETED, and closes', async () => {
  const { request_id: id, status_url: url } = await submitted('acme/slow/text', { hold: true });
  const stream = await readStream(`${url}/stream?logs=1`, { accept: 'application/json, text/event-stream' });
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'x-fal-request-id': id,
  });
  for (const message of ['one', 'two']) {
    await model.say(id, [{ type: 'log', message }]);
    await until(() => stream.logs().includes(message));
  }
  await model.say(id, [{ type: 'output', output: 1 }]);
  await stream.ended;
  expect(messagesOf(stream.events)).toEqual(['one', 'two']);
  expect(stream.statuses().at(-1)).toBe('COMPLETED');
});

test.each([
  ['a failure', 'acme/slow/text', { status: 500 }, 500, 'runner_server_error'],
  ['a run without an answer', 'acme/slow/text', { drop: true }, 503, 'runner_connection_error'],
  ['a run that takes too long', 'acme/flaky', { hold: true }, 504, 'request_timeout'],
])('%s of %s is reported as an error by the status and the result', async (_, path, input, status, type) => {
  const queued = await submitted(path, input);
  const { error } = await completed(queued);
  expect(await completed(queued)).toMatchObject({ error: expect.any(String), error_type: type, logs: null });
  const answer = await service.get(queued.response_url);
  expect(answer.headers.get('x-fal-error-type')).toBe(type);
  expect(answer.headers.get('x-fal-request-id')).toBe(queued.request_id);
  expect(await answered(answer)).toEqual([status, { detail: error, error_type: type }]);
});

test("a model's refusal is passed on as the model wrote it, with a detail", async () => {
  const refusal = async (body: string): Promise<unknown> => {
    const queued = await submitted('acme/slow/text', { status: 400, body });
    expect(await completed(queued)).toMatchObject({ error_type: 'bad_request' });
    return answered(service.get(queued.response_url));
  };
  expect(await refusal('{"detail":"no cats","code":7}')).toEqual([400, { detail: 'no cats', code: 7 }]);
  expect(await refusal('{"code":7}')).toEqual([400, { detail: 'The model answered 400.', code: 7 }]);
  expect(await refusal('"no cats"')).toEqual([400, { detail: 'no cats' }]);
  expect(await refusal('7')).toEqual([400, { detail: 'The model answered 400.' }]);
});

test("only a start timeout of the caller is reported as the user's, not an expiry of the model", async () => {
  const end = await busy();
  const typeOf = async (path: string, headers: Record<string, string>): Promise<unknown> => {
    const queued = await submitted(path, {}, headers);
    expect(await completed(queued)).toMatchObject({ error_type: 'startup_timeout' });
    const answer = await service.get(queued.response_url);
    return [answer.status, answer.headers.get('x-fal-request-timeout-type')];
  };
  expect(await typeOf('acme/slow/text', { 'x-fal-request-start-timeout': '0.1' })).toEqual([504, 'user']);
  const hasty = await submitted('acme/hasty', { hold: true });
  await model.arrived(hasty.request_id);
  expect(await typeOf('acme/hasty', { 'x-fal-request-timeout': '3600.0' })).toEqual([504, null]);
  await model.answer(hasty.request_id);
  await end();
});

test('a submission to a queue that is longer than fal_max_queue_length is answered 429', async () => {
  const end = await busy();
  const waiting = [await submitted('acme/slow/text?fal_max_queue_length=0')];
  const full = await post('acme/slow/text?fal_max_queue_length=0', {});
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answered(full)).toEqual([429, { detail: expect.any(String), error_type: 'queue_full' }]);
  waiting.push(await submitted('acme/slow/text?fal_max_queue_length=1'));
  await end();
  await Promise.all(waiting.map(completed));
});

test.each<[string, string, Record<string, string>, string]>([
  ['a priority', '', { 'x-fal-queue-priority': 'urgent' }, 'normal or low'],
  ['a timeout', '', { 'x-fal-request-timeout': 'soon' }, 'takes seconds'],
  ['a queue length', '?fal_max_queue_length=few', {}, 'a whole number'],
  ['an option', '?prioritty=low', {}, '"prioritty"'],
])('%s that cannot be read is refused', async (_, query, headers, reason) => {
  expect(await answered(post(`acme/slow/text${query}`, {}, headers))).toEqual([
    400,
    { detail: expect.stringContaining(reason), error_type: 'bad_request' },
  ]);
});

test('valid tags are stored, and others are dropped', async () => {
  const queued = await submitted(
    'acme/slow/text?timeout=5s',
    {},
    { 'x-fal-tags': 'team=blue, note=two words,job=17' },
  );
  await completed(queued);
  expect(await calls.status(queued.request_id)).toMatchObject({ tags: ['team:blue', 'job:17'] });
});

test('an unknown request is NOT_FOUND on every route', async () => {
  const path = `/fal/acme/slow/requests/${unknownId()}`;
  const notFound = [404, { status: 'NOT_FOUND', detail: expect.any(String) }];
  for (const call of [path, `${path}/status`, `${path}/status/stream`, '/fal/acme/slow/requests/none%0A']) {
    expect(await answered(service.get(call))).toEqual(notFound);
  }
  expect(await answered(service.put(`${path}/cancel`))).toEqual(notFound);
});

test('a cancellation that is repeated is answered like the first', async () => {
  const end = await busy();
  const { cancel_url: url } = await submitted('acme/slow/text');
  const headers = { 'content-type': 'application/json' };
  for (const _ of [1, 2]) {
    expect(await answered(service.put(url, { headers }))).toEqual([
      202,
      { status: 'CANCELLATION_REQUESTED' },
    ]);
  }
  await end();
});

test.each(['Key', 'Bearer'])('a key may be sent as %s', async (scheme) => {
  const headers = { authorization: `${scheme} ${await calls.newKey()}` };
  await completed(await submitted('acme/slow/text', {}, headers));
});

test('polls every 100 ms are within the shipped limits', async () => {
  const queued = await submitted('acme/slow/text', { hold: true });
  const polls = await Promise.all(
    Array.from({ length: 60 }, () => service.get(queued.status_url, { headers: keyHeader(service.key) })),
  );
  expect(new Set(polls.map(({ status }) => status))).toEqual(new Set([202]));
  for (const { limit, windowMs } of service.config.rateLimitOther)
    expect(limit / windowMs).toBeGreaterThan(1 / 100);
  await model.answer(queued.request_id);
});

test('a call over a limit is answered 429 with Retry-After', async () => {
  const headers = keyHeader(await calls.newKey({ rateLimitSubmit: '1/h' }));
  await submitted('acme/slow/text', {}, headers);
  const refused = await post('acme/slow/text', {}, headers);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answered(refused)).toEqual([429, { detail: expect.any(String), error_type: 'rate_limited' }]);
});

test('browsers may send and read the header fields of fal', async () => {
  const path = `${service.url}/fal/acme/slow/text`;
  const origin = 'https://app.example';
  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-fal-queue-priority',
  };
  const preflight = await fetch(path, { method: 'OPTIONS', headers: { origin, ...asked } });
  expect(preflight.headers.get('access-control-allow-headers')).toContain('X-Fal-Queue-Priority');
  const { headers } = await post('acme/slow/text', {}, { origin });
  expect(headers.get('access-control-expose-headers')).toContain('X-Fal-Request-Id');
});

describe('without the adapter', () => {
  const { service: plain } = testQueue();

  test('nothing of it is served', async () => {
    expect(await verdict(plain.get('/fal/demo/text/requests/1/status'))).toEqual([404, 'not_found']);
    const submission = fetch(`${plain.url}/fal/demo/text/echo`, { method: 'POST', body: '{}' });
    expect(await verdict(submission)).toEqual([404, 'not_found']);
  });
});
