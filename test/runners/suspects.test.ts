import { writeFile } from 'node:fs/promises';
import type { Config } from '../../src/config/config.js';
import { Database } from '../../src/database/database.js';
import { Circuits } from '../../src/queue/circuits/circuits.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { SuspectKeeper } from '../../src/queue/suspects/duties/suspect-keeper.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';
import { divideSlots } from '../support/test-nodes.js';

const [first, second] = [new ModelServer(), new ModelServer()];
const at = ({ url }: Pick<ModelServer, 'url'>): object => ({ runner: { kind: 'http', url } });
const nodes: QueueCalls[] = [];
let database: TestDatabase;

beforeAll(() => Promise.all([first.start(), second.start()]));
afterAll(() => Promise.all([first.stop(), second.stop()]));
beforeEach(async () => {
  database = await createTestDatabase();
  for (const server of [first, second]) server.hold().calls.splice(0);
});
afterEach(async () => {
  for (const server of [first, second]) server.release();
  while (nodes.length > 0) await nodes.shift()!.service.stop();
  await database.drop();
});

/** Models are served by the first server, unless they have a runner. */
async function startNode(
  models: Record<string, object>,
  groups?: Record<string, object>,
  config: Partial<Config> = {},
): Promise<QueueCalls> {
  const service = await startTestService({
    limits: 'off',
    models: first.file(models, groups),
    config: { databaseUrl: database.url, bootstrapApiKey: 'a-key-that-all-nodes-know', ...config },
  });
  Object.assign(service.app.get(Circuits).times, { probeMs: 20, maxProbeMs: 100, steadyMs: 1_000 });
  const node = new QueueCalls(service);
  nodes.push(node);
  return node;
}

async function reload({ service }: QueueCalls, models: Record<string, object>): Promise<void> {
  await writeFile(service.config.modelsFile, first.file(models));
  expect((await new ModelAdminCalls(service).call('POST', 'models/reload')).status).toBe(200);
}

/** Submits requests that run at the first server, and breaks all of their connections at once. */
async function makeSuspects(calls: QueueCalls, modelId: string, count: number): Promise<string[]> {
  const ids = await calls.submitAll(count, modelId);
  await until(() => first.running === count, { message: 'all run at once' });
  for (const { socket } of first.calls) socket.destroy();
  const marked = async (): Promise<boolean> => (await calls.count('suspect')) === count;
  await until(marked, { message: 'each request is a suspect' });
  return ids;
}

/** The return of a suspect to its queue may take ten seconds. */
async function expectSuccess(calls: QueueCalls, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const isCompleted = async (): Promise<boolean> => (await calls.status(id)).status === 'COMPLETED';
    await until(isCompleted, {
      timeoutMs: 30_000,
      message: `${id} completes`,
      explain: () => calls.status(id, '?logs=1'),
    });
    expect(await calls.status(id)).toMatchObject({ success: true });
  }
}

test('all requests of a model run again after an operator has turned its circuit off', async () => {
  const calls = await startNode({ 'test/model': {} });
  const ids = await makeSuspects(calls, 'test/model', 3);
  await until(() => first.running === 1, { message: 'a suspect runs without others' });
  await reload(calls, { 'test/model': { circuit: 'off' } });
  ids.push(...(await calls.submitAll(2, 'test/model')));
  first.release();
  await expectSuccess(calls, ids);
}, 60_000);

test('a run that continues at the address keeps no request waiting once the circuit is off', async () => {
  const calls = await startNode({ 'test/model': { concurrency: 8 } });
  const ids = await calls.submitAll(3, 'test/model');
  await until(() => first.running === 3, { message: 'all run at once' });
  for (const { socket } of first.calls.slice(1)) socket.destroy();
  const circuits = calls.service.app.get(Circuits);
  await until(() => circuits.hasQuarantine, { message: 'the node sends nothing but suspects' });
  await reload(calls, { 'test/model': { concurrency: 8, circuit: 'off' } });
  ids.push(...(await calls.submitAll(2, 'test/model')));
  await until(() => first.running === 5, { timeoutMs: 30_000, message: 'all requests run beside the first' });
  first.release();
  await expectSuccess(calls, ids);
}, 60_000);

test.each([
  ['leaves the file', () => ({})],
  ['has another address', () => ({ 'test/model': at(second) })],
])(
  'suspects of a model that %s do not stop the other model at their address',
  async (_, change) => {
    const calls = await startNode({ 'test/model': {}, 'test/other': {} });
    const ids = await makeSuspects(calls, 'test/model', 3);
    await until(() => first.running === 1, { message: 'a suspect runs without others' });
    const models = change();
    await reload(calls, { ...models, 'test/other': {} });
    const others = await calls.submitAll(2, 'test/other');
    for (const server of [first, second]) server.release();
    await expectSuccess(calls, others);
    if ('test/model' in models) await expectSuccess(calls, ids);
  },
  60_000,
);

test.each([
  ['has another address', () => ({ 'test/model': at(second) })],
  ['has another secret', () => ({ 'test/model': at({ url: `${first.url}?token=new` }) })],
])(
  'no run is charged that breaks with others after its model %s',
  async (_, change) => {
    const calls = await startNode({ 'test/model': {} });
    const ids = await calls.submitAll(3, 'test/model');
    await until(() => first.running === 3, { message: 'all run at once' });
    const broken = [...first.calls];
    await reload(calls, change());
    for (const { socket } of broken) socket.destroy();
    await until(() => broken.every(({ closed }) => closed), { message: 'all connections break' });
    for (const server of [first, second]) server.release();
    await expectSuccess(calls, ids);
  },
  60_000,
);

test('a suspect whose node stops runs without others next', async () => {
  const calls = await startNode({ 'test/model': {} }, undefined, { shutdownGraceMs: 0 });
  const ids = await makeSuspects(calls, 'test/model', 3);
  await until(() => first.running === 1, { message: 'a suspect runs without others' });
  await nodes.shift()!.service.stop();
  const parked = 'SELECT request_id AS id FROM suspect JOIN delayed_entry USING (request_id) ORDER BY 1';
  expect(await database.run(parked)).toEqual(ids.sort().map((id) => ({ id })));
}, 60_000);

test('a suspect that may not start any more once it is claimed stays a suspect', async () => {
  const calls = await startNode({ 'test/model': {} });
  const [rows, cluster] = [calls.service.app.get(Database), calls.service.app.get(Cluster)];
  const claim = rows.atomically.bind(rows);
  // The node is drained until its next heartbeat.
  rows.atomically = async <Row extends object>(...statements: Parameters<Database['atomically']>) => {
    const claimed = await claim(...statements);
    cluster.isDraining = true;
    return claimed as Row[];
  };
  await makeSuspects(calls, 'test/model', 3);
  await until(async () => (await calls.count('attempt')) > 3, { message: 'a claimed suspect is given back' });
  expect(await calls.count('suspect')).toBe(3);
});

describe('over two nodes with addresses of their own', () => {
  let one: QueueCalls;
  let suspects: string[];

  /** Each node has two runs. Those of the first node break together. */
  beforeEach(async () => {
    one = await startNode({ 'test/model': {} });
    await startNode({ 'test/model': at(second) });
    await divideSlots(nodes);
    // A node that has lost its address soon asks for its slots again.
    for (const { service } of nodes) service.app.get(Circuits).times.shareMs = 500;
    await one.submitAll(4, 'test/model');
    await until(() => first.running === 2 && second.running === 2, { message: 'each node has two runs' });
    suspects = first.calls.map(({ id }) => id);
    for (const { socket } of first.calls) socket.destroy();
    await until(async () => (await one.count('suspect')) === 2, { message: 'both are suspects' });
  });

  test('suspects run at their address while the other node has runs elsewhere', async () => {
    first.release();
    await expectSuccess(one, suspects);
    expect(second.running).toBe(2);
    second.release();
    const isOver = async (): Promise<boolean> => (await one.count('quarantine')) === 0;
    await until(isOver, { message: 'nothing is left of it' });
  }, 60_000);

  test('a node that is drained keeps no suspects from the other', async () => {
    const admin = new ModelAdminCalls(one.service);
    const { nodeId } = one.service.app.get(Cluster);
    expect((await admin.call('POST', `nodes/${nodeId}/drain`)).status).toBe(200);
    const parked = 'suspect JOIN delayed_entry USING (request_id)';
    const areBack = async (): Promise<boolean> => (await one.count(parked)) === 0;
    await until(areBack, { timeoutMs: 30_000, message: 'the suspects return to their queue' });
    for (const server of [first, second]) server.release();
    await expectSuccess(one, suspects);
  }, 60_000);
});

test('a suspect gets a slot of its group while another model of the group has waiting requests', async () => {
  const models = { 'test/model': { group: 'gpu' }, 'test/busy': { group: 'gpu', ...at(second) } };
  const calls = await startNode(models, { gpu: { concurrency: 2, stay: '1h' } });
  await calls.submitAll(2, 'test/model');
  await until(() => first.running === 2, { message: 'both requests run' });
  await calls.submitAll(8, 'test/busy');
  for (const { socket } of first.calls) socket.destroy();
  first.release();
  const circuits = calls.service.app.get(Circuits);
  const succeeded = `request WHERE model_id = 'test/model' AND outcome = 'succeeded'`;
  let answered = 0;
  const isOver = async (): Promise<boolean> => {
    // The other model has all slots, so a suspect needs the next one.
    if (second.running === 2 && circuits.suspectsReady('test/model') === 1)
      await second.answer(second.calls[answered++]!.id);
    return (await calls.count(succeeded)) === 2;
  };
  await until(isOver, { message: 'the suspects succeed' });
  expect(await calls.count(`queue_entry WHERE model_id = 'test/busy'`)).toBeGreaterThan(0);
}, 60_000);

test('over two nodes, suspects of a server that stays away take no slots, and move to another server', async () => {
  const urls = [first.url, second.url];
  const models = { 'test/model': { runner: { kind: 'http', urls }, concurrency: 2 } };
  const calls = await startNode(models);
  await startNode(models);
  await divideSlots(nodes);
  const circuits = nodes.map(({ service }) => service.app.get(Circuits));
  for (const { times } of circuits) Object.assign(times, { probeMs: 3_600_000, maxProbeMs: 3_600_000 });
  const slots = async (): Promise<string> =>
    (await calls.service.query<{ slots: number }>('SELECT slots FROM slot_grant'))
      .map((one) => one.slots)
      .join();
  await until(async () => (await slots()) === '1,1', { message: 'each node has a slot', explain: slots });
  const suspects = await calls.submitAll(2, 'test/model');
  await until(() => first.running + second.running === 2, { message: 'each node has a run' });
  const [lost, kept] = first.running > 0 ? [first, second] : [second, first];
  await lost.stop();
  try {
    const parked = 'suspect JOIN delayed_entry USING (request_id)';
    await until(async () => (await calls.count(parked)) > 0, { message: 'a suspect waits' });
    for (const { service } of nodes) await service.app.get(SuspectKeeper).runOnce();
    kept.release();
    await expectSuccess(calls, await calls.submitAll(5, 'test/model'));
    expect(await calls.count('suspect')).toBeGreaterThan(0);
    for (const one of circuits) one.probeNow(['test/model']);
    await calls.service.query(`UPDATE suspect SET since = since - interval '1 hour'`);
    await expectSuccess(calls, suspects);
  } finally {
    await lost.start();
  }
}, 60_000);
