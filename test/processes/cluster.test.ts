import { until } from '../support/index.js';
import { ProcessCluster } from '../support/process-cluster.js';
import type { StreamReader } from '../support/stream-reader.js';

type Scenario = (cluster: ProcessCluster) => Promise<void>;

const clusters: ProcessCluster[] = [];
const going = new Map<Scenario, Promise<void>>();

/** Each scenario waits until nodes are given up, so all scenarios run at the same time. */
beforeAll(() => {
  for (const scenario of [killed, frozen, woken]) {
    const run = new ProcessCluster().start(2).then((cluster) => {
      clusters.push(cluster);
      return scenario(cluster);
    });
    run.catch(() => undefined); // its own test reports the error
    going.set(scenario, run);
  }
});
afterAll(async () => {
  await Promise.allSettled(going.values());
  for (const cluster of clusters) await cluster.stop();
});

test.each([
  [
    'the runs of a killed process are taken up in order; a request that loses two nodes ends as node_lost',
    killed,
  ],
  ['a frozen process changes nothing after its runs were taken over, and works again', frozen],
  ['a process that was given up stops its runs by itself when it wakes, and joins again', woken],
])('%s', (_, scenario) => going.get(scenario)!);

async function expectTwoRuns(stream: StreamReader): Promise<void> {
  await stream.ended;
  // A position that changes is sent as IN_QUEUE once more.
  const states = stream.statuses().filter((state, i, all) => state !== all[i - 1]);
  expect(states).toEqual(['IN_PROGRESS', 'IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
}

async function killed(cluster: ProcessCluster): Promise<void> {
  const { model } = cluster;
  const first = await cluster.scheduler();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push(await cluster.submit());
  const [a, b, c, d] = ids as [string, string, string, string];
  await until(() => model.running === 2);
  const stream = await cluster.stream(b);

  const starting = cluster.scheduler();
  first.kill('SIGKILL');
  const second = await starting;
  await until(() => model.times(a) === 2 && model.times(b) === 2);
  expect([model.times(c), model.times(d)]).toEqual([0, 0]); // they were behind, and still are

  await model.answer(a, undefined, 2);
  await until(() => model.times(c) === 1);
  await cluster.completed(a);
  const following = cluster.scheduler();
  second.kill('SIGKILL'); // it has the second run of b and the first of c
  const third = await following;
  await until(() => model.times(c) === 2);
  await cluster.completed(b);
  model.release();
  await cluster.completed(c, d);
  await third.stop();

  const succeeded = { outcome: 'succeeded', code: null };
  expect(await cluster.story(a)).toEqual({
    ...succeeded,
    output: { done: a, attempt: 2 },
    lost: 1,
    attempts: ['lost', 'succeeded'],
    events: ['started', 'requeued', 'started', 'completed'],
  });
  expect(await cluster.story(b)).toEqual({
    outcome: 'failed',
    code: 'node_lost',
    output: null,
    lost: 2,
    attempts: ['lost', 'lost'],
    events: ['started', 'requeued', 'started', 'completed'],
  });
  expect(await cluster.story(c)).toMatchObject({ ...succeeded, attempts: ['lost', 'succeeded'] });
  expect(await cluster.story(d)).toMatchObject({ ...succeeded, attempts: ['succeeded'], lost: 0 });
  expect(ids.map((id) => model.times(id))).toEqual([2, 2, 2, 1]);
  expect(model.maxAtOnce).toBe(2);
  expect((await cluster.api.get(`/v1/queue/requests/${b}`)).status).toBe(502);
  await expectTwoRuns(stream);
}

async function frozen(cluster: ProcessCluster): Promise<void> {
  const { model } = cluster;
  const first = await cluster.scheduler();
  const id = await cluster.submit();
  await until(() => model.running === 1);
  const stream = await cluster.stream(id);
  first.kill('SIGSTOP');
  const second = await cluster.scheduler();
  await until(() => model.times(id) === 2);
  await model.answer(id, undefined, 2);
  await cluster.completed(id);
  await model.answer(id); // the frozen node finds this answer when it wakes
  first.kill('SIGCONT');
  await second.stop();

  const next = await cluster.submit(); // only the thawed node is left to run it
  await until(() => model.times(next) === 1);
  model.release();
  await cluster.completed(next);
  await first.stop();
  expect(await cluster.story(id)).toEqual({
    outcome: 'succeeded',
    code: null,
    output: { done: id, attempt: 2 },
    lost: 1,
    attempts: ['lost', 'succeeded'],
    events: ['started', 'requeued', 'started', 'completed'],
  });
  await expectTwoRuns(stream);
}

async function woken(cluster: ProcessCluster): Promise<void> {
  const { model, api } = cluster;
  const only = await cluster.scheduler();
  const id = await cluster.submit();
  await until(() => model.running === 1);
  only.kill('SIGSTOP');
  await until(async () => {
    const status = (await (await api.get(`/v1/queue/requests/${id}/status`)).json()) as { status: string };
    return status.status === 'IN_QUEUE';
  });
  only.kill('SIGCONT');
  await until(() => model.times(id) === 2 && model.running === 1); // the node gave up the first call
  model.release();
  await cluster.completed(id);
  await only.stop();
  expect(await cluster.story(id)).toMatchObject({
    outcome: 'succeeded',
    output: { done: id, attempt: 2 },
    attempts: ['lost', 'succeeded'],
  });
}
