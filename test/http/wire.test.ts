import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { answerConnectionErrors } from '../../src/http/connection-errors.js';
import { exchange, type ProbeApp, startProbeApp } from '../support/http-probe-app.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp()));
afterAll(() => probe.app.close());

const head = 'POST /probe/body HTTP/1.1\r\nHost: a\r\nAuthorization: Key k\r\nConnection: close\r\n';

function problemIn(answer: string): Record<string, unknown> {
  const [fields, body] = answer.split('\r\n\r\n');
  expect(fields).toMatch(/content-type: application\/problem\+json/i);
  expect(fields).toMatch(/x-request-id: \S+/i);
  return JSON.parse(body!) as Record<string, unknown>;
}

test.each([
  ['no request line at all', 'hello\r\n\r\n', 400],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['an unknown version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n', 400],
  ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n', 400],
  ['a control character in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n', 400],
  ['no host', 'GET /nowhere HTTP/1.1\r\n\r\n', 400],
  ['a huge header', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a huge target', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ['two different lengths', `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
  ['a length and chunks', `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ['a length that is no number', `${head}Content-Length: ten\r\n\r\n`, 400],
  ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
])('%s is refused as problem+json', async (_name, request, status) => {
  const answer = await probe.raw(request);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  if (_name !== 'no host') expect(problemIn(answer)).toMatchObject({ status });
});

test('broken chunks in a body are refused while the body is being read', async () => {
  const answer = await probe.raw(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nXYZ\r\n`);
  expect(problemIn(answer)).toMatchObject({ status: 400, code: 'bad_request' });
});

test('a client that leaves in the middle of its body does no harm', async () => {
  const { port } = new URL(probe.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${head}Content-Length: 100\r\n\r\nhalf`, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
  expect((await fetch(`${probe.url}/nowhere`)).status).toBe(404);
});

test('half a request is answered with 408 and hung up on', async () => {
  const server = createServer();
  Object.assign(server, {
    keepAliveTimeout: 100,
    headersTimeout: 100,
    requestTimeout: 200,
    connectionsCheckingInterval: 20,
  });
  answerConnectionErrors(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(problemIn(await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n'))).toMatchObject({ status: 408 });
  expect(problemIn(await exchange(port, `${head}Content-Length: 10\r\n\r\nhalf`))).toMatchObject({
    status: 408,
  });
  await new Promise((resolve) => server.close(resolve));
});

test('the service waits longer for the next request than common proxies do', () => {
  const server = probe.app.getHttpServer();
  expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
  expect(server.headersTimeout).toBeLessThanOrEqual(60_000);
  expect(server.requestTimeout).toBeGreaterThan(0);
});

describe('Expect: 100-continue', () => {
  const expecting = `${head}Expect: 100-continue\r\n`;

  test('is met once the body is wanted', async () => {
    const answer = await probe.raw(`${expecting}Content-Length: 2\r\n\r\n{}`);
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  test('is not met for a body that is too large', async () => {
    const answer = await probe.raw(`${expecting}Content-Length: 2000\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(problemIn(answer)).toMatchObject({ code: 'body_too_large' });
  });

  test('is not met for a caller without a key, who need not upload anything', async () => {
    const answer = await probe.raw(
      'POST /probe/body HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toMatch(/connection: close/i);
  });

  test('of another kind is ignored', async () => {
    const answer = await probe.raw(
      'GET /nowhere HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });
});
