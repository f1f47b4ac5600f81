import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { unknownId } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ models: { 'test/model': {} } });

test('a node without models of workers is idle again after a notification about workers of other nodes', async () => {
  const keeper = service.app.get(WorkerKeeper);
  service.app.get(QueueEvents).publish({ workers: [unknownId()] }, 'elsewhere');
  expect(keeper['nextIntervalMs']()).toBe(0);
  await keeper.runOnce();
  expect(keeper['nextIntervalMs']()).toBeGreaterThan(1_000);
});
