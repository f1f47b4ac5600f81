import { writeFile } from 'node:fs/promises';
import { ModelsReload } from '../../src/admin/models/models-reload.js';
import { SlotKeeper } from '../../src/queue/cluster/duties/slot-keeper.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { scrape } from '../support/metrics.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/index.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls, model } = testQueue({
  models: {
    'stay/a': { group: 'stays' },
    'stay/b': { group: 'stays' },
    'brief/a': { group: 'brief' },
    'brief/b': { group: 'brief' },
    'wait/a': { group: 'waits' },
    'wait/b': { group: 'waits' },
    'wait/c': { group: 'waits' },
    'wide/a': { group: 'wide' },
    'wide/b': { group: 'wide' },
    'wide/c': { group: 'wide', concurrency: 1 },
    alone: {},
  },
  groups: {
    stays: { concurrency: 1, stay: '1h' },
    brief: { concurrency: 1, stay: '1ms' },
    waits: { concurrency: 1 },
    wide: { concurrency: 2, stay: '1h' },
  },
  limits: 'off',
});
let admin: ModelAdminCalls;
let answered = 0;

beforeAll(() => {
  service.app.get(ModelsReload).stopWatching();
  admin = new ModelAdminCalls(service);
});
beforeEach(() => {
  model.hold();
  model.maxAtOnce = 0;
  answered = model.calls.length;
});
afterEach(async () => {
  model.release();
  await until(async () => (await calls.count(`request WHERE state <> 'COMPLETED'`)) === 0);
});

/** Answers so many runs, each before the next begins. Returns their ids in the order of their starts. */
async function order(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const call = await until(() => model.calls[answered], { message: `run ${ids.length + 1} begins` });
    answered++;
    ids.push(call.id);
    await model.answer(call.id);
  }
  return ids;
}

/** Submits a request whose run keeps the only slot of its group busy. */
async function occupy(modelId: string): Promise<string> {
  const id = await calls.submit(modelId);
  await model.arrived(id);
  return id;
}

test('the request that has waited longest goes first, whichever model it is for', async () => {
  const first = await occupy('wait/a');
  const waiting = [];
  for (const name of ['b', 'a', 'c', 'b', 'c', 'a']) waiting.push(await calls.submit(`wait/${name}`));
  expect(await order(7)).toEqual([first, ...waiting]);
  expect(model.maxAtOnce).toBe(1);
});

test('a higher priority goes before a longer wait', async () => {
  const first = await occupy('wait/a');
  const normal = await calls.submit('wait/b');
  const urgent = await calls.submit('wait/c?priority=high');
  expect(await order(3)).toEqual([first, urgent, normal]);
});

test('the model that has run keeps its turn while it has work', async () => {
  const first = await occupy('stay/a');
  const other = await calls.submit('stay/b');
  const own = await calls.submitAll(3, 'stay/a');
  expect(await order(5)).toEqual([first, ...own, other]);
});

test('a turn ends after the stay of its group', async () => {
  const first = await occupy('brief/a');
  const other = await calls.submit('brief/b');
  const own = await calls.submit('brief/a');
  expect(await order(3)).toEqual([first, other, own]);
});

test('a request with a higher priority ends a turn, and its model gets the next turn', async () => {
  const first = await occupy('stay/a');
  const own = await calls.submit('stay/a');
  const urgent = await calls.submit('stay/b?priority=high');
  const other = await calls.submit('stay/b');
  expect(await order(4)).toEqual([first, urgent, other, own]);
});

test('a paused model loses its turn, and a concurrency override does not change the concurrency of the group', async () => {
  const first = await occupy('stay/a');
  const [other, own] = [await calls.submit('stay/b'), await calls.submit('stay/a')];
  await admin.change('stay/a', { paused: 'hold' });
  await admin.change('stay/b', { concurrency: 5 });
  expect(await order(2)).toEqual([first, other]);
  await admin.change('stay/b', { concurrency: null });
  await admin.change('stay/a', { paused: false });
  expect(await order(1)).toEqual([own]);
  expect(model.maxAtOnce).toBe(1);
});

test('a parked request at the front does not count as the longest wait of its model', async () => {
  const bounded = await calls.newKey({ name: 'bounded', maxRunning: 1 });
  const first = await calls.submit('wait/a', {}, keyHeader(bounded));
  await model.arrived(first);
  const held = await calls.submit('wait/a', {}, keyHeader(bounded));
  const [other, own] = [await calls.submit('wait/b'), await calls.submit('wait/a')];
  const all = await order(4);
  expect([all[0], ...all.filter((id) => id === other || id === own)]).toEqual([first, other, own]);
  expect(all).toContain(held);
});

test('the models of a group share its slots', async () => {
  const ids = [];
  for (const name of ['c', 'c', 'a', 'b', 'a', 'c']) ids.push(await calls.submit(`wide/${name}`));
  await until(() => model.running === 2);
  const running = await Promise.all(ids.map((id) => calls.status(id)));
  expect(running.filter(({ status }) => status === 'IN_PROGRESS')).toHaveLength(2);
  model.release();
  for (const id of ids) await calls.reached(id, 'COMPLETED');
  expect(model.maxAtOnce).toBeLessThanOrEqual(2);
});

test('a model of a group never runs more requests than its own concurrency allows', async () => {
  await occupy('wide/c');
  const second = await calls.submit('wide/c');
  expect((await calls.status(second)).status).toBe('IN_QUEUE');
  model.release();
  await calls.reached(second, 'COMPLETED');
  expect(model.maxAtOnce).toBe(1);
});

test('a group shows in the models, the figures of operators, the metrics and the views', async () => {
  await occupy('wide/a');
  await calls.submit('alone');
  const response = await service.get('/v1/models/wide/c', { headers: keyHeader(service.key) });
  expect(await response.json()).toMatchObject({
    concurrency: 1,
    group: { id: 'wide', concurrency: 2, stay_s: 3_600 },
  });
  const models = ['wide/a', 'wide/b', 'wide/c'];
  const shown = { id: 'wide', concurrency: 2, running: 1, stay_s: 3_600, models };
  await until(async () => (await admin.model('wide/b')).group?.running === 1);
  expect(await admin.model('wide/b')).toMatchObject({ running: 0, group: shown });
  expect(await admin.model('alone')).toMatchObject({ group: null });
  const [view] = await service.query(
    `SELECT models, concurrency, running::integer, waiting::integer, stay = interval '1 hour' AS stays
     FROM group_slots WHERE group_id = 'wide'`,
  );
  expect(view).toEqual({ models, concurrency: 2, running: 1, waiting: 0, stays: true });
  const metrics = await scrape(service);
  expect(metrics.value('nowserving_cluster_group_running', { group: 'wide' })).toBe(1);
  expect(metrics.value('nowserving_cluster_group_concurrency', { group: 'wide' })).toBe(2);
  expect(metrics.value('nowserving_cluster_slots_withheld', { model: 'wide/a' })).toBe(0);
});

describe('after a reload', () => {
  const reload = async (models: Record<string, object>, groups?: Record<string, object>): Promise<void> => {
    await writeFile(service.config.modelsFile, model.file(models, groups));
    expect((await admin.call('POST', 'models/reload')).status).toBe(200);
  };

  test('running requests count in a new group, and the removal of the group ends its limit', async () => {
    await reload({ 'late/a': {}, 'late/b': {} });
    const [one, two] = [await occupy('late/a'), await occupy('late/b')];
    expect(model.maxAtOnce).toBe(2);
    const group = { group: 'late' };
    await reload({ 'late/a': group, 'late/b': group }, { late: { concurrency: 1 } });
    const [next, last] = [await calls.submit('late/b'), await calls.submit('late/a')];
    expect(await calls.status(next)).toMatchObject({ status: 'IN_QUEUE', reason: 'busy' });
    model.maxAtOnce = 0;
    await model.answer(one);
    await model.answer(two);
    await model.arrived(next);
    expect(model.running).toBe(1);
    expect(await calls.status(last)).toMatchObject({ status: 'IN_QUEUE' });
    await reload({ 'late/a': {}, 'late/b': {} });
    await model.arrived(last);
    expect(model.running).toBe(2);
  });

  test('running requests count when a group moves to workers, and back', async () => {
    const groups = { moved: { concurrency: 1 } };
    const ofNodes = { 'moved/a': { group: 'moved' }, 'moved/b': { group: 'moved' } };
    const ofWorkers = Object.fromEntries(
      Object.entries(ofNodes).map(([id, options]) => [id, { ...options, ...pulled }]),
    );
    await reload(ofNodes, groups);
    const first = await occupy('moved/a');
    await reload(ofWorkers, groups);
    const second = await calls.submit('moved/b');
    const worker = new WorkerCalls(service);
    const claim = { models: ['moved/a', 'moved/b'] };
    expect((await worker.claim(claim)).status).toBe(204);
    await model.answer(first);
    const run = await worker.run(claim);
    expect(run.request_id).toBe(second);
    await reload(ofNodes, groups);
    const third = await calls.submit('moved/a');
    await service.app.get(SlotKeeper).runOnce();
    expect(await calls.status(third)).toMatchObject({ status: 'IN_QUEUE' });
    await worker.output(run);
    await model.arrived(third);
  });
});
