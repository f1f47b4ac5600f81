import { setTimeout as delay } from 'node:timers/promises';
import { ControlCluster, type ControlledNode } from '../support/control-cluster.js';
import { until } from '../support/index.js';

const id = 'test/model';
const cluster = new ControlCluster();
const { model } = cluster;

beforeAll(() => cluster.start({ [id]: { concurrency: 6 } }, 3));
afterAll(() => cluster.stop());

/** Submits through each node in turn, a few at a time, so that some requests start at once and some wait. */
async function submitThroughAll(
  count: number,
  nodes: ControlledNode[] = cluster.nodes,
): Promise<(string | number)[]> {
  const results: (string | number)[] = [];
  const caller = async (node: ControlledNode): Promise<void> => {
    while (results.length < count) results.push(await node.submit(id));
  };
  await Promise.all(nodes.flatMap((node) => [caller(node), caller(node)]));
  return results;
}

let isOver = false;
afterEach(() => (isOver = true));

/**
 * Starts callers that submit all the time, some dozens a second. The returned function stops them and resolves to their
 * answers.
 */
function keepSubmitting(): () => Promise<(string | number)[]> {
  isOver = false;
  const results: (string | number)[] = [];
  const caller = async (node: ControlledNode): Promise<void> => {
    for (; !isOver; await delay(50)) results.push(await node.submit(id));
  };
  const callers = Promise.all(cluster.nodes.flatMap((node) => [caller(node), caller(node)]));
  // A failing test does not await the callers.
  callers.catch(() => undefined);
  return async () => {
    isOver = true;
    await callers;
    return results;
  };
}

async function allSay(availability: string): Promise<void> {
  for (const node of cluster.nodes)
    await until(async () => (await node.availability(id)) === availability, {
      message: `every node says ${availability}`,
    });
}

const started = async (): Promise<number> => {
  const [row] = await cluster.rows<{ starts: number }>(
    `SELECT coalesce(sum(attempt), 0)::int AS starts FROM request`,
  );
  return row!.starts;
};
const idle = (): Promise<unknown> =>
  until(
    async () => (await cluster.rows(`SELECT FROM request WHERE state <> 'COMPLETED' LIMIT 1`)).length === 0,
    {
      message: 'all that was submitted has completed',
      explain: () => cluster.rows(`SELECT state, attempt, count(*) FROM request GROUP BY 1, 2`),
    },
  );

test('a pause reaches all nodes while callers submit through each, and then no run starts', async () => {
  model.takesMs = 5;
  for (let round = 0; round < 3; round++) {
    const finish = keepSubmitting();
    await until(() => model.calls.length > round * 100 + 20);
    await cluster.nodes[round % 3]!.admin.change(id, { paused: 'hold' });
    await allSay('paused');
    await until(() => model.running === 0);
    const [before, calls] = [await started(), model.calls.length];
    expect((await submitThroughAll(60)).filter((one) => typeof one === 'number')).toEqual([]);
    expect([await started(), model.calls.length]).toEqual([before, calls]);
    await cluster.nodes[(round + 1) % 3]!.admin.change(id, { paused: null });
    await allSay('available');
    expect((await finish()).filter((one) => typeof one === 'number')).toEqual([]);
    await idle();
  }
  const outcomes = await cluster.rows(
    `SELECT outcome, failed_attempts + lost_attempts AS lost FROM request GROUP BY 1, 2`,
  );
  expect(outcomes).toEqual([{ outcome: 'succeeded', lost: 0 }]);
  expect(model.maxAtOnce).toBeLessThanOrEqual(6);
});

test('a pause and a lowered concurrency survive kills, stops and starts of nodes', async () => {
  await cluster.nodes[0]!.admin.change(id, { paused: 'hold', concurrency: 3 });
  await allSay('paused');
  await until(() => model.running === 0);
  const before = await started();
  const [, killed, stopped] = cluster.nodes as [ControlledNode, ControlledNode, ControlledNode];
  killed.service.kill('SIGKILL');
  await killed.service.exited;
  await stopped.service.stop();
  for (const node of [killed, stopped]) cluster.remove(node);
  await cluster.add();
  await cluster.add();
  expect(await cluster.nodes[2]!.admin.model(id)).toMatchObject({
    paused: { current: 'hold', overridden_by: 'bootstrap' },
    concurrency: { current: 3, base: 6 },
  });
  await submitThroughAll(30);
  expect(await started()).toBe(before);
  await cluster.nodes[2]!.admin.change(id, { paused: false, concurrency: null });
  await idle();
});

test('a lowered concurrency is not exceeded once earlier runs have ended, and a raised one is used', async () => {
  const [first, second] = cluster.nodes as [ControlledNode, ControlledNode];
  await first.admin.change(id, { paused: 'hold' });
  await submitThroughAll(120);
  // Slots of the killed node rest until the node is given up.
  model.hold();
  await second.admin.change(id, { paused: false });
  await until(() => model.running === 6, { message: 'all slots are used' });
  model.takesMs = 50;
  model.release();
  await first.admin.change(id, { concurrency: 2 });
  const granted = async (): Promise<number> => {
    const rows = await cluster.rows<{ slots: number }>(
      'SELECT sum(slots)::integer AS slots FROM slot_grant WHERE model_id = $1',
      [id],
    );
    return rows[0]!.slots;
  };
  // Between two runs there may be at most two running even before all nodes have noticed the change.
  await until(async () => (await granted()) <= 2 && model.running <= 2);
  for (let looks = 0; looks < 3; looks++) {
    model.maxAtOnce = 0;
    const calls = model.calls.length;
    await until(() => model.calls.length > calls + 10);
    expect(model.maxAtOnce).toBeLessThanOrEqual(2);
  }
  model.hold();
  await second.admin.change(id, { concurrency: 8 });
  await until(() => model.running === 8, { message: 'more slots are used' });
  expect(model.maxAtOnce).toBe(8);
  model.takesMs = 1;
  model.release();
  await second.admin.change(id, { concurrency: null });
  await idle();
});

test('a drained node starts nothing, leaves its slots to the others and answers calls', async () => {
  const nodes = await cluster.rows<{ id: string; name: string }>('SELECT id, name FROM node ORDER BY id');
  const { id: drained, name } = nodes[0]!;
  const finish = keepSubmitting();
  const response = await cluster.nodes[1]!.admin.call('POST', `nodes/${drained}/drain`);
  expect(await response.json()).toMatchObject({ id: drained, name });
  const slots = async (): Promise<number[]> => {
    const rows = await cluster.rows<{ slots: number }>(
      `SELECT coalesce(slots, 0) AS slots FROM node
       LEFT JOIN slot_grant ON node_id = node.id AND model_id = $1
       ORDER BY node.id`,
      [id],
    );
    return rows.map((row) => row.slots);
  };
  await until(async () => (await slots()).join() === '0,3,3', { explain: slots });
  const startedBy = (): Promise<object[]> =>
    cluster.rows(
      `SELECT request_id FROM attempt WHERE node_id = $1 UNION SELECT request_id FROM lease WHERE node_id = $1`,
      [drained],
    );
  const before = (await startedBy()).length;
  expect((await submitThroughAll(60)).filter((one) => typeof one === 'number')).toEqual([]);
  expect(await startedBy()).toHaveLength(before);
  await cluster.nodes[2]!.admin.call('DELETE', `nodes/${drained}/drain`);
  await until(async () => (await slots()).join() === '2,2,2', { explain: slots });
  await finish();
  await idle();
});

test('every node reads a changed models file: by itself, after a reload call and on SIGHUP', async () => {
  await cluster.write({ [id]: { concurrency: 6 }, 'test/new': {} });
  const lists = async (model: string): Promise<boolean> => {
    const found = cluster.nodes.map(({ admin }) => admin.call('GET', `models/${model}`));
    return (await Promise.all(found)).every(({ status }) => status === 200);
  };
  await until(() => lists('test/new'), { message: 'by itself' });
  await cluster.write({ [id]: { concurrency: 6 }, 'test/called': {} });
  const reload = await cluster.nodes[0]!.admin.call('POST', 'models/reload');
  expect(reload.status).toBe(200);
  await until(() => lists('test/called'), { message: 'for a call' });
  await cluster.write({ [id]: { concurrency: 6 }, 'test/hung-up': {} });
  for (const { service } of cluster.nodes) service.kill('SIGHUP');
  await until(() => lists('test/hung-up'), { message: 'for SIGHUP' });
});
