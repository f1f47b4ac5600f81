import type { Config } from '../../src/config/config.js';
import { Circuits } from '../../src/queue/circuits/circuits.js';
import { ModelAvailability } from '../../src/queue/circuits/model-availability.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

const id = 'test/model';
/** Two servers of the same model: one node calls the first, the others call the second. */
const [way, otherWay] = [new ModelServer(), new ModelServer()];
let database: TestDatabase;
let api: QueueCalls;
/** Node A calls the first server, B and C call the second. */
let nodes: QueueCalls[];

async function startNode(role: Config['role'], server: ModelServer): Promise<QueueCalls> {
  const service = await startTestService({
    limits: 'off',
    models: server.file({ [id]: { concurrency: 6, attempts: 1 } }),
    config: { databaseUrl: database.url, bootstrapApiKey: 'a-key-that-all-nodes-know', role },
  });
  Object.assign(service.app.get(Circuits).times, { probeMs: 20, maxProbeMs: 200 });
  return new QueueCalls(service);
}

beforeAll(async () => {
  await Promise.all([way.start(), otherWay.start()]);
  database = await createTestDatabase();
  api = await startNode('api', otherWay);
  nodes = [];
  for (const server of [way, otherWay, otherWay]) nodes.push(await startNode('scheduler', server));
  await slots(2, 2, 2);
});
afterAll(async () => {
  for (const { service } of [...nodes, api]) await service.stop();
  await Promise.all([way.stop(), otherWay.stop()]);
  await database.drop();
});

function slots(...expected: number[]): Promise<unknown> {
  const ids = nodes.map(({ service }) => service.app.get(Cluster).nodeId);
  const read = async (): Promise<(number | undefined)[]> => {
    const rows = await api.service.query<{ node: string; slots: number }>(
      `SELECT node_id AS node, slots FROM slot_grant WHERE model_id = $1`,
      [id],
    );
    return ids.map((node) => rows.find((row) => row.node === node)?.slots);
  };
  return until(async () => JSON.stringify(await read()) === JSON.stringify(expected), {
    message: `the nodes have ${expected.join(', ')} slots`,
    explain: read,
  });
}

const circuits = (): Promise<object[]> => api.service.query('SELECT FROM circuit');
const availability = (): string => api.service.app.get(ModelAvailability).of(id);
const submitAll = (count: number): Promise<string[]> => api.submitAll(count, id);

async function allSucceed(ids: string[]): Promise<void> {
  for (const one of ids)
    expect(await api.reached(one, 'COMPLETED')).toMatchObject({ success: true, attempt: 1 });
}

test('a node that cannot reach a model leaves its requests to nodes that can', async () => {
  await way.stop();
  const ids = await submitAll(60);
  await slots(0, 3, 3);
  expect(availability()).toBe('available');
  await allSucceed([...ids, ...(await submitAll(10))]);
  expect(way.calls.length + otherWay.calls.length).toBe(70);
  expect(otherWay.maxAtOnce).toBeLessThanOrEqual(6);
});

test('if no node can reach a model, each keeps its slots to probe, and all requests succeed after the outage', async () => {
  for (const { service } of nodes) service.app.get(Circuits).times.shareMs = 1_000;
  await otherWay.stop();
  const ids = await submitAll(20);
  await until(async () => (await api.status(ids[19]!)).reason === 'unavailable');
  await slots(2, 2, 2);
  expect(await circuits()).toHaveLength(3);
  await otherWay.start();
  await allSucceed(ids);
  await until(() => availability() === 'available');
});

test('a node that can reach the model again gets its slots back', async () => {
  await way.start();
  await until(
    async () => {
      await allSucceed(await submitAll(5));
      return way.calls.length > 0 && (await circuits()).length === 0;
    },
    { message: 'it runs requests, and no circuit is open' },
  );
  await slots(2, 2, 2);
});

test('the circuits of a stopped node are deleted', async () => {
  await way.stop();
  await until(async () => {
    await submitAll(5);
    return (await circuits()).length === 1;
  });
  await nodes[0]!.service.stop();
  await until(async () => (await circuits()).length === 0);
});
