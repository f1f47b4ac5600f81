import { Activity } from '../../src/overview/activity.js';
import { Circuits } from '../../src/queue/circuits/circuits.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

/** Each model has its own server, and so its own circuit. */
const settings = {
  stopped: { concurrency: 1 },
  busy: { concurrency: 1 },
  resets: { concurrency: 4, attempts: 1 },
  tenth: { concurrency: 4, attempts: 5 },
  patient: { concurrency: 1 },
  killed: { concurrency: 1, attempts: 3, retry: { base: '1ms', cap: '5ms' } },
  long: { concurrency: 3 },
  draining: { concurrency: 2 },
  nameless: { runner: { kind: 'http', url: 'http://model.invalid/' }, expires: '1s' },
  off: { attempts: 2, circuit: 'off' },
  slow: { attempts: 2, timeout: '100ms', retry: { base: '1ms', cap: '1ms', on: ['timeout'] } },
};
type Name = keyof typeof settings;

const servers = {} as Record<Name, ModelServer>;
let service: TestService;
let calls: QueueCalls;
/** Models whose circuits opened or closed. */
const switched = new Set<string>();

beforeAll(async () => {
  const models = await Promise.all(
    Object.entries(settings).map(async ([name, more]) => {
      const server = (servers[name as Name] = await new ModelServer().start());
      return { id: `test/${name}`, runner: { kind: 'http', url: server.url }, ...more };
    }),
  );
  service = await startTestService({ models: JSON.stringify({ models }), limits: 'off' });
  calls = new QueueCalls(service);
  const circuits = service.app.get(Circuits);
  Object.assign(circuits.times, { probeMs: 20, maxProbeMs: 100, steadyMs: 100 });
  circuits.changes.subscribe((changes) => changes.forEach(({ modelId }) => switched.add(modelId)));
});
afterAll(async () => {
  for (const server of Object.values(servers)) server.release();
  await service.stop();
  for (const server of Object.values(servers)) await server.stop();
});

const isUnavailable = (id: string): Promise<unknown> =>
  until(async () => (await calls.status(id)).reason === 'unavailable', { message: `${id} cannot start` });

async function allSucceed(ids: string[]): Promise<void> {
  for (const id of ids) expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true });
}

const outcomes = async (id: string): Promise<unknown[]> =>
  (await service.query(`SELECT outcome FROM attempt WHERE request_id = $1 ORDER BY attempt`, [id])).map(
    ({ outcome }) => outcome,
  );

const answer503 = ({ response }: Call): unknown =>
  response.writeHead(503, { 'retry-after': '0' }).end('starting');

test('requests wait while their server is stopped, and then run in their order without using an attempt', async () => {
  const server = servers.stopped;
  await server.stop();
  const ids = await calls.submitAll(40, 'test/stopped');
  await isUnavailable(ids[0]!);
  await until(async () => (await outcomes(ids[0]!)).length > 2, { message: 'it is probed again and again' });
  const last = { reason: 'unavailable', attempt: 1 };
  expect(await calls.status(ids[39]!)).toMatchObject(last);
  // While the front is the probe, it does not wait.
  await until(async () => (await calls.status(ids[39]!)).queue_position === 39);
  const [availability] = await service.query(
    `SELECT * FROM model_availability WHERE model_id = 'test/stopped'`,
  );
  expect(availability).toMatchObject({
    nodes: 1,
    nodes_without: 1,
    is_available: false,
    addresses: new URL(server.url).origin,
    reasons: 'The connection to the model could not be made (ECONNREFUSED).',
  });

  await server.start();
  await allSucceed(ids);
  expect(server.calls.map(({ id }) => id)).toEqual(ids);
  expect(new Set(server.calls.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  expect(await calls.status(ids[0]!)).toMatchObject({ attempt: 1 });
  const [first, ...tried] = (await outcomes(ids[0]!)).reverse();
  expect([first, new Set(tried)]).toEqual(['succeeded', new Set(['unreached'])]);
  await until(async () => (await service.query('SELECT FROM circuit')).length === 0);
  const activity = service.app.get(Activity);
  await activity.read();
  // All requests and the run that found the server away; failed probes do not count.
  await until(() => activity.startedToday('test/stopped') === ids.length + 1, {
    message: 'what was started is counted',
    explain: () => activity.startedToday('test/stopped'),
  });
});

test('only the front of the queue probes a server that answers 503', async () => {
  const server = servers.busy;
  const { respond } = server;
  server.respond = answer503;
  const ids = await calls.submitAll(5, 'test/busy');
  await until(() => server.calls.length > 3);
  expect(new Set(server.calls.map(({ id, attempt }) => `${id} ${attempt}`))).toEqual(
    new Set([`${ids[0]} 1`]),
  );
  server.respond = respond;
  await allSucceed(ids);
});

test('a server is not called again before its Retry-After has passed', async () => {
  const server = servers.patient;
  const { respond } = server;
  server.respond = (call) => {
    if (server.calls.length > 1) return respond(call);
    call.response.writeHead(503, { 'retry-after': '1' }).end('starting');
  };
  await allSucceed(await calls.submitAll(3, 'test/patient'));
  expect(server.calls.length).toBe(4);
  const [waited] = await service.query(
    `SELECT max(started_at) - min(started_at) >= interval '950 ms' AS enough FROM attempt
     WHERE request_id = $1 HAVING count(*) = 2`,
    [server.calls[0]!.id],
  );
  expect(waited).toEqual({ enough: true });
});

test('each request to a server that resets connections uses an attempt, and requests succeed after its recovery', async () => {
  const server = servers.resets;
  const { respond } = server;
  server.respond = ({ socket }) => socket.resetAndDestroy();
  const ids = await calls.submitAll(6, 'test/resets');
  for (const id of ids.slice(0, 2)) {
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({
      error: { code: 'model_unavailable' },
      attempt: 1,
    });
    expect((await outcomes(id)).at(-1)).toBe('failed');
  }
  server.respond = respond;
  for (const id of ids) await calls.reached(id, 'COMPLETED');
  expect(await calls.status(ids[5]!)).toMatchObject({ success: true });
});

test('a model that fails every tenth call keeps its circuit closed', async () => {
  const server = servers.tenth;
  const { respond } = server;
  server.respond = (call) => {
    if (server.calls.length % 10 !== 0) return respond(call);
    call.response.writeHead(500, { 'retry-after': '0' }).end();
  };
  await allSucceed(await calls.submitAll(40, 'test/tenth'));
  expect(server.calls.length).toBeGreaterThan(40);
  expect(switched).not.toContain('test/tenth');
});

test('an input that crashes its model fails after its attempts, and the other requests run', async () => {
  const server = servers.killed.hold();
  const ids = [
    ...(await calls.submitAll(2, 'test/killed')),
    await calls.submit('test/killed', { drop: true }),
    ...(await calls.submitAll(5, 'test/killed')),
  ];
  server.release();
  const [killer] = ids.splice(2, 1);
  await allSucceed(ids);
  expect(await calls.reached(killer!, 'COMPLETED')).toMatchObject({
    success: false,
    error: { code: 'model_unavailable' },
    attempt: 3,
  });
  expect(await outcomes(killer!)).toEqual(['failed', 'failed', 'failed']);
  for (const id of ids) expect(server.times(id)).toBe(1);
});

test('several long runs start at once after an outage, because a connected probe is enough', async () => {
  const server = servers.long;
  await server.stop();
  const ids = await calls.submitAll(4, 'test/long');
  await isUnavailable(ids[0]!);
  await server.hold().start();
  await until(() => server.running === 3, { message: 'as many run as may' });
  server.release();
  await allSucceed(ids);
});

test('a run in progress completes normally while its model is unavailable to others', async () => {
  const server = servers.draining;
  const { respond } = server;
  const running = await calls.submit('test/draining', { hold: true });
  await server.arrived(running);
  server.respond = answer503;
  const waiting = await calls.submit('test/draining');
  await isUnavailable(waiting);
  await server.answer(running, '"done"');
  await allSucceed([running]);
  expect(server.times(running)).toBe(1);
  server.respond = respond;
  await allSucceed([waiting]);
});

test('a request whose model’s host name does not resolve waits until it expires', async () => {
  const id = await calls.submit('test/nameless');
  await isUnavailable(id);
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({
    error: { code: 'expired' },
    started_at: null,
    metrics: { inference_time: null },
    attempt: 1,
  });
  expect(new Set(await outcomes(id))).toEqual(new Set(['unreached']));
  expect(await calls.status(id, '?logs=1')).toMatchObject({ logs: [] });
});

test('a request that waits for a model that is away can be cancelled', async () => {
  await servers.long.stop();
  const ids = await calls.submitAll(2, 'test/long');
  await isUnavailable(ids[1]!);
  expect((await calls.cancel(ids[1]!)).status).toBe(200);
  await servers.long.start();
  await allSucceed([ids[0]!]);
});

test('with "circuit: off" a 503 uses up an attempt', async () => {
  const id = await calls.run('test/off', { status: 503, headers: { 'retry-after': '0' } });
  expect(await calls.status(id)).toMatchObject({ error: { code: 'model_unavailable' }, attempt: 2 });
  expect(await outcomes(id)).toEqual(['failed', 'failed']);
  expect(switched).not.toContain('test/off');
});

test('"retry" selects which failures are tried again', async () => {
  const id = await calls.run('test/slow', { attempts: [{ hold: true }, {}] });
  expect(await calls.status(id)).toMatchObject({ success: true, attempt: 2 });
  expect(await outcomes(id)).toEqual(['timed_out', 'succeeded']);
  const failed = await calls.run('test/slow', { status: 500 });
  expect(await calls.status(failed)).toMatchObject({ success: false, attempt: 1 });
});
