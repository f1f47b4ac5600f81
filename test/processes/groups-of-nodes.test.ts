import { ControlCluster, type ControlledNode } from '../support/control-cluster.js';
import { until } from '../support/index.js';

const names = ['test/one', 'test/two', 'test/three'];
const group = { group: 'gpu' };
const models = { 'test/one': group, 'test/two': group, 'test/three': { ...group, concurrency: 1 } };
const cluster = new ControlCluster();
const { model } = cluster;

const byName = new Map<string, ControlledNode>();

async function join(name: string): Promise<void> {
  byName.set(name, await cluster.add({ NODE_NAME: name }));
}

beforeAll(async () => {
  await cluster.start(models, 0, { gpu: { concurrency: 3, stay: '200ms' } });
  await join('first');
  await join('second');
});
afterAll(() => cluster.stop());

let isOver = true;
afterEach(() => (isOver = true));

/** Starts callers of all models on all nodes. The returned function stops them. */
function keepSubmitting(): () => Promise<void> {
  isOver = false;
  let count = 0;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const node = cluster.nodes[count % cluster.nodes.length]!;
      const seen = model.calls.length;
      // A node that was killed answers no more, and one that stops or waits for its database refuses.
      const answer = await node.submit(names[count++ % names.length]!).catch(() => undefined);
      const isSent = typeof answer === 'string';
      if (isSent) await until(() => isOver || model.calls.length > seen);
    }
  };
  const callers = Promise.all(names.map(() => caller()));
  callers.catch(() => undefined);
  return async () => {
    isOver = true;
    await callers;
  };
}

const idle = (): Promise<unknown> =>
  until(
    async () => (await cluster.rows(`SELECT FROM request WHERE state <> 'COMPLETED' LIMIT 1`)).length === 0,
    {
      message: 'all that was submitted has completed',
      explain: () => cluster.rows(`SELECT model_id, state, attempt, count(*) FROM request GROUP BY 1, 2, 3`),
    },
  );

/** Returns the nodes that have slots for a model of the group. */
const holders = (): Promise<{ name: string }[]> =>
  cluster.rows(`SELECT DISTINCT name FROM slot_grant JOIN node ON id = node_id WHERE slots > 0`);

/** Waits until the model has so many more calls. */
const moreCalls = (count: number): Promise<unknown> => {
  const before = model.calls.length;
  return until(() => model.calls.length > before + count);
};

/** Returns the node that runs the group. */
async function holder(): Promise<ControlledNode> {
  const name = await until(async () => {
    const found = await holders();
    return found.length === 1 && found[0]!.name;
  });
  return byName.get(name)!;
}

test('while nodes join and leave, the models of a group never run more than its concurrency', async () => {
  model.takesMs = 15;
  const finish = keepSubmitting();
  await moreCalls(60);
  for (let round = 0; round < 3; round++) {
    await join(`joined-${round}`);
    await moreCalls(40);
    // The group moves to another node while its runs go on.
    const leaving = await holder();
    cluster.remove(leaving);
    await leaving.service.stop();
    await moreCalls(40);
  }
  await finish();
  await idle();
  expect(model.maxAtOnce).toBeLessThanOrEqual(3);
  const outcomes = await cluster.rows('SELECT DISTINCT outcome, lost_attempts AS lost FROM request');
  expect(outcomes).toEqual([{ outcome: 'succeeded', lost: 0 }]);
  const used = await cluster.rows<{ modelId: string }>('SELECT DISTINCT model_id AS "modelId" FROM request');
  expect(used).toHaveLength(names.length);
});

test('the group of a killed node moves to another node', async () => {
  const killed = await holder();
  const finish = keepSubmitting();
  await moreCalls(30);
  killed.service.kill('SIGKILL');
  await killed.service.exited;
  cluster.remove(killed);
  await join('in-its-place');
  await moreCalls(60);
  await finish();
  await idle();
  expect(model.maxAtOnce).toBeLessThanOrEqual(3);
});

test('a changed or removed group applies without a restart', async () => {
  model.takesMs = 5;
  const finish = keepSubmitting();
  await moreCalls(30);
  const reload = async (these: Record<string, object>, groups?: Record<string, object>): Promise<void> => {
    await cluster.write(these, groups);
    expect((await cluster.nodes[0]!.admin.call('POST', 'models/reload')).status).toBe(200);
  };
  const single = { ...models, 'test/three': group };
  for (let round = 0; round < 3; round++) {
    await reload(single, { gpu: { concurrency: 1 } });
    // What ran before may still go on.
    await moreCalls(10);
    model.maxAtOnce = 0;
    await moreCalls(40);
    expect(model.maxAtOnce).toBe(1);
    await reload({ 'test/one': {}, 'test/two': {}, 'test/three': {} });
    model.hold();
    await until(() => model.running > 3, { message: 'each model has its own slots' });
    model.release();
  }
  await finish();
  await idle();
});
