import { randomUUID } from 'node:crypto';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { maxWorkersOfKey, KnownWorkers } from '../../src/queue/workers/known-workers.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import { problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({ limits: 'off', models: { 'test/pulled': pulled } });

const newWorkKey = () => calls.newKey({ scopes: ['work'] });

async function idOfNewestKey(): Promise<string> {
  const [row] = await service.query<{ id: string }>('SELECT id FROM api_key ORDER BY id DESC LIMIT 1');
  return row!.id;
}

test('a key has at most a thousand workers; another is refused until one leaves, and other keys are unaffected', async () => {
  const key = await newWorkKey();
  const keyId = await idOfNewestKey();
  const known = new WorkerCalls(service, 'known', key);
  await known.beat();
  const workers = service.app.get(KnownWorkers);
  for (let n = 1; n < maxWorkersOfKey; n++) workers.note(keyId, { id: `worker ${n}` });
  const more = new WorkerCalls(service, 'one more', key);
  const refused = await more.claim();
  expect(Number(refused.headers.get('retry-after'))).toBe(60);
  expect(await problemOf(refused)).toMatchObject({
    status: 429,
    code: 'caller_busy',
    detail: expect.stringContaining('This key already has 1000 workers') as string,
  });
  await known.beat();
  await new WorkerCalls(service, 'one more').beat();
  expect((await new WorkerCalls(service, 'worker 1', key).leave()).status).toBe(204);
  expect((await more.claim()).status).toBe(204);
});

test('a worker has at most 16 long-polling claims at once, and 16 beats', async () => {
  const worker = new WorkerCalls(service, 'eager', await newWorkKey());
  const end = new AbortController();
  const { signal } = end;
  const held = Array.from({ length: 16 }, () => [
    worker.claim({ wait: 20, signal }).catch(() => undefined),
    worker
      .call('POST', 'beats', {
        body: JSON.stringify({ worker_id: 'eager', leases: [] }),
        headers: { prefer: 'wait=10' },
        signal,
      })
      .catch(() => undefined),
  ]);
  const [claims, beats] = [service.app.get(WorkerClaims), service.app.get(WorkerBeats)];
  await until(() => claims.size === 16 && beats.size === 16, { message: 'all are held' });
  expect(await verdict(worker.claim({ wait: 20 }))).toEqual([429, 'caller_busy']);
  expect(
    await verdict(worker.call('POST', 'beats', { body: JSON.stringify({ worker_id: 'eager', leases: [] }) })),
  ).toEqual([429, 'caller_busy']);
  end.abort();
  await Promise.all(held.flat());
  await until(() => claims.size === 0 && beats.size === 0, { message: 'none is held' });
  expect((await worker.claim()).status).toBe(204);
  await worker.beat();
});

test('the table retains the present workers of a key, and the last thousand absent ones', async () => {
  const key = await newWorkKey();
  const keyId = await idOfNewestKey();
  await service.query(
    `INSERT INTO worker (uid, api_key_id, id, name, seen_at, told)
     SELECT gen_random_uuid(), $1::uuid, 'gone ' || n, 'gone', now() - n * interval '1 hour' / 100,
            CASE n WHEN 1500 THEN 'drain' ELSE 'run' END
     FROM generate_series(1, 1500) AS n`,
    [keyId],
  );
  await new WorkerCalls(service, 'there', key).beat();
  await service.app.get(WorkerKeeper).runOnce();
  const rows = await service.query<{ id: string }>('SELECT id FROM worker WHERE api_key_id = $1', [keyId]);
  const ids = new Set(rows.map(({ id }) => id));
  // An operator gave one of them an order that is valid when the worker comes again.
  expect([
    ids.size,
    ids.has('there'),
    ids.has('gone 999'),
    ids.has('gone 1001'),
    ids.has('gone 1500'),
  ]).toEqual([1_001, true, true, false, true]);
});

test('only the names of workers that were given a run are kept', async () => {
  const [idle, busy] = [new WorkerCalls(service, `idle ${randomUUID()}`), new WorkerCalls(service)];
  await idle.claim();
  await calls.submit('test/pulled');
  await busy.output(await busy.run());
  await service.app.get(WorkerKeeper).runOnce();
  const names = await service.query<{ name: string }>('SELECT name FROM node_name WHERE name = ANY ($1)', [
    [idle.id, busy.id],
  ]);
  expect(names).toEqual([{ name: busy.id }]);
});
