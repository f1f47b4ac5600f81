import { WorkerScheduler } from '../../src/queue/workers/duties/worker-scheduler.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  limits: 'off',
  models: { 'test/one': { ...pulled, concurrency: 1 }, 'test/pulled': pulled },
});
const models = ['test/one', 'test/pulled'];
let worker: WorkerCalls;
let running: WorkerRun;

/** One model is at its bound, and more of its requests wait. */
beforeEach(async () => {
  worker = new WorkerCalls(service);
  await calls.submitAll(2, 'test/one');
  running = await worker.run({ models: ['test/one'] });
  // The scheduler, which checks each second for missed requests, would find it late.
  await service.app.get(WorkerScheduler).stop();
});
afterEach(async () => {
  service.app.get(WorkerScheduler).start();
  await worker.output(running);
  await worker.output(await worker.run({ models: ['test/one'] }));
});

test('a claim without a wait checks all its models, even while one is at its concurrency', async () => {
  const ids = await calls.submitAll(6, 'test/pulled');
  for (const id of ids) {
    const [run] = await worker.runs({ models, wait: 0 });
    expect(run!.request_id).toBe(id);
    await worker.output(run!);
  }
  expect((await worker.claim({ models })).status).toBe(204);
});

test('a long-polling claim gets a request of one model while another is at its concurrency', async () => {
  for (let i = 0; i < 6; i++) {
    const id = await calls.submit('test/pulled');
    const run = await worker.run({ models });
    expect(run.request_id).toBe(id);
    await worker.output(run);
  }
});
