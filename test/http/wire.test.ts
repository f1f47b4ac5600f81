import { createServer } from 'node:http';
import { connect } from 'node:net';
import { answerConnectionErrors } from '../../src/http/connection-errors.js';
import { expectRefusal, send, sendThenRead } from '../support/hostile-client.js';
import { type ProbeApp, startProbeApp } from '../support/http-probe-app.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp()));
afterAll(() => probe.app.close());

const head = 'POST /probe/body HTTP/1.1\r\nHost: a\r\nAuthorization: Key k\r\nConnection: close\r\n';

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
  Object.assign(server, { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 });
  answerConnectionErrors(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const half of ['GET / HTTP/1.1\r\nHost: a\r\n', `${head}Content-Length: 10\r\n\r\nhalf`]) {
    expectRefusal(await send({ app: { getHttpServer: () => server } }, half), 408, 'bad_request');
  }
  await new Promise((resolve) => server.close(resolve));
});

test('the service waits longer for the next request than common proxies do', () => {
  const server = probe.app.getHttpServer();
  expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
  expect(server.headersTimeout).toBeLessThanOrEqual(60_000);
  // A body may take any time, as long as its bytes arrive.
  expect(server.requestTimeout).toBe(0);
});

describe('a client that closes its connection, and reads nothing until it has sent all, reads why its body', () => {
  const large = Buffer.alloc(20_000_000, 'x');
  const chunks = `${large.length.toString(16)}\r\n${large.toString()}\r\n0\r\n\r\n`;
  const lengthField = `Content-Length: ${large.length}\r\n\r\n`;

  test('is refused by its length', async () => {
    expectRefusal(await sendThenRead(probe, head + lengthField, large), 413, 'body_too_large');
  });

  test('is refused as it comes', async () => {
    const answer = await sendThenRead(probe, `${head}Transfer-Encoding: chunked\r\n\r\n`, chunks);
    expectRefusal(answer, 413, 'body_too_large');
  });

  test('is not wanted at all', async () => {
    const anonymous = head.replace(/Authorization.*\r\n/, '');
    expectRefusal(await sendThenRead(probe, anonymous + lengthField, large), 401, 'missing_key');
  });
});

test('a client that is refused and sends no more is hung up on', async () => {
  expectRefusal(await send(probe, `${head}Content-Length: 20000000\r\n\r\nhalf`), 413, 'body_too_large');
  const kept = head.replace('Connection: close\r\n', '');
  expectRefusal(await send(probe, `${kept}Content-Length: 20000000\r\n\r\nhalf`), 413, 'body_too_large');
});

describe('Expect: 100-continue', () => {
  const expecting = `${head}Expect: 100-continue\r\n`;

  test('is met once the body is wanted', async () => {
    const answer = await send(probe, `${expecting}Content-Length: 2\r\n\r\n{}`);
    expect(answer).toMatchObject({ isContinued: true, status: 200 });
  });

  test('is not met for a body that is too large', async () => {
    const answer = await send(probe, `${expecting}Content-Length: 2000\r\n\r\n`);
    expectRefusal(answer, 413, 'body_too_large');
    expect(answer.isContinued).toBe(false);
  });
});
