import { v7 } from 'uuid';
import { CallerFinder } from '../../src/auth/caller-finder.js';
import { KeysService, type KeyChanges } from '../../src/auth/keys.service.js';
import { Database } from '../../src/database/database.js';
import { Heartbeat } from '../../src/queue/cluster/duties/heartbeat.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { IndexSync } from '../../src/queue/waiting/duties/index-sync.js';
import { Releaser } from '../../src/queue/waiting/duties/releaser.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { until } from '../support/index.js';
import { keyHeader } from '../support/queue-calls.js';
import { submitBounded } from '../support/queue-tables.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/wide': { concurrency: 8 }, 'test/twice': { concurrency: 8, attempts: 2 } },
  limits: '10000/s',
});
const collection = new CollectionCalls(service);

interface TestKey {
  id: string;
  secret: string;
  headers: { authorization: string };
  update(changes: KeyChanges): Promise<unknown>;
}

async function newKey(maxRunning: number | null): Promise<TestKey> {
  const keys = service.app.get(KeysService);
  const name = `at most ${maxRunning}, ${performance.now()}`;
  const secret = await calls.newKey({ name, maxRunning });
  const { id } = (await keys.list()).find((key) => key.name === name)!;
  return { id, secret, headers: keyHeader(secret), update: (changes) => keys.update(id, changes) };
}

const submit = (count: number, { headers }: TestKey, path = 'test/wide', input: object = { hold: true }) =>
  Promise.all(Array.from({ length: count }, () => calls.submit(path, input, headers)));
/** Returns those of the requests that are running at the model. */
const atModel = (ids: string[]): string[] =>
  ids.filter((id) => model.calls.some((call) => call.id === id && !call.response.writableEnded));
const runs = (ids: string[], count: number): Promise<true> =>
  until(() => atModel(ids).length === count, { explain: () => atModel(ids).length });
const statuses = (ids: string[]) => Promise.all(ids.map((id) => calls.status(id)));

/** Less than the pause between two rounds of an idle releaser. */
const soonMs = 30_000;

/** Restarts the releaser, so that no round is due because of an earlier test. */
async function restartReleaser(): Promise<void> {
  const releaser = service.app.get(Releaser);
  await releaser.stop();
  releaser.start();
}

async function endAll(ids: string[]): Promise<void> {
  await until(
    async () => {
      for (const id of atModel(ids)) await model.answer(id);
      return (await statuses(ids)).every(({ status }) => status === 'COMPLETED');
    },
    { explain: () => statuses(ids) },
  );
}

test('no more requests of a key run at once than its bound, regardless of how they were submitted', async () => {
  const key = await newKey(2);
  model.takesMs = 10;
  model.maxAtOnce = 0;
  const input = {};
  const item = { model_id: 'test/wide', input };
  const [done] = await submit(1, key, 'test/wide', input);
  await calls.reached(done!, 'COMPLETED');
  const many = [item, item, { ...item, idempotency_key: 'b' }, { ...item, idempotency_key: 'c' }];
  const ids = await Promise.all([
    ...Array.from({ length: 6 }, () => calls.submit('test/wide', input, key.headers)),
    ...[1, 2].map(() => calls.submit('test/wide', input, { ...key.headers, 'idempotency-key': 'a' })),
    ...[1, 2].map(() => calls.submit('test/wide?delay=100ms', input, key.headers)),
    collection.retry(done!, key.secret).then(async (answer) => {
      expect(answer.status).toBe(202);
      return ((await answer.json()) as { request_id: string }).request_id;
    }),
    collection.batch([...many, { ...item, delay: '100ms' }], key.secret),
  ]);
  const all = ids.flatMap((one) => (typeof one === 'string' ? [one] : one.map((of) => of.request_id!)));
  await Promise.all(all.map((id) => calls.reached(id, 'COMPLETED')));
  model.takesMs = 0;
  expect(new Set(all).size).toBe(15);
  expect(model.maxAtOnce).toBe(2);
});

test('parked requests wait at their positions, and requests of other keys do not wait for them', async () => {
  const [key, other] = [await newKey(1), await newKey(null)];
  const [first, ...held] = [...(await submit(1, key)), ...(await submit(3, key))];
  await runs([first!, ...held], 1);
  const seen = await statuses(held);
  expect(new Set(seen.map(({ queue_position: at }) => at))).toEqual(new Set([0, 1, 2]));
  for (const one of seen) expect(one).toMatchObject({ status: 'IN_QUEUE', reason: 'busy', attempt: 1 });
  const fillers = await submit(7, other);
  await runs(fillers, 7);
  // No slot is free, so they wait, but not behind the held requests.
  const waiting = await submit(2, other);
  expect((await statuses(waiting)).map(({ queue_position: at }) => at)).toEqual([0, 1]);
  for (const id of fillers) await model.answer(id);
  await runs(waiting, 2);
  for (const id of waiting) await model.answer(id);
  await calls.reached((await submit(1, other, 'test/wide', {}))[0]!, 'COMPLETED');
  expect(atModel(held)).toEqual([]);
  await endAll([first!, ...held]);
});

test('a request whose attempt fails retains its turn', async () => {
  const key = await newKey(1);
  const from = model.calls.length;
  const again = { attempts: [{ status: 500, headers: { 'retry-after': '0' } }, {}] };
  const [first] = await submit(1, key, 'test/twice', again);
  const [second] = await submit(1, key, 'test/twice', {});
  await calls.reached(second!, 'COMPLETED');
  expect(model.calls.slice(from).map(({ id }) => id)).toEqual([first, first, second]);
});

test('parked requests can be cancelled singly or in bulk, can be erased, and can expire', async () => {
  const key = await newKey(1);
  const [running] = await submit(1, key);
  const [alone, ...others] = await submit(3, key);
  const [brief] = await submit(1, key, 'test/wide?expires=50ms');
  const last = (await submit(1, key, 'test/wide?tag=a:last'))[0]!;
  await runs([running!], 1);
  expect(await (await calls.cancel(alone!, { headers: key.headers })).json()).toMatchObject({
    status: 'CANCELLED',
  });
  expect(await collection.cancel({ request_ids: others }, key.secret)).toMatchObject({ cancelled: 2 });
  expect((await calls.response(brief!)).status).toBe(504);
  for (const id of [alone!, brief!]) expect((await collection.erase(id, key.secret)).status).toBe(204);
  await model.answer(running!);
  await runs([last], 1);
  await endAll([last]);
});

test('a cancelled run makes room for the next request', async () => {
  const key = await newKey(1);
  const [first] = await submit(1, key);
  await runs([first!], 1);
  const [second] = await submit(1, key);
  await calls.cancel(first!, { headers: key.headers });
  await runs([second!], 1);
  await endAll([second!]);
});

test('a raised bound lets more requests run, a lowered bound fewer, and a removed bound all', async () => {
  const key = await newKey(1);
  const ids = await submit(7, key);
  await runs(ids, 1);
  await key.update({ maxRunning: 3 });
  await runs(ids, 3);
  await key.update({ maxRunning: 2 });
  await model.answer(atModel(ids)[0]!);
  await model.answer(atModel(ids)[0]!);
  await runs(ids, 2);
  await key.update({ maxRunning: null });
  await runs(ids, 5);
  await endAll(ids);
});

test('a new bound applies to requests that already wait', async () => {
  const key = await newKey(null);
  const ids = await submit(12, key);
  await runs(ids, 8);
  await key.update({ maxRunning: 2 });
  for (const duty of [Heartbeat, Releaser]) await service.app.get<Heartbeat | Releaser>(duty).runOnce();
  for (let left = 8; left > 2; left--) {
    await model.answer(atModel(ids)[0]!);
    await runs(ids, left - 1);
  }
  await model.answer(atModel(ids)[0]!);
  await runs(ids, 2);
  expect((await statuses(ids)).filter(({ status }) => status === 'IN_QUEUE')).toHaveLength(3);
  await endAll(ids);
});

test('a new bound counts the current runs of the key within seconds, although no request waits', async () => {
  const key = await newKey(null);
  const ids = await submit(5, key);
  await runs(ids, 5);
  await restartReleaser();
  await key.update({ maxRunning: 2 });
  const uncounted = () => service.query('SELECT FROM lease WHERE bounded_key_id IS NULL');
  const counted = { message: 'all runs are counted', timeoutMs: soonMs };
  await until(async () => (await uncounted()).length === 0, counted);
  service.app.get(CallerFinder).lookAgain();
  model.maxAtOnce = 0;
  const later = await submit(1, key);
  for (let left = 5; left > 1; left--) {
    await model.answer(atModel(ids)[0]!);
    await runs(ids, left - 1);
  }
  await runs(later, 1);
  expect(model.maxAtOnce).toBe(2);
  await endAll([...ids, ...later]);
});

/** Ways in which a node learns that its copy of the queue lacks requests. */
const notices = {
  'messages may be missing': async (): Promise<void> =>
    service.app.get(QueueEvents).publish({ missed: true }, 'elsewhere'),
  'the queue is found to be longer than known': async (): Promise<void> => {
    for (let times = 0; times < 2; times++) await service.app.get(IndexSync).runOnce();
  },
};

test.each(Object.keys(notices) as (keyof typeof notices)[])(
  'a held request of which the node has not learned is released within seconds once %s',
  async (what) => {
    const { id: keyId } = await newKey(1);
    await restartReleaser();
    const id = v7();
    const place = { modelId: 'test/wide', priority: 0, virtualStart: 0 };
    await submitBounded(service.app.get(Database), [
      { id, keyId, ...place, input: Buffer.from('{}'), expiresMs: null },
    ]);
    await notices[what]();
    const ended = async () => (await calls.status(id)).status === 'COMPLETED';
    await until(ended, { message: 'the request ends', timeoutMs: soonMs });
  },
);

test('a request that stays parked without a reason is released, even if the responsible node has died', async () => {
  const key = await newKey(1);
  const [first, second] = [...(await submit(1, key)), ...(await submit(1, key))];
  await runs([first!], 1);
  // A node that ends a run and then dies leaves the lease like this.
  await service.query('UPDATE lease SET bounded_key_id = NULL WHERE request_id = $1', [first]);
  await runs([second!], 1);
  await endAll([first!, second!]);
});
