import { Circuits } from '../../src/queue/circuits/circuits.js';
import {
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
  until,
} from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

/** A server that dies of some inputs, with all that it runs, and comes back at once. */
class MortalServer extends ModelServer {
  /** The number of runs that each death has ended. */
  readonly deaths: number[] = [];
  /** The first death waits until so many runs are in progress, at this server and its companions. */
  patience = 0;
  companions: readonly MortalServer[] = [this];

  override respond = (call: Call): void => {
    const { kill = false } = JSON.parse(call.body) as { kill?: boolean };
    if (kill) void this.die(call);
    else void this.answerSoon(call);
  };

  private inProgress(): number {
    return this.companions.reduce((sum, { running }) => sum + running, 0);
  }

  private async die(call: Call): Promise<void> {
    await until(() => call.closed || this.deathsOfAll() > 0 || this.inProgress() >= this.patience);
    if (call.closed) return;
    this.deaths.push(this.running);
    await this.stop();
    await this.start();
  }

  private async answerSoon(call: Call): Promise<void> {
    await until(() => call.closed || this.deathsOfAll() > 0, { timeoutMs: 30_000 });
    setTimeout(() => {
      const { id, attempt, response } = call;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ done: id, attempt }));
    }, 50);
  }

  private deathsOfAll(): number {
    return this.companions.reduce((sum, { deaths }) => sum + deaths.length, 0);
  }
}

const settings = { concurrency: 8, attempts: 3, retry: { base: '1ms', cap: '5ms' } };
const [one, shared, left, right] = Array.from({ length: 4 }, () => new MortalServer()) as [
  MortalServer,
  MortalServer,
  MortalServer,
  MortalServer,
];
const asked = new ModelServer();
const servers = [one, shared, left, right];
left.companions = right.companions = [left, right];
let database: TestDatabase;
let nodes: TestService[] = [];

async function startNode(): Promise<TestService> {
  const models = [
    { id: 'test/one', runner: { kind: 'http', url: one.url }, ...settings },
    { id: 'test/asked', runner: { kind: 'http', url: asked.url }, ...settings },
    { id: 'test/shared', runner: { kind: 'http', url: shared.url }, ...settings },
    { id: 'test/two', runner: { kind: 'http', urls: [left.url, right.url] }, ...settings },
  ];
  const service = await startTestService({
    limits: 'off',
    models: JSON.stringify({ models }),
    config: { databaseUrl: database.url, bootstrapApiKey: 'a-key-that-all-nodes-know' },
  });
  Object.assign(service.app.get(Circuits).times, { probeMs: 20, maxProbeMs: 100, steadyMs: 1_000 });
  return service;
}

beforeAll(async () => {
  for (const server of servers) {
    server.patience = 8;
    await server.start();
  }
  await asked.start();
  database = await createTestDatabase();
  nodes = [await startNode()];
});
afterAll(async () => {
  for (const service of nodes) await service.stop();
  for (const server of [...servers, asked]) await server.stop();
  await database.drop();
});

/** Eight run at once; the third input kills its server each time. Seven succeed, and it fails by its own attempts. */
async function expectOnlyThePoisonFails(modelId: string, ofModel: readonly MortalServer[]): Promise<void> {
  const [service] = nodes as [TestService];
  const calls = new QueueCalls(service);
  const ids = [...(await calls.submitAll(2, modelId)), await calls.submit(modelId, { kill: true })];
  ids.push(...(await calls.submitAll(5, modelId)));
  const poison = ids.splice(2, 1)[0]!;
  const outcomes = async (id: string): Promise<string[]> => {
    const rows = await service.query<{ outcome: string }>(
      'SELECT outcome FROM attempt WHERE request_id = $1 ORDER BY attempt',
      [id],
    );
    return rows.map(({ outcome }) => outcome);
  };
  const ended = (id: string): Promise<unknown> =>
    until(async () => (await calls.status(id)).status === 'COMPLETED', {
      timeoutMs: 40_000,
      message: `${id} completes`,
      explain: () => outcomes(id),
    });
  for (const id of [...ids, poison]) await ended(id);
  for (const id of ids) {
    expect(await calls.status(id)).toMatchObject({ success: true, attempt: 1 });
    expect(await outcomes(id)).not.toContain('failed');
  }
  expect(await calls.status(poison)).toMatchObject({
    success: false,
    error: { code: 'model_unavailable' },
    attempt: 3,
  });
  expect((await outcomes(poison)).filter((outcome) => outcome === 'failed')).toHaveLength(3);
  const deaths = ofModel.flatMap((server) => server.deaths);
  expect(deaths[0]).toBeGreaterThan(1);
  // It was charged for those that it died alone in.
  expect(deaths.filter((runs) => runs === 1).length).toBeGreaterThanOrEqual(3);
  const tables = 'SELECT FROM suspect UNION ALL SELECT FROM quarantine';
  await until(async () => (await service.query(tables)).length === 0, { message: 'nothing is left of it' });
}

const slotsOf = async (modelId: string): Promise<number[]> => {
  const rows = await nodes[0]!.query<{ slots: number }>('SELECT slots FROM slot_grant WHERE model_id = $1', [
    modelId,
  ]);
  return rows.map(({ slots }) => slots);
};

test('of eight runs at one server, only the run that kills the server each time fails', async () => {
  await expectOnlyThePoisonFails('test/one', [one]);
}, 60_000);

test('a suspect that waits for its turn can be cancelled, and its log states the reason', async () => {
  const [service] = nodes as [TestService];
  const calls = new QueueCalls(service);
  const held: Call[] = [];
  asked.respond = (call) => void held.push(call);
  const ids = await calls.submitAll(3, 'test/asked');
  await until(() => held.length === 3, { message: 'all three run' });
  for (const { socket } of held.splice(0)) socket.destroy();
  await until(() => held.length === 1, { message: 'one runs alone' });
  asked.respond = ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  try {
    const [alone] = held as [Call];
    const waiting = ids.filter((id) => id !== alone.id);
    for (const id of waiting) {
      await until(async () => (await calls.status(id)).reason === 'retrying');
      expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE', attempt: 1 });
      const told = await service.query('SELECT message FROM request_event WHERE request_id = $1', [id]);
      expect(told).toEqual([{ message: expect.stringContaining('runs without others next') as string }]);
    }
    expect((await calls.cancel(waiting[1]!)).status).toBe(200);
  } finally {
    for (const { response } of held.splice(0))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
  const ended = async (): Promise<(string | undefined)[]> => {
    const rows = await service.query<{ outcome: string }>(
      'SELECT outcome FROM request WHERE id = ANY ($1) ORDER BY outcome',
      [ids],
    );
    return rows.map(({ outcome }) => outcome);
  };
  await until(async () => (await ended()).join() === 'cancelled,succeeded,succeeded', { explain: ended });
}, 60_000);

describe('over two nodes', () => {
  beforeAll(async () => {
    nodes.push(await startNode());
    for (const id of ['test/shared', 'test/two'])
      await until(async () => (await slotsOf(id)).join() === '4,4', { message: `each has half of ${id}` });
  }, 60_000);

  test('only the run that kills a shared server fails', async () => {
    await expectOnlyThePoisonFails('test/shared', [shared]);
    expect(shared.maxAtOnce).toBe(8);
  }, 60_000);

  test('only the run that kills the servers fails when the model has two of them', async () => {
    await expectOnlyThePoisonFails('test/two', [left, right]);
  }, 60_000);
});
