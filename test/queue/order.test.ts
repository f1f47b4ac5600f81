import { EventEmitter2 } from '@nestjs/event-emitter';
import { Database } from '../../src/database/database.js';
import { Expirer } from '../../src/queue/completion/duties/expirer.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { IndexSync } from '../../src/queue/waiting/duties/index-sync.js';
import { WaitingIndex } from '../../src/queue/waiting/waiting-index.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const models = {
  'test/one': { concurrency: 1 },
  'test/arrival': { concurrency: 1, order: 'arrival' },
  'test/again': { concurrency: 1, attempts: 3, retry: { base: '10ms' } },
};
const { service, calls, model } = testQueue({ models, limits: 'off' });

let one: Record<string, string>;
let another: Record<string, string>;
beforeAll(async () => {
  one = keyHeader(await calls.newKey({ name: 'one' }));
  another = keyHeader(await calls.newKey({ name: 'another' }));
});

/** Keeps the only slot of a model busy until the test says so. */
async function busy(modelId: string): Promise<() => Promise<void>> {
  const id = await calls.submit(modelId, { hold: true });
  await model.arrived(id);
  return () => model.answer(id);
}

async function submitAll(path: string, count: number, headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await calls.submit(path, {}, headers));
  return ids;
}

const positionIn = async (from: QueueCalls, id: string): Promise<number | undefined> =>
  (await from.status(id)).queue_position;
const positions = (ids: string[], from = calls): Promise<(number | undefined)[]> =>
  Promise.all(ids.map((id) => positionIn(from, id)));

/** Returns the ids in the order in which the model was called with them. */
async function ran(ids: string[]): Promise<string[]> {
  await Promise.all(ids.map((id) => calls.reached(id, 'COMPLETED')));
  return model.calls.map(({ id }) => id).filter((id) => ids.includes(id));
}

test('keys take turns: a key with few requests does not wait behind the batch of another', async () => {
  const end = await busy('test/one');
  const batch = await submitAll('test/one', 5, one);
  const few = await submitAll('test/one', 2, another);
  expect(await positions(batch)).toEqual([0, 2, 4, 5, 6]);
  expect(await positions(few)).toEqual([1, 3]);
  await end();
  const order = [batch[0], few[0], batch[1], few[1], ...batch.slice(2)];
  expect(await ran([...batch, ...few])).toEqual(order);
});

test('a higher priority goes before any turn', async () => {
  const end = await busy('test/one');
  const batch = await submitAll('test/one?priority=high', 3, one);
  const few = await submitAll('test/one', 1, another);
  const urgent = await submitAll('test/one?priority=high', 1, another);
  expect(await positions([...batch, ...few, ...urgent])).toEqual([0, 2, 3, 4, 1]);
  await end();
  expect(await ran([...batch, ...few, ...urgent])).toEqual([batch[0], urgent[0], ...batch.slice(1), few[0]]);
});

test('a model with the order "arrival" runs requests in the order of arrival, whatever their key', async () => {
  const end = await busy('test/arrival');
  const ids = [
    ...(await submitAll('test/arrival', 3, one)),
    ...(await submitAll('test/arrival', 1, another)),
    ...(await submitAll('test/arrival', 1, one)),
  ];
  expect(await positions(ids)).toEqual([0, 1, 2, 3, 4]);
  await end();
  expect(await ran(ids)).toEqual(ids);
});

test('a request is retried at its old position after a failed attempt', async () => {
  const end = await busy('test/again');
  const failing = await calls.submit('test/again', { attempts: [{ status: 500 }, {}] }, one);
  const holding = await calls.submit('test/again', { hold: true }, another);
  const others = await submitAll('test/again', 3, another);
  await end();
  await model.arrived(holding);
  await until(async () => (await calls.status(failing)).reason === 'busy', { message: 'it is back' });
  expect(await positions([failing, ...others])).toEqual([0, 1, 2, 3]);
  await model.answer(holding);
  expect(await ran([failing, holding, ...others])).toEqual([failing, holding, failing, ...others]);
});

/** Ways in which waiting requests leave their queue. */
const leave = {
  'in bulk': async (ids: string[]): Promise<void> => {
    const answer = await fetch(new URL('/v1/queue/requests/cancel', service.url), {
      method: 'POST',
      headers: { ...one, 'content-type': 'application/json' },
      body: JSON.stringify({ request_ids: ids }),
    });
    expect(await answer.json()).toMatchObject({ cancelled: ids.length });
  },
  'one by one': async (ids: string[]): Promise<void> => {
    for (const id of ids) expect((await calls.cancel(id)).status).toBe(200);
  },
  'by expiry': async (ids: string[]): Promise<void> => {
    await service.query('UPDATE queue_entry SET expires_at = now() WHERE request_id = ANY ($1)', [ids]);
    await service.app.get(Expirer).runOnce();
  },
};

test.each(Object.keys(leave) as (keyof typeof leave)[])(
  'requests that leave the queue %s do not delay the next requests of their key',
  async (how) => {
    const end = await busy('test/one');
    const others = await submitAll('test/one', 3, another);
    const before = await submitAll('test/one', 1, one);
    const batch = await submitAll('test/one', 20, one);
    await leave[how](batch);
    const next = await submitAll('test/one', 2, one);
    expect(await positions([...others, ...before, ...next])).toEqual([0, 2, 4, 1, 3, 5]);
    await end();
    const order = [others[0], before[0], others[1], next[0], others[2], next[1]];
    expect(await ran([...others, ...before, ...next])).toEqual(order);
  },
);

test('requests that wait behind cancelled requests of their key retain their turn', async () => {
  const ends = [await busy('test/arrival'), await busy('test/one')];
  const arrival = await submitAll('test/arrival', 20, one);
  const others = await submitAll('test/one', 5, another);
  const fair = await submitAll('test/one', 5, one);
  await leave['in bulk'](arrival.slice(0, 10));
  await leave['one by one'](fair.slice(0, 3));
  const next = await submitAll('test/one', 1, one);
  expect(await positions([...arrival.slice(10), ...others, ...fair.slice(3), ...next])).toEqual([
    ...Array.from({ length: 10 }, (_, i) => i),
    0,
    1,
    2,
    3,
    5,
    4,
    6,
    7,
  ]);
  for (const end of ends) await end();
  await ran([...arrival.slice(10), ...others, ...fair.slice(3), ...next]);
});

test('a scheduled request takes its turn when its time has come', async () => {
  const end = await busy('test/one');
  const scheduled = await calls.submit('test/one?delay=50ms', {}, another);
  const batch = await submitAll('test/one', 5, one);
  await until(async () => (await calls.status(scheduled)).reason === 'busy', { message: 'it waits' });
  expect(await positionIn(calls, scheduled)).toBeLessThan(2);
  await end();
  await ran([...batch, scheduled]);
});

test('a refill of the waiting index does not change the order', async () => {
  const end = await busy('test/one');
  const batch = await submitAll('test/one', 6, one);
  const before = await submitAll('test/one', 1, another);
  await service.app.get(IndexSync).refill();
  const after = await submitAll('test/one', 1, another);
  expect(await positions([...batch, ...before, ...after])).toEqual([0, 2, 4, 5, 6, 7, 1, 3]);
  await end();
  await ran([...batch, ...before, ...after]);
});

test('a process that starts while no request waits continues the virtual time of the current runs', async () => {
  const end = await busy('test/one');
  const batch = await submitAll('test/one', 5, one);
  const hold = await calls.submit('test/one', { hold: true }, one);
  await end();
  await model.arrived(hold);
  const index = new WaitingIndex();
  await new IndexSync(service.app.get(Database), index, new QueueEvents(new EventEmitter2())).refill();
  const time = service.app.get(WaitingIndex).virtualTime('test/one', 0);
  expect(time).toBeGreaterThan(0);
  expect(index.reserve('test/one', 0, 1, 1_000)).toBe(time);
  await model.answer(hold);
  await ran([...batch, hold]);
});

describe('with a second node', () => {
  let other: TestService | undefined;
  let there: QueueCalls;
  beforeEach(() => (other = undefined));
  afterEach(() => other?.stop());

  async function join(): Promise<void> {
    const config = { databaseUrl: service.databaseUrl, bootstrapApiKey: service.key, role: 'api' as const };
    other = await startTestService({ config, models: model.file(models), limits: 'off' });
    there = new QueueCalls(other);
  }

  test('a request submitted on the other node takes its turn on this node', async () => {
    await join();
    const end = await busy('test/one');
    const batch = await submitAll('test/one', 6, one);
    await until(async () => (await positions([batch[5]!], there))[0] === 5, { message: 'the other knows' });
    const few = [await there.submit('test/one', {}, another), await there.submit('test/one', {}, another)];
    await until(async () => (await positions([batch[5]!]))[0] === 7, { message: 'this one knows' });
    expect(await positions([...batch, ...few])).toEqual([0, 2, 4, 5, 6, 7, 1, 3]);
    await end();
    expect(await ran([...batch, ...few])).toEqual([batch[0], few[0], batch[1], few[1], ...batch.slice(2)]);
  });

  test('the next requests of a key are placed as if its 1,000 cancelled requests had never existed', async () => {
    await join();
    const key = one['authorization']!.slice('Key '.length);
    const nodes = [service, other!];
    const [here, elsewhere] = nodes.map((node) => new CollectionCalls(node));
    const end = await busy('test/one');
    const others = await submitAll('test/one', 3, another);
    const requests = Array.from({ length: 500 }, () => ({ model_id: 'test/one', input: {} }));
    const batches = await Promise.all([here!.batch(requests, key), elsewhere!.batch(requests, key)]);
    const ids = batches.flat().map(({ request_id: id }) => id);
    expect(await elsewhere!.cancel({ request_ids: ids }, key)).toMatchObject({ cancelled: 1_000 });
    const depths = (): string => nodes.map(({ app }) => app.get(WaitingIndex).depth('test/one')).join();
    await until(() => depths() === '3,3', { message: 'both know of the cancels', explain: depths });
    const next = [await calls.submit('test/one', {}, one)];
    await until(() => depths() === '4,4', { message: 'the other knows of the next', explain: depths });
    next.push(await there.submit('test/one', {}, one));
    await until(() => depths() === '5,5', { message: 'both know of all', explain: depths });
    for (const from of [calls, there])
      expect(await positions([...others, ...next], from)).toEqual([0, 2, 4, 1, 3]);
    await end();
    expect(await ran([...others, ...next])).toEqual([others[0], next[0], others[1], next[1], others[2]]);
  });

  test('a node that has just joined continues the current order', async () => {
    const end = await busy('test/one');
    const batch = await submitAll('test/one', 10, one);
    const hold = await calls.submit('test/one', { hold: true }, one);
    const rest = await submitAll('test/one', 3, one);
    await end();
    await model.arrived(hold);
    await join();
    const few = [await there.submit('test/one', {}, another), await there.submit('test/one', {}, another)];
    await until(async () => (await positions([rest[2]!]))[0] === 4, { message: 'this one knows' });
    expect(await positions([...rest, ...few])).toEqual([1, 3, 4, 0, 2]);
    await model.answer(hold);
    await ran([...batch, ...rest, ...few]);
  });
});
