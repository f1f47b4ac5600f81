import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import type { QueueCalls } from '../support/queue-calls.js';
import { testNodes } from '../support/test-nodes.js';
import { WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const pulled = { runner: { kind: 'worker' } };
const { start } = testNodes(
  {
    'stay/a': { ...pulled, group: 'stays' },
    'stay/b': { ...pulled, group: 'stays' },
    'wait/a': { ...pulled, group: 'waits' },
    'wait/b': { ...pulled, group: 'waits' },
    'wide/a': { ...pulled, group: 'wide' },
    'wide/b': { ...pulled, group: 'wide', concurrency: 1 },
  },
  { stays: { concurrency: 1, stay: '1h' }, waits: { concurrency: 1 }, wide: { concurrency: 3 } },
);
let one: QueueCalls;
let two: QueueCalls;

beforeEach(async () => {
  const config = { rateLimitSubmit: [], rateLimitOther: [] };
  one = await start(config);
  two = await start(config);
});

/** Waits until a claim is held on the node. */
const holds = (node: QueueCalls, count = 1): Promise<unknown> =>
  until(() => node.service.app.get(WorkerClaims).size === count);

/** A worker of one model, which claims again as soon as a run has ended. Returns the ids of its runs. */
async function work(
  node: QueueCalls,
  model: string,
  isOver: () => boolean,
  onRun: () => void,
): Promise<string[]> {
  const worker = new WorkerCalls(node.service);
  const ids: string[] = [];
  while (!isOver()) {
    const response = await worker.claim({ models: [model], max: 2, wait: 1 });
    if (response.status === 204) continue;
    const { runs } = (await response.json()) as { runs: WorkerRun[] };
    onRun();
    for (const run of runs) {
      ids.push(run.request_id);
      await worker.output(run);
    }
  }
  return ids;
}

const leases = async (): Promise<number> => one.count('lease');

test('workers of a group on several nodes never have more runs than its concurrency', async () => {
  for (let i = 0; i < 20; i++) for (const name of ['a', 'b']) await one.submit(`wide/${name}`);
  const left = async (): Promise<number> => one.count(`request WHERE state <> 'COMPLETED'`);
  let isOver = false;
  const working = ['a', 'b'].flatMap((name) =>
    [one, two, one].map((node) =>
      work(
        node,
        `wide/${name}`,
        () => isOver,
        () => undefined,
      ),
    ),
  );
  const seen: number[] = [];
  while ((await left()) > 0) seen.push(await leases());
  isOver = true;
  await Promise.all(working);
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
  const [most] = await one.service.query<{ runs: number }>(
    `SELECT max(runs)::integer AS runs FROM (
       SELECT (SELECT count(*) FROM attempt AS other
               WHERE other.started_at <= attempt.started_at AND other.ended_at > attempt.started_at) AS runs
       FROM attempt) AS at_start`,
  );
  expect(most!.runs).toBeLessThanOrEqual(3);
});

test('a worker of several models gets the request that has waited longest', async () => {
  const worker = new WorkerCalls(one.service);
  const ids = [];
  for (const name of ['b', 'a', 'a', 'b']) ids.push(await one.submit(`wait/${name}`));
  const runs: string[] = [];
  while (runs.length < ids.length) {
    const run = await worker.run({ models: ['wait/a', 'wait/b'], max: 2 });
    runs.push(run.request_id);
    expect(await leases()).toBe(1);
    await worker.output(run);
  }
  expect(runs).toEqual(ids);
});

test('the loaded model keeps its slot between runs, even while a worker on another node waits', async () => {
  const [loaded, other] = [new WorkerCalls(one.service), new WorkerCalls(two.service)];
  await one.submit('stay/a');
  let run = await loaded.run({ models: ['stay/a'] });
  const waiting = await one.submit('stay/b');
  const own = await one.submitAll(3, 'stay/a');
  const held = other.run({ models: ['stay/b'] });
  await holds(two);
  const runs: string[] = [];
  for (let left = own.length; left > 0; left--) {
    await loaded.output(run);
    run = await loaded.run({ models: ['stay/a'] });
    runs.push(run.request_id);
  }
  expect(runs).toEqual(own);
  await loaded.output(run);
  expect((await held).request_id).toBe(waiting);
});

test('a worker that asks for no more runs loses the turn of its model', async () => {
  const [loaded, other] = [new WorkerCalls(one.service), new WorkerCalls(one.service)];
  await one.submit('stay/a');
  const run = await loaded.run({ models: ['stay/a'] });
  const waiting = await one.submit('stay/b');
  await one.submit('stay/a');
  const held = other.run({ models: ['stay/b'] });
  await holds(one);
  await loaded.output(run);
  expect((await held).request_id).toBe(waiting);
});
