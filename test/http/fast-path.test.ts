import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  request,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Config } from '../../src/config/config.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { Draining } from '../../src/http/draining.js';
import { FastPath } from '../../src/requests/fast-path.js';
import { startTestService, type TestService } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** The status of the listener behind the fast path: the call fell through. */
const fellThrough = 299;

const { service } = testQueue({
  models: { 'test/narrow': { concurrency: 1 }, 'test/roomy': { concurrency: 100 } },
  limits: '1000/m',
  config: { shutdownGraceMs: 0 },
});
let fast: Server;
let routed: Server;
let waiting: string;
let reader: string;

beforeAll(async () => {
  fast = await listening((_, response) => response.writeHead(fellThrough).end());
  service.app.get(FastPath).install(fast);
  routed = await listening(service.app.getHttpAdapter().getInstance() as RequestListener);
  await submit('{"hold":true}');
  waiting = await submit('{"n":1}');
  reader = (await service.app.get(KeysService).create({ name: 'reader', scopes: ['read'] })).reveal();
});

afterAll(async () => {
  for (const server of [fast, routed]) await new Promise((closed) => server.close(closed));
});

async function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function send(server: Server, { method = 'GET', path, headers = {}, body }: Call): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, method, path, agent: false });
  for (const [name, value] of Object.entries({ host: 'queue.example', ...headers }))
    sent.setHeader(name, value);
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function submit(body: string): Promise<string> {
  const answer = await service.submit('test/narrow', JSON.parse(body));
  return ((await answer.json()) as { request_id: string }).request_id;
}

const withKey = (): Record<string, string> => ({ authorization: `Key ${service.key}` });
const submission = (call: Partial<Call> = {}): Call => ({
  method: 'POST',
  path: '/v1/queue/test/narrow',
  headers: withKey(),
  body: '{"prompt":"a cat"}',
  ...call,
});
const submissionWith = (headers: Record<string, string>): Call =>
  submission({ headers: { ...withKey(), ...headers } });
const requestPath = (): string => `/v1/queue/requests/${waiting}`;
const status = (): string => `${requestPath()}/status`;

/** Replaces values that differ from call to call. */
function comparable({ status: code, headers, body }: Answer): object {
  const steady = (value: string): string =>
    value
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, 'ID')
      .replace(/"timestamp":"[^"]+"/g, '"timestamp":"T"')
      .replace(/"queue_position":\d+/g, '"queue_position":N');
  const changing = new Set(['date', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit']);
  const fields = Object.entries(headers).map(([name, value]) => [
    name,
    changing.has(name) ? 'present' : steady(String(value)),
  ]);
  return { code, fields: Object.fromEntries(fields), body: steady(body) };
}

const submissions: [name: string, call: () => Call][] = [
  ['a submission', () => submission()],
  ['a submission with a query', () => submission({ path: '/v1/queue/test/narrow?logs=1&webhook=x' })],
  ['a key with Bearer', () => submissionWith({ authorization: `Bearer ${service.key}` })],
  ['a model id whose slash is encoded', () => submission({ path: '/v1/queue/test%2Fnarrow' })],
  ['one encoded in small letters', () => submission({ path: '/v1/queue/test%2fn%61rrow/?a=1' })],
  ['an unknown model', () => submission({ path: '/v1/queue/test/none' })],
  ['a body that is no JSON', () => submission({ body: '{' })],
  ['a body that is no object', () => submission({ body: '[1]' })],
  ['no body', () => submission({ body: '' })],
  ['an Idempotency-Key that is none', () => submissionWith({ 'idempotency-key': ' ' })],
  ['a submission that its key does not allow', () => submissionWith({ authorization: `Key ${reader}` })],
  ['a submission without a key', () => submission({ headers: {} })],
  ['a submission with a wrong key', () => submissionWith({ authorization: 'Key wrong' })],
  ['an encoding that is unknown', () => submissionWith({ 'content-encoding': 'zip' })],
];

const statuses: typeof submissions = [
  ['a status', () => ({ path: status(), headers: withKey() })],
  ['a status without a key', () => ({ path: status() })],
  ['a status with a wrong key', () => ({ path: status(), headers: { authorization: 'Key wrong' } })],
  ['a status with logs', () => ({ path: `${status()}?logs=1`, headers: withKey() })],
  ['a status with logs=0', () => ({ path: `${status()}?logs=0`, headers: withKey() })],
  ['a status with logs of no meaning', () => ({ path: `${status()}?logs=maybe`, headers: withKey() })],
  ['a status of nothing', () => ({ path: status().replace(/-7/, '-4'), headers: withKey() })],
];

async function expectSame(call: Call): Promise<void> {
  const sent = { ...call, headers: { ...call.headers, 'x-request-id': 'the-same' } };
  const quick = await send(fast, sent);
  expect(quick.status).not.toBe(fellThrough);
  expect(comparable(quick)).toEqual(comparable(await send(routed, sent)));
}

test.each([...submissions, ...statuses])('%s is answered as by the controller', (_, call) =>
  expectSame(call()),
);

test.each(submissions)('%s for a model with room is answered as by the controller', (_, call) =>
  expectSame({ ...call(), path: call().path.replace('test/narrow', 'test/roomy') }),
);

test('a repeated Idempotency-Key is answered with the same request', async () => {
  const repeated = submissionWith({ 'idempotency-key': 'twice' });
  const first = await send(fast, repeated);
  const second = await send(routed, repeated);
  const third = await send(fast, repeated);
  expect(third.headers['idempotent-replayed']).toBe('true');
  expect([second.body, third.body]).toEqual([first.body, first.body]);
});

const fallingThrough: typeof submissions = [
  ['a path that is not encoded right', () => submission({ path: '/v1/queue/test%2' })],
  ['a path in other letters', () => submission({ path: '/V1/queue/test/narrow' })],
  ['a submission to the place of requests', () => submission({ path: '/v1/queue/requests/x/status' })],
  ['a body that waits to be asked for', () => submissionWith({ expect: '100-continue' })],
  ['a status with another query', () => ({ path: `${status()}?webhook=x`, headers: withKey() })],
  ['HEAD', () => ({ method: 'HEAD', path: status(), headers: withKey() })],
  ['a cancellation', () => ({ method: 'PUT', path: `${requestPath()}/cancel`, headers: withKey() })],
  ['a response', () => ({ path: requestPath(), headers: withKey() })],
  ['anything else', () => ({ path: '/health/live' })],
];

test.each(fallingThrough)('%s falls through to the routes of Express', async (_, call) => {
  expect((await send(fast, call())).status).toBe(fellThrough);
});

describe('another service', () => {
  const opened: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function start(config: Partial<Config> = {}): Promise<{ other: TestService; server: Server }> {
    const other = await startTestService({ config });
    opened.push(() => other.stop());
    const server = await listening((_, response) => response.writeHead(fellThrough).end());
    opened.push(() => new Promise((closed) => server.close(closed)));
    other.app.get(FastPath).install(server);
    return { other, server };
  }
  const submissionTo = ({ key }: TestService): Call =>
    submission({ path: '/v1/queue/demo/text/echo', headers: { authorization: `Key ${key}` } });

  test.each<[string, Partial<Config>, string]>([
    ['with CORS', { corsOrigins: ['https://app.example'] }, 'http://queue.example'],
    ['behind a proxy that names the host', { trustProxy: true }, 'https://models.example'],
    [
      'whose name is known',
      { trustProxy: true, publicBaseUrl: 'https://a.example/b' },
      'https://a.example/b',
    ],
  ])('%s is served by its fast path too', async (_, config, base) => {
    const { other, server } = await start(config);
    const call = submissionTo(other);
    const asked = { ...call.headers, 'x-forwarded-host': 'models.example', 'x-forwarded-proto': 'https' };
    const { status, headers, body } = await send(server, {
      ...call,
      headers: { ...asked, origin: 'https://app.example' },
    });
    expect(status).toBe(202);
    expect(headers['access-control-allow-origin']).toBe(config.corsOrigins?.[0]);
    const { status_url: url } = JSON.parse(body) as { status_url: string };
    expect(url).toContain(`${base}/v1/queue/requests/`);
  });

  test('that stops leaves all calls to Express', async () => {
    const { other, server } = await start();
    expect((await send(server, submissionTo(other))).status).toBe(202);
    other.app.get(Draining).begin();
    expect((await send(server, submissionTo(other))).status).toBe(fellThrough);
  });
});
