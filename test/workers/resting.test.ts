import { WorkerKeeper } from '../../src/queue/duties/worker-keeper.js';
import { until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const { service, calls } = testQueue({ limits: 'off', models: { 'test/once': { ...pulled, attempts: 1 } } });
const models = ['test/once'];
let worker: WorkerCalls;

/** Its last runs have failed, and it is told to wait for a second. */
beforeEach(async () => {
  worker = new WorkerCalls(service);
  await calls.submitAll(5, 'test/once');
  for (let i = 0; i < 5; i++) await worker.failure(await worker.run({ models }));
  const resting = await worker.claim({ models });
  expect(resting.headers.get('retry-after')).toBe('1');
  expect(await verdict(resting)).toEqual([429, 'worker_resting']);
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

test('a worker rests no longer than it was told, however late its failures are counted', async () => {
  const told = await time(`clock_timestamp() + interval '1 second'`);
  await service.query('SELECT pg_sleep(0.1)');
  await service.app.get(WorkerKeeper).runOnce();
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
