import { until } from '../support/index.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { completions, recordCompletions } from '../support/completions.js';
import { problemOf, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/one': { concurrency: 1 }, 'test/two': { concurrency: 8 } },
  limits: '10000/s',
});
const collection = new CollectionCalls(service);

const counts = (more: object) => ({
  cancelled: 0,
  cancellation_requested: 0,
  already_completed: 0,
  unknown: 0,
  more: false,
  ...more,
});

async function batch(count: number, model_id: string, more: object = {}): Promise<string[]> {
  const results = await collection.batch(
    Array.from({ length: count }, () => ({ model_id, input: {}, ...more })),
  );
  return results.map(({ request_id: id }) => id!);
}

/** Occupies the slot of test/one. */
async function running(): Promise<string> {
  const id = await calls.submit('test/one?tag=busy:yes', { hold: true });
  await model.arrived(id);
  return id;
}

test('a cancel by ids cancels waiting requests, asks runs to stop, and counts the rest', async () => {
  const done = await calls.run('test/two');
  const erased = await calls.run('test/two');
  await collection.erase(erased);
  const foreign = await calls.submit(
    'test/two?delay=1h',
    {},
    { authorization: `Key ${await calls.newKey()}` },
  );
  const runs = await running();
  const waiting = await batch(5, 'test/one');
  const scheduled = await batch(2, 'test/one', { delay: '1h' });
  const strangers = [foreign, erased, unknownId(), 'nonsense', ''];
  const all = [...waiting, done, runs, ...scheduled, ...strangers];
  const answer = await collection.cancel({ request_ids: [...all, ...all] });
  expect(answer).toEqual(
    counts({ cancelled: 7, cancellation_requested: 1, already_completed: 1, unknown: 5 }),
  );
  await calls.reached(runs, 'COMPLETED');
  for (const id of [...waiting, ...scheduled]) {
    expect(await calls.status(id)).toMatchObject({
      success: false,
      error: { code: 'cancelled' },
      attempt: 1,
    });
    expect(model.times(id)).toBe(0);
  }
  expect(await calls.status(foreign)).toMatchObject({ status: 'IN_QUEUE' });
  expect(await collection.cancel({ request_ids: [runs, ...waiting] })).toEqual(
    counts({ already_completed: 6 }),
  );
  expect(await calls.count('queue_entry')).toBe(0);
});

test('a cancel by filter applies to matching requests that have not completed', async () => {
  const runs = await running();
  const mine = await batch(4, 'test/one', { tag: ['book:7', 'page:1'] });
  const later = await batch(2, 'test/two', { tag: 'book:7', delay: '1h' });
  const others = await batch(2, 'test/one', { tag: 'book:8' });
  const foreign = await collection.batch(
    [{ model_id: 'test/one', input: {}, tag: 'book:7' }],
    await calls.newKey(),
  );
  expect(await collection.cancel({ filter: { tag: ['book:7', 'page:2'] } })).toEqual(counts({}));
  expect(await collection.cancel({ filter: { tag: 'book:7', status: 'COMPLETED' } })).toEqual(counts({}));
  expect(await collection.cancel({ filter: { tag: 'book:7', model_id: 'test/two' } })).toEqual(
    counts({ cancelled: 2 }),
  );
  expect(await collection.cancel({ filter: { tag: ['book:7'] } })).toEqual(counts({ cancelled: 4 }));
  expect(await collection.cancel({ filter: { tag: 'busy:yes' } })).toEqual(
    counts({ cancellation_requested: 1 }),
  );
  await Promise.all([runs, ...others].map((id) => calls.reached(id, 'COMPLETED')));
  expect([...mine, ...later].map((id) => model.times(id))).toEqual([0, 0, 0, 0, 0, 0]);
  expect(others.map((id) => model.times(id))).toEqual([1, 1]);
  await calls.reached(foreign[0]!.request_id!, 'COMPLETED');
});

test('one call cancels at most 10,000 requests, and the next call continues', async () => {
  const end = await running();
  await service.query(
    `WITH fresh AS (
       INSERT INTO request (id, model_id, api_key_id, seq, tags)
       SELECT overlay(gen_random_uuid()::text PLACING left(uuid_at(now() + n * interval '1 ms')::text, 14) || '7' FROM 1)::uuid,
              'test/one', (SELECT api_key_id FROM request WHERE id = $1), nextval('request_seq'), '{many:1}'
       FROM generate_series(1, 10500) AS n
       RETURNING id, model_id, priority, seq, api_key_id
     )
     INSERT INTO queue_entry (model_id, priority, seq, request_id, api_key_id)
     SELECT model_id, priority, seq, id, api_key_id FROM fresh`,
    [end],
  );
  const filter = { tag: 'many:1' };
  expect(await collection.cancel({ filter })).toEqual(counts({ cancelled: 10_000, more: true }));
  expect(await collection.cancel({ filter })).toEqual(counts({ cancelled: 500 }));
  expect(await collection.cancel({ filter })).toEqual(counts({}));
  await model.answer(end);
  await calls.reached(end, 'COMPLETED');
}, 30_000);

test('the positions of the remaining requests change at once', async () => {
  const runs = await running();
  const ids = await batch(6, 'test/one');
  await collection.cancel({ request_ids: ids.slice(1, 4) });
  const positions = await Promise.all(
    [ids[0]!, ids[4]!, ids[5]!].map(async (id) => (await calls.status(id)).queue_position),
  );
  expect(positions).toEqual([0, 1, 2]);
  await collection.cancel({ request_ids: [runs, ...ids] });
  await calls.reached(runs, 'COMPLETED');
});

test('requests that are claimed and cancelled concurrently complete once, and never run if cancelled before a start', async () => {
  await recordCompletions(service);
  model.hold();
  const ids = await batch(400, 'test/two', { tag: 'raced:1' });
  await until(() => model.running === 8);
  model.release();
  const answers = await Promise.all([
    collection.cancel({ request_ids: ids }),
    collection.cancel({ request_ids: ids.toReversed() }),
    collection.cancel({ filter: { tag: 'raced:1' } }),
    ...ids.slice(0, 20).map((id) => calls.cancel(id).then(() => ({}))),
  ]);
  for (const answer of answers.slice(0, 2)) {
    const {
      cancelled,
      cancellation_requested: requested,
      already_completed: completed,
      unknown,
    } = answer as Record<string, number>;
    expect([cancelled! + requested! + completed!, unknown]).toEqual([400, 0]);
  }
  const rows = await until(async () => {
    const found = await service.query<{ id: string; outcome: string; attempt: number; completions: number }>(
      `SELECT id, outcome, attempt, ${completions} AS completions FROM request WHERE id = ANY ($1) AND state = 'COMPLETED'`,
      [ids],
    );
    return found.length === 400 && found;
  });
  for (const { id, outcome, attempt, completions: times } of rows) {
    const runs = model.times(id);
    expect({ id, times }).toEqual({ id, times: 1 });
    if (attempt === 0) expect({ id, outcome, runs }).toEqual({ id, outcome: 'cancelled', runs: 0 });
    else expect(['succeeded', 'cancelled']).toContain(outcome);
    if (outcome === 'succeeded') expect(runs).toBe(1);
  }
  expect([await calls.count('queue_entry'), await calls.count('lease')]).toEqual([0, 0]);
});

test.each([
  ['{}', 'bad_request', 'either "request_ids" or "filter"'],
  ['{"request_ids":["x"],"filter":{"tag":"a:b"}}', 'bad_request', 'either "request_ids" or "filter"'],
  ['{"request_ids":[],"filter":{"tag":"a:b"}}', 'bad_request', 'either "request_ids" or "filter"'],
  ['{"request_ids":[]}', 'bad_request', '1 to 10000 ids'],
  ['{"request_ids":[1]}', 'bad_request', '1 to 10000 ids'],
  ['{"filter":{}}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":{"tag":"","model_id":null}}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":{"tag":[]}}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":{"tag":["",null]}}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":[]}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":"tag"}', 'bad_request', 'at least one filter of the list'],
  ['{"filter":{"tags":"a:b"}}', 'invalid_query', 'did you mean "tag"?'],
  ['{"filter":{"limit":"1"}}', 'invalid_query', 'There is no option "limit"'],
  ['{"filter":{"tag":{}}}', 'invalid_query', 'expected key:value'],
  ['{"filter":{"model_id":"a\\u0000"}}', 'invalid_input', 'contains a NUL character'],
  ['{"filter":{"created_after":0}}', 'invalid_query', 'expected one text'],
  ['nothing', 'invalid_json', 'not valid JSON'],
])('%s is refused', async (body, code, detail) => {
  const problem = await problemOf(await collection.call('POST', '/cancel', body));
  expect(problem).toMatchObject({ code, detail: expect.stringContaining(detail) });
});

test.each(['', '/status', '/cancel', '/00000000-0000-7000-8000-000000000000/retry'])(
  'an option in the query of POST %p is refused, not ignored',
  async (path) => {
    const problem = await problemOf(await collection.call('POST', `${path}?priority=high`, {}));
    expect(problem).toMatchObject({
      code: 'invalid_query',
      detail: 'There is no option "priority". This call takes none in its query.',
    });
  },
);

test('a cancel of many requests needs a key with the scope cancel', async () => {
  const reader = await calls.newKey({ scopes: ['submit', 'read'] });
  expect(await verdict(collection.call('POST', '/cancel', { request_ids: ['x'] }, reader))).toEqual([
    403,
    'forbidden',
  ]);
  const answer = fetch(`${service.url}/v1/queue/requests/cancel`, {
    method: 'POST',
    body: '{"request_ids":["x"]}',
  });
  expect(await verdict(answer)).toEqual([401, 'missing_key']);
});

test('100 ids count as one call, a filter as one', async () => {
  const key = await calls.newKey({ rateLimitOther: '10/h' });
  const cancel = async (which: object) => {
    const answer = await collection.call('POST', '/cancel', which, key);
    return [answer.status, answer.headers.get('x-ratelimit-remaining')];
  };
  expect(await cancel({ request_ids: Array.from({ length: 750 }, unknownId) })).toEqual([200, '2']);
  expect(await cancel({ filter: { tag: 'no:thing' } })).toEqual([200, '1']);
  expect(await cancel({ request_ids: Array.from({ length: 300 }, unknownId) })).toEqual([403, '0']);
});
