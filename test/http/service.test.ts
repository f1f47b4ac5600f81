import type { AddressInfo } from 'node:net';
import { startTestService, type TestService, until } from '../support/index.js';
import { exchange } from '../support/http-probe-app.js';

let service: TestService;
beforeAll(async () => (service = await startTestService({ config: { maxBodyBytes: 10_000 } })));
afterAll(() => service.stop());

const unknown = '/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

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

test('GET and PUT work with the content type of JSON and whatever body', async () => {
  const path = await submitted();
  const headers = { 'content-type': 'application/json' };
  expect((await service.get(`${path}/status`, { headers })).status).toBe(200);
  for (const body of ['', '{"broken', '{}']) {
    expect((await service.put(`${path}/cancel`, { headers, body })).status).toBe(400);
  }
});

test('every route answers another method with those it takes', async () => {
  for (const [method, path, allowed] of [
    ['GET', '/v1/queue/demo/text/echo', 'POST'],
    ['DELETE', unknown, 'GET, HEAD'],
    ['GET', `${unknown}/cancel`, 'PUT'],
    ['PATCH', `${unknown}/status/stream`, 'GET, HEAD'],
    ['POST', '/health/live', 'GET, HEAD'],
  ] as const) {
    const response = await fetch(new URL(path, service.url), { method });
    expect([method, path, response.status, response.headers.get('allow')]).toEqual([
      method,
      path,
      405,
      allowed,
    ]);
  }
});

test('HEAD answers at once with the fields of GET, on the stream too', async () => {
  const path = await submitted();
  for (const route of [path, `${path}/status`, `${path}/status/stream`, '/health/ready', '/openapi.json']) {
    const response = await fetch(new URL(route, service.url), { method: 'HEAD' });
    expect([route, response.status, await response.text()]).toEqual([route, 200, '']);
  }
});

test('the API description is served as it was committed', async () => {
  const response = await service.get('/openapi.json');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await response.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
});

test('a body that is too large is refused before anything is stored', async () => {
  const response = await service.submit('demo/text/echo', { prompt: 'x'.repeat(10_000) });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: 'body_too_large' });
});

test('a caller without a key is refused before the body is read', async () => {
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  const answer = await exchange(
    port,
    'POST /v1/queue/demo/text/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n' +
      'Expect: 100-continue\r\nContent-Length: 9000\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(answer).toContain('"code":"missing_key"');
});
