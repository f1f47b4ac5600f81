import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { answerConnectionErrors } from '../../src/http/connection-errors.js';
import { expectRefusal, send, sendThenRead } from '../support/hostile-client.js';
import { type ProbeApp, startProbeApp } from '../support/http-probe-app.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp()));
afterAll(() => probe.app.close());

const head = 'POST /probe/body HTTP/1.1\r\nHost: a\r\nAuthorization: Key k\r\nConnection: close\r\n';

test('the service continues after a client disconnects in the middle of its body', async () => {
  const { port } = new URL(probe.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${head}Content-Length: 100\r\n\r\nhalf`, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
  expect((await fetch(`${probe.url}/nowhere`)).status).toBe(404);
});

test('half a request is answered with 408, and its connection is closed', async () => {
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
  // Caddy keeps idle connections for 120 s, Traefik for 90 s, nginx and ALB for 60 s.
  expect(server.keepAliveTimeout).toBeGreaterThan(120_000);
  expect(server.headersTimeout).toBeLessThanOrEqual(60_000);
  // A body may take any time, as long as its bytes arrive.
  expect(server.requestTimeout).toBe(0);
});

test('a keep-alive connection may be idle for longer than the header timeout', async () => {
  const other = await startProbeApp({ keepAliveTimeoutMs: 600_000 });
  const server = other.app.getHttpServer();
  expect(server.keepAliveTimeout).toBe(600_000);
  // How often connections are checked is set when the server begins to listen.
  await new Promise((closed) => server.close(closed));
  Object.assign(server, { connectionsCheckingInterval: 10 });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (): Promise<Socket> => {
    const sent = request({ port, path: '/nowhere', agent }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return sent.socket!;
  };
  const socket = await call();
  const { headersTimeout } = server;
  server.headersTimeout = 40;
  // Another connection, whose head never comes, shows that the time is over.
  expectRefusal(await send(other, 'GET / HTTP/1.1\r\nHost: a\r\n'), 408, 'bad_request');
  expectRefusal(await send(other, 'GET / HTTP/1.1\r\nHost: a\r\n'), 408, 'bad_request');
  // The whole head of the next call may take this process longer than that.
  server.headersTimeout = headersTimeout;
  expect(await call()).toBe(socket);
  agent.destroy();
  await other.app.close();
});

describe('a client that reads only after it has sent its whole body still gets the refusal', () => {
  const large = Buffer.alloc(20_000_000, 'x');
  const chunks = `${large.length.toString(16)}\r\n${large.toString()}\r\n0\r\n\r\n`;
  const lengthField = `Content-Length: ${large.length}\r\n\r\n`;

  test('of a body with a large Content-Length', async () => {
    expectRefusal(await sendThenRead(probe, head + lengthField, large), 413, 'body_too_large');
  });

  test('of a large body in chunks', async () => {
    const answer = await sendThenRead(probe, `${head}Transfer-Encoding: chunked\r\n\r\n`, chunks);
    expectRefusal(answer, 413, 'body_too_large');
  });

  test('of a call without a key', async () => {
    const anonymous = head.replace(/Authorization.*\r\n/, '');
    expectRefusal(await sendThenRead(probe, anonymous + lengthField, large), 401, 'missing_key');
  });
});

test('the connection of a refused client that sends no more is closed', async () => {
  const kept = head.replace('Connection: close\r\n', '');
  const sent = [head, kept].map((one) => send(probe, `${one}Content-Length: 20000000\r\n\r\nhalf`));
  for (const answer of await Promise.all(sent)) expectRefusal(answer, 413, 'body_too_large');
});

describe('Expect: 100-continue', () => {
  const expecting = `${head}Expect: 100-continue\r\n`;

  test('is answered with 100 once the body is needed', async () => {
    const answer = await send(probe, `${expecting}Content-Length: 2\r\n\r\n{}`);
    expect(answer).toMatchObject({ isContinued: true, status: 200 });
  });

  test('is not answered with 100 for a body that is too large', async () => {
    const answer = await send(probe, `${expecting}Content-Length: 2000\r\n\r\n`);
    expectRefusal(answer, 413, 'body_too_large');
    expect(answer.isContinued).toBe(false);
  });
});
