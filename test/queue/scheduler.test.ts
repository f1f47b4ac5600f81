import { Database } from '../../src/database/database.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { Scheduler } from '../../src/queue/runs/duties/scheduler.js';
import { ModelsService } from '../../src/models/models.service.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import type { Claimed } from '../../src/queue/runs/queries/claim.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { RequestIds } from '../../src/queue/submit/request-id.js';
import { Runs } from '../../src/queue/runs/runs.js';
import { QueueCalls, queueRequest } from '../support/queue-calls.js';
import { claimSome, returning } from '../support/queue-tables.js';
import { startTestService, type TestService, until } from '../support/index.js';

const modelId = 'test/echo';
const slowId = 'test/story';

let service: TestService;
let calls: QueueCalls;
let database: Database;

beforeEach(async () => {
  service = await startTestService({
    models: `models:
  - { id: ${modelId}, concurrency: 4, runner: { kind: demo, demo: echo } }
  - { id: ${slowId}, concurrency: 4, runner: { kind: demo, demo: story } }`,
  });
  calls = new QueueCalls(service);
  database = service.app.get(Database);
});

afterEach(() => service.stop());

/** Submits as if the answer was lost: the request is in the queue, and no node was notified. */
async function submitUnpublished(of = modelId, input = {}): Promise<string> {
  const id = service.app.get(RequestIds).next();
  await submit(database, [{ id, virtualStart: 0, ...(await queueRequest(service, of, input)) }]);
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

test('a run that is still stopping does not hide the next run of its request on the same node', async () => {
  await service.app.get(Scheduler).stop();
  const id = await submitUnpublished(slowId, { prompt: 'x' });
  const runs = service.app.get(Runs);
  const model = service.app.get(ModelsService).get(slowId)!;
  const claimOne = async (): Promise<Claimed> =>
    (await claimSome(database, service.app.get(Cluster).nodeId, 1, { modelId: slowId }))[0]!;
  const first = await claimOne();
  // As if the node had been given up, and had come back.
  await requeue(database, returning(first));
  const second = await claimOne();
  const stopping = runs.execute(first, model, { target: undefined });
  runs.abort(id, 'lost');
  const running = runs.execute(second, model, { target: undefined });
  await stopping;
  expect(runs.holds(id, second.token)).toBe(true);
  runs.abort(id, 'cancelled');
  await running;
  expect(await calls.status(id)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
});

test.each([
  ['cancelled meanwhile ends as cancelled', true, { status: 'COMPLETED', error: { code: 'cancelled' } }],
  ['not goes back to its place', false, { status: 'IN_QUEUE', queue_position: 0 }],
])('a request whose claim was never answered and that was %s', async (_name, isCancelled, expected) => {
  await service.app.get(Scheduler).stop();
  const id = await submitUnpublished();
  await claimSome(database, service.app.get(Cluster).nodeId, 1, { modelId });
  if (isCancelled) expect((await calls.cancel(id)).status).toBe(202);
  // Older than any claim that may still be in progress.
  await service.query(`UPDATE lease SET started_at = started_at - interval '20 seconds'`);
  service.app.get(Runs).lostClaimAt = performance.now();
  await service.app.get(Rescuer).runOnce();
  expect(await calls.status(id)).toMatchObject(expected);
});

test('a request whose claim commits at the end of a long outage goes back to its place', async () => {
  await service.app.get(Scheduler).stop();
  const id = await submitUnpublished();
  const { app } = service;
  const [cluster, runs, rescuer] = [app.get(Cluster), app.get(Runs), app.get(Rescuer)];
  runs.lostClaimAt = performance.now() - 60_000;
  await database.transaction(async (query) => {
    await claimSome({ query } as Database, cluster.nodeId, 1, { modelId });
    // As after a minute in which commits hung, and no heartbeat succeeded.
    cluster.beats = 0;
    await rescuer.runOnce();
  });
  await service.query(`UPDATE lease SET started_at = started_at - interval '60 seconds'`);
  await rescuer.runOnce();
  expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
  cluster.beats = 100;
  await rescuer.runOnce();
  expect(runs.lostClaimAt).toBeUndefined();
});

test('a cancel that loses the race to a claim checks again and asks the run to stop', async () => {
  await service.app.get(Scheduler).stop();
  const id = await submitUnpublished();
  const { nodeId } = service.app.get(Cluster);
  const { cancelling } = await database.transaction(async (query) => {
    await claimSome({ query } as Database, nodeId, 1, { modelId });
    const cancelling = calls.cancel(id);
    const blocked = `SELECT FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await service.query(blocked)).length === 1);
    return { cancelling };
  });
  expect((await cancelling).status).toBe(202);
  expect(await service.query('SELECT cancel_requested_at IS NOT NULL AS asked FROM lease')).toEqual([
    { asked: true },
  ]);
});
