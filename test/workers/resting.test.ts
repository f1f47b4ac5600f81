import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const { service, calls } = testQueue({ limits: 'off', models: { 'test/once': { ...pulled, attempts: 1 } } });
const models = ['test/once'];
let worker: WorkerCalls;

/** Reports failures of `count` runs that were all claimed before. */
async function fail(count: number, isCancelled = false): Promise<void> {
  const ids = await calls.submitAll(count, 'test/once');
  const runs = await worker.runs({ models: [{ model_id: 'test/once', max: count }], max: count });
  if (isCancelled) for (const id of ids) await calls.cancel(id);
  for (const run of runs) expect((await worker.failure(run)).status).toBe(200);
}

async function rests(seconds: string): Promise<void> {
  const resting = await worker.claim({ models });
  expect(resting.headers.get('retry-after')).toBe(seconds);
  expect(await verdict(resting)).toEqual([429, 'worker_resting']);
}

/** Runs a round of the keeper. It fails, and is repeated, if the keeper's own round first writes the worker meanwhile. */
const keep = (): Promise<boolean> =>
  until(() =>
    service.app
      .get(WorkerKeeper)
      .runOnce()
      .then(() => true),
  );

/** The last runs of the worker have failed, and it has to wait for a second. */
beforeEach(async () => {
  worker = new WorkerCalls(service);
  await fail(5);
  await rests('1');
});

test('a worker rests longer with each further failure', async () => {
  worker = new WorkerCalls(service);
  await fail(8);
  await rests('8');
});

test('a failure of a cancelled run does not count as a failure of its worker', async () => {
  worker = new WorkerCalls(service);
  await fail(5, true);
  await keep();
  expect((await worker.claim({ models })).status).toBe(204);
});

test('a worker whose runs fail five times in a row rests, until one succeeds', async () => {
  const id = await calls.submit('test/once');
  const run = await until(async () => {
    const answer = await worker.claim({ models });
    return answer.status === 200 && ((await answer.json()) as { runs: WorkerRun[] }).runs[0]!;
  });
  expect(run.request_id).toBe(id);
  await worker.output(run);
  await until(
    async () =>
      (await service.query('SELECT FROM worker WHERE id = $1 AND failures_in_row = 0', [worker.id])).length,
  );
});

test('a worker rests no longer than announced, even if its failures are counted late', async () => {
  const told = await time(`clock_timestamp() + interval '1 second'`);
  await service.query('SELECT pg_sleep(0.1)');
  await keep();
  expect(await time('(SELECT claims_from FROM worker WHERE id = $1)', worker.id)).toBeLessThanOrEqual(told);
});

/** In milliseconds since 1970. */
async function time(expression: string, ...values: string[]): Promise<number> {
  const [row] = await service.query<{ ms: number }>(
    `SELECT extract(epoch FROM ${expression})::float8 * 1000 AS ms`,
    values,
  );
  return row!.ms;
}
