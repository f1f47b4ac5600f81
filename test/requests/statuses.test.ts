import { Shares } from '../../src/limits/shares.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { problemOf, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/one': {} }, limits: '1000/s' });
const collection = new CollectionCalls(service);

test('statuses are in the order of the ids, with null for unknown, foreign or deleted requests', async () => {
  const [done, over] = [await calls.run('test/one'), await calls.run('test/one')];
  const waiting = await calls.submit('test/one?delay=1h');
  const foreign = await calls.submit('test/one', {}, { authorization: `Key ${await calls.newKey()}` });
  await service.query(`UPDATE request SET completed_at = now() - interval '1 year' WHERE id = $1`, [over]);
  const ids = [waiting, unknownId(), done, foreign, 'nonsense', '', done, over, waiting.toUpperCase()];
  const [of1, of2] = [await calls.status(waiting), await calls.status(done)];
  expect(await collection.statuses(ids)).toEqual([of1, null, of2, null, null, null, of2, null, null]);
});

test('a thousand ids are taken, and no more', async () => {
  const ids = Array.from(
    { length: 1_000 },
    (_, n) => `${unknownId().slice(0, -4)}${n.toString().padStart(4, '0')}`,
  );
  expect(await collection.statuses(ids)).toEqual(ids.map(() => null));
  expect(await verdict(collection.call('POST', '/status', { request_ids: [...ids, 'x'] }))).toEqual([
    400,
    'bad_request',
  ]);
});

test.each([
  ['{}', 'bad_request'],
  ['{"request_ids":[]}', 'bad_request'],
  ['{"request_ids":"x"}', 'bad_request'],
  ['{"request_ids":[1]}', 'bad_request'],
  ['{"request_ids":[["x"]]}', 'bad_request'],
  ['{"requestIds":["x"]}', 'invalid_query'],
  ['[]', 'invalid_json'],
  ['', 'invalid_json'],
])('%s is refused', async (body, code) => {
  expect((await problemOf(await collection.call('POST', '/status', body))).code).toBe(code);
});

test('100 ids count as one call, and a call that exceeds the limit is refused as a whole', async () => {
  const key = await calls.newKey({ rateLimitOther: '10/h' });
  const ask = (count: number) =>
    collection.call('POST', '/status', { request_ids: Array.from({ length: count }, unknownId) }, key);
  const left = async (count: number) => (await ask(count)).headers.get('x-ratelimit-remaining');
  expect([await left(100), await left(101), await left(550)]).toEqual(['9', '7', '1']);
  const refused = await ask(300);
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([403, '0']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
});

test('a call with many ids that waits for Retry-After is admitted', async () => {
  const key = await calls.newKey({ rateLimitOther: '10/m' });
  const ask = (count: number) =>
    collection.call('POST', '/status', { request_ids: Array.from({ length: count }, unknownId) }, key);
  const shares = service.app.get(Shares);
  let aheadMs = 0;
  shares.now = () => performance.now() + aheadMs;
  try {
    expect((await ask(1)).status).toBe(200);
    aheadMs += 10_000;
    const refused = await ask(1_000);
    expect(refused.status).toBe(403);
    aheadMs += Number(refused.headers.get('retry-after')) * 1_000;
    expect((await ask(1_000)).status).toBe(200);
  } finally {
    Reflect.deleteProperty(shares, 'now');
  }
});

test('a call that always exceeds the limit is refused with the largest allowed number of ids', async () => {
  const key = await calls.newKey({ rateLimitOther: '4/s' });
  const request_ids = Array.from({ length: 401 }, unknownId);
  const problem = await problemOf(await collection.call('POST', '/status', { request_ids }, key));
  expect(problem).toMatchObject({
    code: 'rate_limited',
    detail: 'This call counts as 5, and no more than 4 are allowed at once. Name at most 400 ids in a call.',
  });
});

test.each(['status', 'cancel'])('a %s call that the limits refuse is not parsed', async (call) => {
  const key = await calls.newKey({ rateLimitOther: '10/h' });
  const ids = (count: number) => `{"request_ids":[${'"x",'.repeat(count)}`;
  expect((await problemOf(await collection.call('POST', `/${call}`, ids(400), key))).code).toBe(
    'invalid_json',
  );
  expect((await problemOf(await collection.call('POST', `/${call}`, ids(900), key))).code).toBe(
    'rate_limited',
  );
});

test('statuses need a key with the scope read', async () => {
  const answer = fetch(`${service.url}/v1/queue/requests/status`, {
    method: 'POST',
    body: '{"request_ids":["x"]}',
  });
  expect(await verdict(answer)).toEqual([401, 'missing_key']);
  const blind = await calls.newKey({ scopes: ['submit', 'cancel'] });
  expect(await verdict(collection.call('POST', '/status', { request_ids: ['x'] }, blind))).toEqual([
    403,
    'forbidden',
  ]);
});
