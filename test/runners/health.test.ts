import { Circuits } from '../../src/queue/circuits/circuits.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

/** A model server that answers health checks apart from its runs. */
class CheckedServer extends ModelServer {
  /** The status of its health. */
  health = 503;
  /** The answers of its health checks, in their order. */
  readonly checks: number[] = [];
  readonly runs: Call[] = [];
  constructor() {
    super();
    const { respond } = this;
    this.respond = (call) => {
      if (call.url === '/health') {
        this.checks.push(this.health);
        call.response.writeHead(this.health).end();
        return;
      }
      this.runs.push(call);
      respond(call);
    };
  }
}

const [single, broken, left, right, slow, free] = Array.from({ length: 6 }, () => new CheckedServer()) as [
  CheckedServer,
  CheckedServer,
  CheckedServer,
  CheckedServer,
  CheckedServer,
  CheckedServer,
];
const servers = [single, broken, left, right, slow, free];
const health = { url: '/health', every: '100ms' };
let service: TestService;
let calls: QueueCalls;

beforeAll(async () => {
  for (const server of servers) await server.start();
  const http = { kind: 'http', health };
  const models = [
    { id: 'test/single', runner: { ...http, url: single.url } },
    { id: 'test/broken', runner: { ...http, url: broken.url }, concurrency: 2 },
    { id: 'test/two', runner: { ...http, urls: [left.url, right.url] }, concurrency: 2 },
    { id: 'test/slow', runner: { ...http, health: { url: '/health', every: '1h' }, url: slow.url } },
    { id: 'test/free', runner: { ...http, url: free.url }, circuit: 'off' },
  ];
  service = await startTestService({ models: JSON.stringify({ models }), limits: 'off' });
  calls = new QueueCalls(service);
  Object.assign(service.app.get(Circuits).times, { probeMs: 20, maxProbeMs: 100, steadyMs: 100 });
});
afterAll(async () => {
  for (const server of servers) server.release();
  await service.stop();
  for (const server of servers) await server.stop();
});

const checkedTimes = (server: CheckedServer, count: number): Promise<unknown> => {
  const before = server.checks.length;
  return until(() => server.checks.length >= before + count, { message: `it is checked ${count} times` });
};

async function allSucceed(ids: string[]): Promise<void> {
  for (const id of ids)
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true, attempt: 1 });
}

test('after a start, a server gets no request before its health check returns 200', async () => {
  const ids = await calls.submitAll(3, 'test/single');
  await checkedTimes(single, 3);
  await until(async () => (await calls.status(ids[0]!)).reason === 'unavailable');
  expect(single.runs).toEqual([]);
  const [away] = await service.query(`SELECT reasons FROM model_availability WHERE model_id = 'test/single'`);
  expect(away).toEqual({ reasons: 'The health check of the server was answered with 503.' });
  single.health = 200;
  await allSucceed(ids);
  expect(single.runs).toHaveLength(3);
});

test('a server that is away gets health checks instead of requests', async () => {
  broken.health = 200;
  await allSucceed([await calls.submit('test/broken')]);
  const { respond } = broken;
  broken.respond = (call) => {
    if (call.url === '/health') return respond(call);
    broken.runs.push(call);
    call.response.writeHead(503).end();
  };
  broken.health = 500;
  const before = broken.runs.length;
  const ids = await calls.submitAll(4, 'test/broken');
  await checkedTimes(broken, 4);
  // Both slots were in use when it went away.
  expect(broken.runs.length - before).toBeLessThanOrEqual(2);
  broken.respond = respond;
  broken.health = 200;
  await allSucceed(ids);
});

test('each address has a health of its own', async () => {
  left.health = 200;
  await allSucceed(await calls.submitAll(4, 'test/two'));
  expect([left.runs.length, right.runs.length]).toEqual([4, 0]);
  right.health = 200;
  await until(async () => {
    await allSucceed([await calls.submit('test/two')]);
    return right.runs.length > 0;
  });
});

test('without a circuit there are no health checks', async () => {
  await allSucceed([await calls.submit('test/free')]);
  expect(free.checks).toEqual([]);
});

test('the model and the status show the time of the next check, and an operator can probe at once', async () => {
  const admin = new ModelAdminCalls(service);
  // The first pause is short; the next ones are twice as long each.
  await checkedTimes(slow, 2);
  const id = await calls.submit('test/slow');
  await until(async () => (await calls.status(id)).reason === 'unavailable');
  const shown = async (): Promise<{ availability: string; next_probe_at: string | null }> => {
    const answer = await service.get('/v1/models/test/slow', { headers: keyHeader(service.key) });
    return (await answer.json()) as { availability: string; next_probe_at: string | null };
  };
  const circuits = service.app.get(Circuits);
  await until(() => (circuits.nextProbeInMs('test/slow') ?? 0) > 2_000, {
    timeoutMs: 20_000,
    message: 'a long pause begins',
  });
  const told = await until(async () => {
    const { next_probe_at: at } = await shown();
    return at !== null && Date.parse(at) - Date.now() > 2_000 && at;
  });
  const status = await service.get(`/v1/queue/requests/${id}/status`, { headers: keyHeader(service.key) });
  const retryAfter = Number(status.headers.get('retry-after'));
  expect(Math.abs(Date.now() + retryAfter * 1_000 - Date.parse(told))).toBeLessThan(3_000);

  slow.health = 200;
  const probe = await admin.call('POST', 'models/test/slow/probe', { reason: 'it is back' });
  expect([probe.status, await probe.json()]).toEqual([200, expect.objectContaining({ id: 'test/slow' })]);
  await allSucceed([id]);
  // What is shown may be a second old.
  const after = await until(async () => {
    const now = await shown();
    return now.availability === 'available' && now;
  });
  expect(after.next_probe_at).toBeNull();
  const entries = await service.query(
    `SELECT target, actor_name, reason FROM audit_entry WHERE action = 'model.probe'`,
  );
  expect(entries).toEqual([{ target: 'test/slow', actor_name: 'bootstrap', reason: 'it is back' }]);
});

test('a model that does not exist cannot be probed', async () => {
  const admin = new ModelAdminCalls(service);
  expect((await admin.call('POST', 'models/test/none/probe')).status).toBe(404);
});
