import { startTestService, type TestService } from '../support/index.js';
import { problemOf, unknownId } from '../support/queue-calls.js';

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

const request = `/v1/queue/requests/${unknownId()}`;

const call = (method: string, path: string, withKey: boolean): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method,
    headers: withKey ? { authorization: `Key ${service.key}` } : {},
    ...(method === 'POST' ? { body: '{}' } : {}),
  });

test.each([
  ['POST', `${request}/cancel`, 'PUT'],
  ['POST', `${request}/cancel/?a=1`, 'PUT'],
  ['GET', `${request}/cancel`, 'PUT'],
  ['DELETE', request, 'GET, HEAD'],
  ['POST', request, 'GET, HEAD'],
  ['PUT', `${request}/status`, 'GET, HEAD'],
  ['POST', `${request}/status/stream`, 'GET, HEAD'],
  ['GET', '/v1/queue/demo/text/echo', 'POST'],
  ['PUT', '/v1/queue/demo%2Ftext%2Fecho', 'POST'],
  ['POST', '/health/ready', 'GET, HEAD'],
  ['POST', '/docs/errors', 'GET, HEAD'],
  ['DELETE', '/openapi.json', 'GET, HEAD'],
])('%s %s is told, with and without a key, that the path takes %s', async (method, path, allowed) => {
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
  ['GET', '/v1/queue/requests'],
  ['POST', '/v1/queue/requests'],
  ['GET', '/v1/queue/requests//status'],
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
