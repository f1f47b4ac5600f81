import { writeFile } from 'node:fs/promises';
import { ModelsReload } from '../../src/admin/models/models-reload.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { highest, Slots } from '../../src/queue/cluster/slots.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { keyHeader, type QueueCalls } from '../support/queue-calls.js';
import { divideSlots, testNodes } from '../support/test-nodes.js';
import { until } from '../support/index.js';
import { type WorkerRun, WorkerCalls } from '../support/worker-calls.js';

const models = {
  kept: { concurrency: 4, reserve: { high: 1 } },
  tiered: { concurrency: 3, reserve: { high: 1, normal: 1 } },
  pulled: { concurrency: 3, reserve: { high: 1 }, runner: { kind: 'worker' } },
};
const { model, start } = testNodes(models);
let one: QueueCalls;
let two: QueueCalls;

beforeEach(async () => {
  model.hold();
  model.calls.length = 0;
  model.maxAtOnce = 0;
  const config = { rateLimitSubmit: [], rateLimitOther: [] };
  one = await start(config);
  two = await start(config);
  await divideSlots([one, two]);
  // Each node has its slots.
  await until(async () => {
    const rows = await one.service.query<{ slots: number; below: number }>(
      `SELECT sum(slots)::integer AS slots, sum(below_high)::integer AS below FROM slot_grant WHERE model_id = 'kept'
       HAVING count(*) FILTER (WHERE slots = 2) = 2`,
    );
    return rows[0]?.slots === 4 && rows[0].below === 3;
  });
});

/** Submits through both nodes in turn. */
async function submitAll(count: number, modelId: string): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await (ids.length % 2 === 0 ? one : two).submit(modelId));
  return ids;
}
const runningOf = async (...priorities: number[]): Promise<number> =>
  one.count(
    `lease JOIN request ON id = request_id WHERE priority IN (${priorities.join()}) AND lease.model_id <> 'pulled'`,
  );

test('a reserved slot stays free across several nodes until a request of its priority arrives', async () => {
  const ids = await submitAll(8, 'kept');
  await until(() => model.running === 3);
  const low = await two.submit('kept?priority=low');
  const urgent = await two.submit('kept?priority=high');
  await model.arrived(urgent);
  expect([await runningOf(-1), await runningOf(0, 1)]).toEqual([1, 3]);
  model.maxAtOnce = 0;
  // The slot of the urgent run is kept again when it has ended.
  await model.answer(urgent);
  await one.reached(urgent, 'COMPLETED');
  const next = model.calls.find(({ id }) => id !== urgent)!;
  await model.answer(next.id);
  await until(() => model.calls.length === 5);
  expect(model.running).toBe(3);
  model.release();
  for (const id of [...ids, low]) await one.reached(id, 'COMPLETED');
  expect(model.maxAtOnce).toBeLessThanOrEqual(3);
});

test('each priority has its own reserved slots', async () => {
  await submitAll(4, 'tiered?priority=low');
  await until(() => model.running === 1);
  await submitAll(4, 'tiered');
  await until(() => model.running === 2);
  const urgent = await submitAll(2, 'tiered?priority=high');
  await until(() => model.running === 3);
  expect([await runningOf(-1), await runningOf(0), await runningOf(1)]).toEqual([1, 1, 1]);
  expect(urgent.some((id) => model.times(id) === 1)).toBe(true);
  model.release();
  await until(async () => (await one.count(`request WHERE state <> 'COMPLETED'`)) === 0);
  expect(model.maxAtOnce).toBeLessThanOrEqual(3);
});

test('workers on several nodes leave the reserved slots free', async () => {
  const workers = [one, two].map(({ service }) => new WorkerCalls(service));
  await submitAll(6, 'pulled');
  const claim = async (worker: WorkerCalls): Promise<WorkerRun[]> => {
    const response = await worker.claim({ models: ['pulled'], max: 4 });
    return response.status === 204 ? [] : ((await response.json()) as { runs: WorkerRun[] }).runs;
  };
  const claimed = (await Promise.all(workers.map(claim))).flat();
  expect(claimed).toHaveLength(2);
  const urgent = [await one.submit('pulled?priority=high'), await two.submit('pulled?priority=high')];
  const more = await claim(workers[1]!);
  expect(more).toHaveLength(1);
  expect(urgent).toContain(more[0]!.request_id);
  expect(await claim(workers[0]!)).toEqual([]);
  for (const run of [...claimed, ...more]) await workers[0]!.output(run);
});

test('a reserve applies after a reload, and shows in the model', async () => {
  for (const { service } of [one, two]) service.app.get(ModelsReload).stopWatching();
  const reload = async (reserve: object | undefined): Promise<void> => {
    const text = model.file({ ...models, kept: { concurrency: 4, reserve } });
    for (const { service } of [one, two]) await writeFile(service.config.modelsFile, text);
    expect((await new ModelAdminCalls(one.service).call('POST', 'models/reload')).status).toBe(200);
  };
  await reload(undefined);
  const ids = await submitAll(8, 'kept');
  await until(() => model.running === 4);
  await reload({ high: 2 });
  // The other node may read its file a moment later.
  const shown = await until(async () => {
    const response = await two.service.get('/v1/models/kept', { headers: keyHeader(two.service.key) });
    const { reserve } = (await response.json()) as { reserve: { high: number } };
    return reserve.high > 0 && reserve;
  });
  expect(shown).toEqual({ high: 2, normal: 0 });
  // Both runs that end are of one node, so that the other's are all that may run.
  const ofOne = await one.service.query<{ id: string }>(
    `SELECT request_id AS id FROM lease WHERE node_id = $1`,
    [one.service.app.get(Cluster).nodeId],
  );
  expect(ofOne).toHaveLength(2);
  await until(() => [one, two].every(({ service }) => service.app.get(Slots).lowestFree('kept') === highest));
  for (const { id } of ofOne) {
    await model.answer(id);
    await one.reached(id, 'COMPLETED');
  }
  const urgent = await two.submit('kept?priority=high');
  await model.arrived(urgent);
  expect([await runningOf(-1), await runningOf(0, 1)]).toEqual([1, 2]);
  await reload(undefined);
  await until(() => model.running === 4);
  model.release();
  for (const id of ids) await one.reached(id, 'COMPLETED');
});
