import { Database } from '../../src/database/database.js';
import { Scheduler } from '../../src/queue/runs/duties/scheduler.js';
import { ModelsService } from '../../src/models/models.service.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { RequestIds } from '../../src/queue/submit/request-id.js';
import { Runs } from '../../src/queue/runs/runs.js';
import { QueueCalls, queueRequest } from '../support/queue-calls.js';
import { claimSome } from '../support/queue-tables.js';
import { startTestService, type TestService, until } from '../support/index.js';

const modelId = 'test/echo';

let service: TestService;
let calls: QueueCalls;
let database: Database;

beforeEach(async () => {
  service = await startTestService({
    models: `models: [{ id: ${modelId}, concurrency: 4, runner: { kind: demo, demo: echo } }]`,
  });
  calls = new QueueCalls(service);
  database = service.app.get(Database);
});

afterEach(() => service.stop());

/** Submits as if the answer was lost: the request is in the queue, and no node was notified. */
async function submitUnpublished(): Promise<string> {
  const id = service.app.get(RequestIds).next();
  await submit(database, [{ id, virtualStart: 0, ...(await queueRequest(service, modelId)) }]);
  return id;
}

test('completions find a request that was not published, without a poll', async () => {
  service.app.get(Scheduler).runOnce = () => Promise.resolve();
  await calls.run(modelId);
  const id = await submitUnpublished();
  await until(
    async () => {
      await calls.run(modelId);
      return (await calls.status(id)).status === 'COMPLETED';
    },
    { message: 'it was started between others' },
  );
});

describe('a request that was claimed too late', () => {
  let id: string;
  let release: () => Promise<void>;

  beforeEach(async () => {
    await service.app.get(Scheduler).stop();
    id = await submitUnpublished();
    const [claimed] = await claimSome(database, service.app.get(Cluster).nodeId, 1, { modelId });
    const model = service.app.get(ModelsService).get(modelId)!;
    release = () => service.app.get(Runs).release(claimed!, model);
  });

  test('and cancelled meanwhile ends as cancelled', async () => {
    expect((await calls.cancel(id)).status).toBe(202);
    await release();
    expect(await calls.status(id)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
  });

  test('goes back to its position', async () => {
    await release();
    expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
    const attempts = await service.query('SELECT outcome, error_code FROM attempt WHERE request_id = $1', [
      id,
    ]);
    expect(attempts).toEqual([{ outcome: 'returned', error_code: null }]);
  });
});
