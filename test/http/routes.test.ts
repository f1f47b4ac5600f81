import { startTestService, type TestService, until } from '../support/index.js';
import { expectRefusal, send } from '../support/hostile-client.js';
import { problemOf, unknownId } from '../support/queue-calls.js';

let service: TestService;
beforeAll(async () => (service = await startTestService({ config: { maxBodyBytes: 10_000 } })));
afterAll(() => service.stop());

async function submitted(): Promise<string> {
  const response = await service.submit('demo/text/echo', { prompt: 'hello' });
  const { response_url: url } = (await response.json()) as { response_url: string };
  await until(async () => (await service.get(url)).status === 200);
  return new URL(url).pathname;
}

test('a trailing slash makes no difference on any route', async () => {
  const path = await submitted();
  expect((await service.submit('demo/text/echo/', {})).status).toBe(202);
  for (const route of [`${path}/`, `${path}/status/`, `${path}/status/stream/`, '/health/live/', '/docs/']) {
    const response = await service.get(route);
    await response.text();
    expect([route, response.status]).toEqual([route, 200]);
  }
  expect((await service.put(`${path}/cancel/`)).status).toBe(400);
});

test('GET accepts the content type of JSON without a body, and PUT ignores any body', async () => {
  const path = await submitted();
  const headers = { 'content-type': 'application/json' };
  expect((await service.get(`${path}/status`, { headers })).status).toBe(200);
  for (const body of ['', '{"broken', '{}', 'x'.repeat(100_000)]) {
    expect((await service.put(`${path}/cancel`, { headers, body })).status).toBe(400);
  }
});

test('HEAD is answered at once without a body, even on the stream', async () => {
  const path = await submitted();
  for (const route of [path, `${path}/status`, `${path}/status/stream`, '/health/ready', '/openapi.json']) {
    const response = await fetch(new URL(route, service.url), { method: 'HEAD' });
    expect([route, response.status, await response.text()]).toEqual([route, 200, '']);
  }
});

test('a caller without a key is refused before the body is asked for', async () => {
  const answer = await send(
    service,
    'POST /v1/queue/demo/text/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n',
  );
  expectRefusal(answer, 401, 'missing_key');
  expect(answer.fields).toMatch(/^www-authenticate: Key\r?$/im);
  expect(answer).toMatchObject({
    isContinued: false,
    fields: expect.stringMatching(/^connection: close\r?$/im),
  });
});

const request = `/v1/queue/requests/${unknownId()}`;

const call = (method: string, path: string, withKey: boolean): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method,
    headers: withKey ? { authorization: `Key ${service.key}` } : {},
    ...(method === 'POST' ? { body: '{}' } : {}),
  });

test('paths are case-sensitive', async () => {
  const shouted = await call('POST', '/V1/queue/demo/text/echo', true);
  expect(await problemOf(shouted)).toMatchObject({ code: 'not_found', status: 404 });
  const answer = await service.get('/v1/queue/Requests/x');
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test('an id and a model with wrong percent-encoding are unknown', async () => {
  const status = await service.get('/v1/queue/requests/%F0%9F/status');
  expect(await problemOf(status)).toMatchObject({ code: 'unknown_request', status: 404 });
  const submission = await call('POST', '/v1/queue/demo/%zz', true);
  expect(await problemOf(submission)).toMatchObject({ code: 'unknown_model', status: 404 });
});

test.each([
  ['POST', `${request}/cancel`, 'PUT'],
  ['POST', `${request}/cancel/?a=1`, 'PUT'],
  ['GET', `${request}/cancel`, 'PUT'],
  ['PUT', request, 'DELETE, GET, HEAD'],
  ['POST', request, 'DELETE, GET, HEAD'],
  ['PUT', '/v1/queue/requests', 'GET, HEAD, POST'],
  ['DELETE', '/v1/queue/requests/', 'GET, HEAD, POST'],
  ['GET', '/v1/queue/requests/status', 'POST'],
  ['DELETE', '/v1/queue/requests/status', 'POST'],
  ['GET', '/v1/queue/requests/cancel', 'POST'],
  ['PUT', '/v1/queue/requests/cancel', 'POST'],
  ['GET', `${request}/retry`, 'POST'],
  ['PUT', `${request}/status`, 'GET, HEAD'],
  ['PATCH', `${request}/status/stream`, 'GET, HEAD'],
  ['POST', `${request}/output/stream`, 'GET, HEAD'],
  ['GET', '/v1/queue/demo/text/echo', 'POST'],
  ['PUT', '/v1/queue/demo%2Ftext%2Fecho', 'POST'],
  ['POST', '/health/ready', 'GET, HEAD'],
  ['POST', '/docs/errors', 'GET, HEAD'],
  ['DELETE', '/openapi.json', 'GET, HEAD'],
])('%s %s is refused, with and without a key; the path takes %s', async (method, path, allowed) => {
  for (const withKey of [true, false]) {
    const response = await call(method, path, withKey);
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    const { code, detail } = await problemOf(response);
    expect([code, detail]).toEqual([
      'method_not_allowed',
      expect.stringContaining(`takes ${allowed}, not ${method}`),
    ]);
  }
});

test.each([
  ['GET', '/v1/queue/requests//status'],
  ['POST', '/v1/queue/requests/batch/now'],
  ['PUT', '/v1/queue/requests//cancel'],
  ['POST', `${request}/cancel/now`],
  ['GET', `${request}/logs`],
  ['POST', '/v1/queue'],
])('%s %s, which is served under no method, is not_found', async (method, path) => {
  for (const withKey of [true, false]) {
    const response = await call(method, path, withKey);
    expect([response.status, response.headers.get('allow')]).toEqual([404, null]);
    expect((await problemOf(response)).code).toBe('not_found');
  }
});

test('OPTIONS of a request is answered with the methods of its path', async () => {
  const response = await call('OPTIONS', `${request}/cancel`, false);
  expect([response.status, response.headers.get('allow')]).toEqual([204, 'PUT']);
});
