import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { Allowances } from '../../src/allowances/allowances.js';
import { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { maxWorkersOfKey, KnownWorkers, uidOf } from '../../src/queue/workers/known-workers.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { toLeaseToken } from '../../src/workers/lease-token.js';
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

/** Returns a token that has the form of a lease's, and is none. */
const inventedToken = (): string => toLeaseToken({ id: v7(), token: randomUUID() });

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

test('beats with many leases of one key delay the beats of others by one of them at most', async () => {
  const [worker, greedy] = [new WorkerCalls(service), new WorkerCalls(service, 'greedy', await newWorkKey())];
  const greedyUid = uidOf(await idOfNewestKey(), greedy.id);
  await calls.submit('test/pulled');
  const run = await worker.run();
  await worker.beat([run]);
  const [lease] = await service.query<{ token: string; uid: string }>(
    'SELECT token, worker_id AS uid FROM lease WHERE request_id = $1',
    [run.request_id],
  );
  const database = service.app.get(Database);
  /** The tokens of each renewal, none of which is executed before all beats have come. */
  const renewals: unknown[][] = [];
  let execute!: () => void;
  const allHaveCome = new Promise<void>((resolve) => (execute = resolve));
  database.query = async function <Row extends object>(sent: Statement, values?: unknown[]) {
    if (sent.name === 'renew_leases') {
      renewals.push(values![1] as unknown[]);
      await allHaveCome;
    }
    return Database.prototype.query.call(database, sent, values) as Promise<Row[]>;
  };
  try {
    const workers = service.app.get(KnownWorkers);
    const waiting = (uid: string, count: number): Promise<unknown> =>
      until(() => workers.of(uid)?.waitingBeats === count, { message: `${count} beats have come` });
    const many = Array.from({ length: 4 }, () =>
      greedy.beat(Array.from({ length: 1_000 }, () => ({ ...run, lease_token: inventedToken() }))),
    );
    await waiting(greedyUid, many.length);
    const beat = worker.beat([run]);
    await waiting(lease!.uid, 1);
    execute();
    expect(await beat).toMatchObject({ lost: [] });
    // A renewal has 500 leases.
    expect(renewals.findIndex((tokens) => tokens.includes(lease!.token))).toBeLessThanOrEqual(2);
    for (const { lost } of await Promise.all(many)) expect(lost).toHaveLength(1_000);
  } finally {
    execute();
    Reflect.deleteProperty(database, 'query');
  }
  await worker.output(run);
});

test('a beat with many leases is charged to its key while it waits', async () => {
  const worker = new WorkerCalls(service, 'large', await newWorkKey());
  const holder = `key:${await idOfNewestKey()}`;
  await calls.submit('test/pulled');
  const run = await worker.run();
  const end = new AbortController();
  const body = JSON.stringify({ worker_id: worker.id, leases: Array<string>(1_000).fill(run.lease_token) });
  const beat = worker
    .call('POST', 'beats', { body, headers: { prefer: 'wait=10' }, signal: end.signal })
    .catch(() => undefined);
  await until(() => service.app.get(WorkerBeats).size === 1, { message: 'the beat is held' });
  const bytes = (): number => service.app.get(Allowances).usedBy(holder).bytes;
  expect(bytes()).toBe(body.length);
  end.abort();
  await beat;
  await until(() => bytes() === 0, { message: 'nothing is charged' });
  await worker.output(run);
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
  const run = await busy.run();
  expect((await idle.beat([run, { ...run, lease_token: inventedToken() }])).lost).toHaveLength(1);
  await busy.output(run);
  await service.app.get(WorkerKeeper).runOnce();
  const names = await service.query<{ name: string }>('SELECT name FROM node_name WHERE name = ANY ($1)', [
    [idle.id, busy.id],
  ]);
  expect(names).toEqual([{ name: busy.id }]);
});
