import { once } from 'node:events';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Allowances } from '../../src/allowances/allowances.js';
import { HttpConnections } from '../../src/http/http-connections.js';
import { LongPolls } from '../../src/requests/long-polls.js';
import { StatusSources } from '../../src/queue/reads/status-sources.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, type Status, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/model': { concurrency: 300 }, 'test/narrow': { concurrency: 1 } },
  limits: '10000/s',
});
let longPolls: LongPolls;
let sources: StatusSources;
let routed: Server;

beforeAll(async () => {
  longPolls = service.app.get(LongPolls);
  sources = service.app.get(StatusSources);
  routed = createServer(service.app.getHttpAdapter().getInstance() as RequestListener);
  service.app.get(HttpConnections).install(routed);
  await once(routed.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  routed.closeAllConnections();
  routed.close();
});
afterEach(() => until(() => longPolls.size === 0 && sources.size === 0, { message: 'nothing is held' }));

const preferring = (prefer: string): RequestInit => ({ headers: { prefer } });
const applied = (response: Response): string | null => response.headers.get('preference-applied');
const isHeld = (count = 1): Promise<true> =>
  until(() => longPolls.size === count, { explain: () => longPolls.size });

describe.each([
  ['the fast path', () => service.url],
  ['the routes', () => `http://127.0.0.1:${(routed.address() as AddressInfo).port}`],
])('by %s', (_, base) => {
  const submit = (input: object, prefer: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${base()}/v1/queue/test/model`, {
      method: 'POST',
      headers: { ...keyHeader(service.key), prefer, ...headers },
      body: JSON.stringify(input),
    });
  const get = (path: string, prefer: string): Promise<Response> => fetch(base() + path, preferring(prefer));

  test('a submission that completes in time is answered with its status and the unchanged output', async () => {
    const output = '{"big":12345678901234567890, "e":1.0e2,"a":"\\u00e9"}';
    const response = await submit({ body: output }, 'wait=20');
    expect([response.status, applied(response)]).toEqual([200, 'wait=20']);
    const text = await response.text();
    expect(text.endsWith(`,"response":${output}}`)).toBe(true);
    const { response: _, ...status } = JSON.parse(text) as Status & { response: unknown };
    expect(status).toEqual(await calls.status(status.request_id).then(({ ...all }) => urlsOf(base(), all)));
    expect(response.headers.get('location')).toBe(status.status_url);
  });

  test('a submission that fails is answered with its status, without an output', async () => {
    const response = await submit({ status: 418, body: '{"reason":"a pot"}' }, 'wait=20');
    expect([response.status, applied(response)]).toEqual([200, 'wait=20']);
    const status = (await response.json()) as Status;
    expect(status).toMatchObject({ status: 'COMPLETED', success: false, error: { code: 'model_error' } });
    expect(status).not.toHaveProperty('response');
  });

  test('a submission that does not complete in time is answered 202, and its request continues', async () => {
    const response = await submit({ hold: true }, 'wait=1');
    expect([response.status, applied(response)]).toEqual([202, 'wait=1']);
    const queued = (await response.json()) as Status;
    const members = ['request_id', 'response_url', 'status_url', 'cancel_url'];
    expect(Object.keys(queued)).toEqual(members);
    await model.answer(queued.request_id);
    expect((await calls.reached(queued.request_id, 'COMPLETED')).success).toBe(true);
  });

  test('a repeated submission waits for the request of the first, with or without Prefer', async () => {
    const key = { 'idempotency-key': `twice-${base()}` };
    const first = submit({ hold: true }, 'wait=20', key);
    await isHeld();
    const second = submit({ hold: true }, 'wait=30', key);
    await isHeld(2);
    expect(sources.size).toBe(1);
    const third = await submit({ hold: true }, 'respond-async', key);
    expect([third.status, third.headers.get('idempotent-replayed'), applied(third)]).toEqual([
      202,
      'true',
      null,
    ]);
    const { request_id: id } = (await third.json()) as Status;
    await model.answer(id, '"once"');
    const [one, two] = await Promise.all([first, second]);
    expect([one.status, one.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect([two.status, two.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await two.text()).toBe(await one.text());
  });

  test('status and response wait until the request has completed', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const status = get(`${calls.path(id)}/status?logs=1`, 'wait=20');
    const response = get(calls.path(id), 'respond-async, wait=99');
    await isHeld(2);
    await model.answer(id, '{"n":1.50}');
    expect([(await status).status, applied(await status)]).toEqual([200, 'wait=20']);
    expect(await (await status).json()).toMatchObject({ status: 'COMPLETED', success: true, logs: [] });
    expect([(await response).status, applied(await response)]).toEqual([200, 'wait=60']);
    expect(await (await response).text()).toBe('{"n":1.50}');
  });

  test('a request that does not complete in time is answered with its current state', async () => {
    const [running, waiting] = await calls.submitAll(2, 'test/narrow', { hold: true });
    await model.arrived(running!);
    const answers = [
      `${calls.path(running!)}/status`,
      `${calls.path(waiting!)}/status`,
      calls.path(running!),
    ];
    const [one, two, three] = await Promise.all(answers.map((path) => get(path, 'wait=1')));
    expect([one, two, three].map((answer) => applied(answer!))).toEqual(Array(3).fill('wait=1'));
    expect(await one!.json()).toMatchObject({ status: 'IN_PROGRESS' });
    expect(two!.headers.get('retry-after')).toBe('1');
    expect(await two!.json()).toMatchObject({ status: 'IN_QUEUE', queue_position: 0, reason: 'busy' });
    expect(three!.headers.get('retry-after')).toBe('1');
    expect(await verdict(three!)).toEqual([400, 'not_completed']);
    await model.answer(running!);
    await model.answer(waiting!);
  });

  test('completed and unknown requests are answered at once', async () => {
    const id = await calls.run('test/model', { body: '[1]' });
    const status = await get(`${calls.path(id)}/status`, 'wait=60');
    expect([status.status, applied(status)]).toEqual([200, 'wait=60']);
    const response = await get(calls.path(id), 'wait=60');
    expect([await response.text(), applied(response)]).toEqual(['[1]', 'wait=60']);
    // Without a number the wait is the longest that is allowed.
    expect(applied(await get(calls.path(id), 'wait'))).toBe('wait=60');
    const unknown = await get(calls.path(unknownId()), 'wait=60');
    expect(applied(unknown)).toBeNull();
    expect((await problemOf(unknown)).code).toBe('unknown_request');
  });

  test('a malformed, empty or different preference is ignored', async () => {
    const id = await calls.submit('test/model', { hold: true });
    for (const prefer of ['wait=0', 'wait=-1', 'wait=1.5', 'wait=x, wait=5', 'respond-async', '"', ';=,']) {
      for (const path of [`${calls.path(id)}/status`, calls.path(id)]) {
        const response = await get(path, prefer);
        await response.text();
        expect([prefer, response.status, applied(response)]).toEqual([
          prefer,
          path.endsWith('status') ? 200 : 400,
          null,
        ]);
      }
      const submitted = await submit({ status: 400 }, prefer);
      expect([prefer, submitted.status, applied(submitted)]).toEqual([prefer, 202, null]);
      await submitted.text();
    }
    await model.answer(id);
  });

  test('of several fields and many words the first wait counts', async () => {
    const id = await calls.run('test/model');
    const sent = request(`${base()}${calls.path(id)}/status`, { agent: false });
    sent.setHeader('Prefer', ['handling=lenient; note="a, wait=3"', 'WAIT = "7"; x=y', 'wait=9']).end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.headers['preference-applied']).toBe('wait=7');
  });

  test('a cancellation ends the wait', async () => {
    const [running, waiting] = await calls.submitAll(2, 'test/narrow', { hold: true });
    const status = get(`${calls.path(waiting!)}/status`, 'wait=20');
    const response = get(calls.path(waiting!), 'wait=20');
    await isHeld(2);
    expect((await calls.cancel(waiting!)).status).toBe(200);
    expect(await (await status).json()).toMatchObject({ status: 'COMPLETED', success: false });
    expect(await verdict(response)).toEqual([499, 'cancelled']);
    await model.answer(running!);
  });

  test('a call beyond its caller’s allowance is refused, and submits no request', async () => {
    const { streams } = service.app.get(Allowances).bounds;
    const shipped = streams.caller;
    const id = await calls.submit('test/model', { hold: true });
    const first = get(`${calls.path(id)}/status`, 'wait=20');
    await isHeld();
    streams.caller = 1;
    try {
      expect(await verdict(get(`${calls.path(id)}/status`, 'wait=20'))).toEqual([429, 'caller_busy']);
      const [{ count }] = (await service.query('SELECT count(*) FROM request')) as [{ count: string }];
      expect(await verdict(submit({ hold: true }, 'wait=20'))).toEqual([429, 'caller_busy']);
      expect(await service.query('SELECT count(*) FROM request')).toEqual([{ count }]);
      expect((await service.get(`${calls.path(id)}/status`)).status).toBe(200);
      await model.answer(id);
      expect(applied(await first)).toBe('wait=20');
    } finally {
      streams.caller = shipped;
    }
  });
});

test('two hundred calls for one request share one source, and each is answered', async () => {
  const id = await calls.submit('test/model', { hold: true });
  const answers = Array.from({ length: 200 }, (_, i) =>
    service.get(`${calls.path(id)}${i % 2 === 0 ? '/status' : ''}`, preferring('wait=30')),
  );
  await isHeld(200);
  expect(sources.size).toBe(1);
  await model.answer(id, '"all"');
  const bodies = await Promise.all(answers.map(async (answer) => (await answer).text()));
  expect(bodies.filter((body) => body === '"all"')).toHaveLength(100);
  expect(bodies.filter((body) => body.includes('"status":"COMPLETED"'))).toHaveLength(100);
});

test('clients that disconnect leave nothing behind, and their requests continue', async () => {
  const { hostname, port } = new URL(service.url);
  const id = await calls.submit('test/model', { hold: true });
  const head = `Host: h\r\nAuthorization: Key ${service.key}\r\nPrefer: wait=60\r\n`;
  const exchanges = [
    `GET ${calls.path(id)}/status HTTP/1.1\r\n${head}\r\n`,
    `GET ${calls.path(id)} HTTP/1.1\r\n${head}\r\n`,
    `POST /v1/queue/test/model HTTP/1.1\r\n${head}Content-Length: 13\r\n\r\n{"hold":true}`,
  ];
  const sockets = exchanges.flatMap((exchange) =>
    (['destroy', 'resetAndDestroy', 'end'] as const).map((end) => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(exchange);
      return { socket, end };
    }),
  );
  await isHeld(9);
  for (const { socket, end } of sockets) socket[end]();
  await isHeld(0);
  expect(sources.size).toBe(0);
  model.release();
  for (const { id: requestId } of model.calls.slice(-4))
    expect((await calls.reached(requestId, 'COMPLETED')).success).toBe(true);
});

test('the server has no timeout that would end a long poll', () => {
  const server = service.app.getHttpServer();
  expect([server.timeout, server.requestTimeout]).toEqual([0, 0]);
});

/** Returns the URLs of a status as callers of another address see them. */
function urlsOf(base: string, status: Status): object {
  return JSON.parse(JSON.stringify(status).replaceAll(service.url, base)) as object;
}
