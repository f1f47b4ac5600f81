import type { AdminWorkerDto } from '../../src/admin/workers/workers.dto.js';
import { Database } from '../../src/database/database.js';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { forgetWorkers } from '../../src/queue/workers/queries/workers.js';
import { AdminCalls, type Page } from '../support/admin-calls.js';
import { keyHeader, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  models: { 'test/pulled': pulled },
  limits: 'off',
});
const admin = new AdminCalls(service);

/** Writes what workers reported, and reads the orders for them. */
const round = (): Promise<void> => service.app.get(WorkerKeeper).runOnce();
const list = (query = ''): Promise<Page<AdminWorkerDto>> => admin.json('GET', `/workers${query}`);
async function seen(name: string): Promise<AdminWorkerDto> {
  await round();
  return (await list()).data.find((worker) => worker.name === name)!;
}

test('a model without workers is unavailable and states the reason', async () => {
  await round();
  expect(await admin.json('GET', '/models/test/pulled')).toMatchObject({
    availability: 'unavailable',
    unavailable_since: null,
    unavailable_reason: 'No worker asks for it.',
  });
});

test('a worker is listed with its runs and models, and a request names its worker', async () => {
  const worker = new WorkerCalls(service, 'gpu-1');
  const id = await calls.submit('test/pulled');
  const run = await worker.run();
  expect(await seen('gpu-1')).toMatchObject({
    running: 1,
    id: 'gpu-1',
    state: 'ready',
    models: ['test/pulled'],
    failures_in_row: 0,
    resting_until: null,
    key: { name: 'bootstrap' },
    seen_at: expect.any(String),
  });
  expect(await admin.json('GET', `/requests/${id}`)).toMatchObject({ node: 'gpu-1' });
  const { data: queue } = await admin.json<Page<object>>('GET', '/queue?model=test/pulled');
  expect(queue).toMatchObject([{ request_id: id, state: 'running', node: 'gpu-1' }]);
  expect((await worker.output(run, '{}')).status).toBe(200);
  await calls.reached(id, 'COMPLETED');
  const { data: events } = await admin.json<Page<object>>('GET', `/requests/${id}/events`);
  expect(events).toMatchObject([
    { kind: 'submitted', node: null },
    { kind: 'started', node: 'gpu-1' },
    { kind: 'completed', node: 'gpu-1', outcome: 'succeeded' },
  ]);
  const { data: found } = await admin.json<Page<{ request_id: string }>>('GET', '/requests?node=gpu-1');
  expect(found.map(({ request_id }) => request_id)).toEqual([id]);
});

test('the history names the worker that ran a request, also when the worker has left', async () => {
  const worker = new WorkerCalls(service, 'gpu-gone');
  const id = await calls.submit('test/pulled');
  await worker.output(await worker.run());
  expect((await worker.leave()).status).toBe(204);
  expect(await service.query(`SELECT FROM worker WHERE id = 'gpu-gone'`)).toEqual([]);
  expect(await admin.json('GET', `/requests/${id}`)).toMatchObject({ node: 'gpu-gone' });
  const { data: events } = await admin.json<Page<object>>('GET', `/requests/${id}/events`);
  expect(events.at(-1)).toMatchObject({ kind: 'completed', node: 'gpu-gone' });
  const { data: found } = await admin.json<Page<{ request_id: string }>>('GET', '/requests?node=gpu-gone');
  expect(found.map(({ request_id }) => request_id)).toEqual([id]);
});

test('a worker under the order to drain is deleted after a week of absence', async () => {
  const worker = new WorkerCalls(service, 'drained');
  await worker.claim();
  const { uid } = await seen('drained');
  await admin.json('POST', `/workers/${uid}/drain`);
  await worker.leave();
  const left = () => service.query(`SELECT FROM worker WHERE id = 'drained'`);
  expect(await left()).toHaveLength(1);
  await service.query(`UPDATE worker SET seen_at = now() - interval '8 days' WHERE id = 'drained'`);
  await forgetWorkers(service.app.get(Database), null);
  expect(await left()).toEqual([]);
});

test('a stuck worker does not count as available, and its state shows that it is stuck', async () => {
  const worker = new WorkerCalls(service, 'stuck');
  await service.query(`UPDATE worker SET seen_at = now() - interval '1 hour'`);
  await worker.claim();
  const headers = keyHeader(service.key);
  const workers = async () =>
    (await (await service.get('/v1/models/test/pulled', { headers })).json()) as object;
  const before = await seen('stuck');
  expect(before.state).toBe('ready');
  const { workers: count } = (await workers()) as { workers: number };
  await worker.beat([], 0, 'stuck');
  expect(await seen('stuck')).toMatchObject({ state: 'stuck', says: 'stuck' });
  expect(await workers()).toMatchObject({ workers: count - 1 });
  await worker.claim();
  expect(await seen('stuck')).toMatchObject({ state: 'ready', says: '' });
  expect(await workers()).toMatchObject({ workers: count });
});

test('workers are listed by name, in pages', async () => {
  for (const name of ['b-1', 'a-1', 'c-1']) await new WorkerCalls(service, name).claim();
  await round();
  const names = (await admin.all<AdminWorkerDto>('/workers?limit=1')).map(({ name }) => name);
  expect(names.filter((name) => name.endsWith('-1') && name !== 'gpu-1')).toEqual(['a-1', 'b-1', 'c-1']);
  expect(names).toEqual([...names].sort());
});

test('a worker gets the order to drain or to stop, which is audited with its reason', async () => {
  const worker = new WorkerCalls(service, 'told');
  await worker.claim();
  const { uid } = await seen('told');
  expect(await admin.json('POST', `/workers/${uid}/drain`, { body: { reason: 'new driver' } })).toEqual({
    uid,
    name: 'told',
    told: 'drain',
  });
  expect(await seen('told')).toMatchObject({ state: 'draining' });
  expect((await worker.beat()).worker).toBe('drain');
  expect(await admin.json('POST', `/workers/${uid}/stop`)).toMatchObject({ told: 'stop' });
  await round();
  expect((await worker.beat()).worker).toBe('stop');
  expect(await admin.json('DELETE', `/workers/${uid}/drain`)).toMatchObject({ told: 'run' });
  await round();
  expect((await worker.beat()).worker).toBe('run');
  expect(
    await service.query(
      `SELECT action, target, before, after, reason FROM audit_entry WHERE action LIKE 'worker.%' AND target = 'told' ORDER BY id`,
    ),
  ).toEqual([
    {
      action: 'worker.drain',
      target: 'told',
      before: { told: 'run' },
      after: { told: 'drain' },
      reason: 'new driver',
    },
    {
      action: 'worker.stop',
      target: 'told',
      before: { told: 'drain' },
      after: { told: 'stop' },
      reason: null,
    },
    {
      action: 'worker.resume',
      target: 'told',
      before: { told: 'stop' },
      after: { told: 'run' },
      reason: null,
    },
  ]);
});

test('an unknown worker is not found, and the key of a worker may not list any', async () => {
  const call = (id: string) => admin.call('POST', `/workers/${id}/drain`);
  expect(await verdict(call(unknownId()))).toEqual([404, 'unknown_id']);
  expect(await verdict(call('none'))).toEqual([404, 'unknown_id']);
  const caller = await calls.newKey({ name: 'a worker', scopes: ['work'] });
  expect(await verdict(service.get('/v1/admin/workers', { headers: keyHeader(caller) }))).toEqual([
    403,
    'forbidden',
  ]);
});
