import { CollectionCalls } from '../support/collection-calls.js';
import { problemOf, type Status, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({
  models: { 'test/one': {}, 'test/two': {}, 'test/held': { concurrency: 1 } },
  limits: '10000/s',
});
const collection = new CollectionCalls(service);

/** Submits requests, and returns their ids newest first, like a list. */
async function submitTagged(count: number, path: string, key: string): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.unshift(await calls.submit(path, {}, { authorization: `Key ${key}` }));
  return ids;
}

/** Ids of one millisecond have no order of time; the list orders by id. */
const newestFirst = (ids: string[]): string[] => ids.toSorted().reverse();

describe('the list of a key', () => {
  let key: string;
  let ids: string[];

  beforeAll(async () => {
    key = await calls.newKey();
    ids = newestFirst([
      ...(await submitTagged(4, 'test/one?tag=job:1&tag=team:a', key)),
      ...(await submitTagged(3, 'test/two?tag=job:1', key)),
      ...(await submitTagged(3, 'test/two?tag=job:2&tag=team:a', key)),
    ]);
    await Promise.all(ids.map((id) => calls.reached(id, 'COMPLETED')));
  });

  test('has only its own requests, newest first, as status objects', async () => {
    await calls.submit('test/one');
    const { data, next_cursor: next } = await collection.page('', key);
    expect(data.map(({ request_id: id }) => id)).toEqual(ids);
    expect(next).toBeNull();
    expect(data[0]).toEqual(await calls.status(ids[0]!));
    expect(await collection.page('', await calls.newKey())).toEqual({ data: [], next_cursor: null });
  });

  test('has pages of `limit` requests, each with a link to the next', async () => {
    expect(await collection.pages('?limit=4', key)).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)]);
    expect(await collection.pages('?limit=5', key)).toEqual([ids.slice(0, 5), ids.slice(5)]);
    const answer = await collection.call('GET', '?limit=9', undefined, key);
    const [, url] = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
    const last = await fetch(url!, { headers: { authorization: `Key ${key}` } });
    expect(last.headers.get('link')).toBeNull();
    expect(((await last.json()) as { data: Status[] }).data.map(({ request_id: id }) => id)).toEqual(
      ids.slice(9),
    );
  });

  test('continues without gaps or repeats while requests arrive', async () => {
    const { data, next_cursor: next } = await collection.page('?limit=4', key);
    const [arrived] = await submitTagged(1, 'test/one', key);
    const rest = await collection.pages(`?cursor=${next!}`, key);
    expect([...data.map(({ request_id: id }) => id), ...rest.flat()]).toEqual(ids);
    const again = await collection.pages('?limit=100', key);
    expect(again.flat()).toEqual([arrived, ...ids]);
    ids.unshift(arrived!);
    await calls.reached(arrived!, 'COMPLETED');
  });

  test.each([
    ['?tag=job:1', 7],
    ['?tag=job:1&tag=team:a', 4],
    ['?tag=job:2&model_id=test/one', 0],
    ['?tag=nobody:has', 0],
    ['?model_id=test/two', 6],
    ['?status=COMPLETED&outcome=succeeded', 11],
    ['?status=IN_QUEUE', 0],
    ['?outcome=failed&model_id=&tag=', 0],
    ['?limit=1000', 11],
  ])('with %s has %i requests, on one page and on many', async (query, count) => {
    const all = (await collection.pages(query, key)).flat();
    expect(all).toHaveLength(count);
    expect((await collection.pages(`${query}&limit=2`.replace('limit=1000&', ''), key)).flat()).toEqual(all);
  });

  test('can begin and end at a time', async () => {
    const { created_at: at } = (await calls.status(ids[3]!)) as Status & { created_at: string };
    const since = (await collection.pages(`?created_after=${at}`, key)).flat();
    const before = (await collection.pages(`?created_before=${at}&limit=3`, key)).flat();
    expect([...since, ...before]).toEqual(ids);
    expect(since).toContain(ids[3]);
    expect(await collection.pages('?created_before=1969-01-01T00:00:00Z', key)).toEqual([[]]);
    expect(await collection.pages('?created_after=9999-01-01T00:00:00Z', key)).toEqual([[]]);
  });

  test.each([
    ['?limt=3', 'did you mean "limit"?'],
    ['?limit=x', 'whole number from 1 to 100'],
    ['?limit=0', 'whole number from 1 to 100'],
    ['?limit=1&limit=2', 'whole number from 1 to 100'],
    ['?status=DONE', 'expected one of IN_QUEUE'],
    ['?status=IN_QUEUE&status=COMPLETED', 'expected one of IN_QUEUE'],
    ['?outcome=ok', 'expected one of succeeded'],
    ['?model_id=%00', 'expected a text without NUL'],
    ['?tag=a', 'expected key:value'],
    ['?created_after=today', 'RFC 3339'],
    ['?cursor=x', 'Start the list again'],
  ])('%s is refused', async (query, detail) => {
    const problem = await problemOf(await collection.call('GET', query, undefined, key));
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_query',
      detail: expect.stringContaining(detail),
    });
  });

  test('accepts a cursor only unchanged, from its own key, and without other filters', async () => {
    const { next_cursor: next } = await collection.page('?limit=1&tag=job:1', key);
    const cursor = next!;
    expect((await collection.page(`?cursor=${cursor}&tag=job:1&limit=2`, key)).data).toHaveLength(2);
    const changed = Array.from(
      cursor,
      (character, i) => cursor.slice(0, i) + (character === 'A' ? 'B' : 'A') + cursor.slice(i + 1),
    );
    for (const query of [...changed, cursor.slice(0, -1), `${cursor}A`, `${cursor}&tag=job:2`]) {
      expect(await verdict(collection.call('GET', `?cursor=${query}`, undefined, key))).toEqual([
        400,
        'invalid_query',
      ]);
    }
    expect(await verdict(collection.call('GET', `?cursor=${cursor}`))).toEqual([400, 'invalid_query']);
  });
});

test('a page that has examined enough rows is short, and the next page continues', async () => {
  const key = await calls.newKey();
  const id = await calls.submit('test/one?tag=rare:1', {}, { authorization: `Key ${key}` });
  await calls.reached(id, 'COMPLETED');
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, seq, state, outcome, completed_at)
     SELECT overlay(gen_random_uuid()::text PLACING left(uuid_at(now() + n * interval '1 ms')::text, 14) || '7' FROM 1)::uuid,
            'test/one', (SELECT api_key_id FROM request WHERE id = $1), nextval('request_seq'), 'COMPLETED', 'succeeded', now()
     FROM generate_series(1, 2500) AS n`,
    [id],
  );
  const pages = await collection.pages('?tag=rare:1', key);
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.flat()).toEqual([id]);
});

test('requests past their retention are hidden', async () => {
  const key = await calls.newKey();
  const [newer, older] = await submitTagged(2, 'test/one', key);
  await Promise.all([newer, older].map((id) => calls.reached(id!, 'COMPLETED')));
  await service.query(`UPDATE request SET completed_at = now() - interval '1 year' WHERE id = $1`, [older]);
  expect(await collection.pages('', key)).toEqual([[newer]]);
});

test('the list needs a key with the scope read', async () => {
  expect(await verdict(service.get('/v1/queue/requests'))).toEqual([401, 'missing_key']);
  const blind = await calls.newKey({ scopes: ['submit', 'cancel'] });
  expect(await verdict(collection.call('GET', '', undefined, blind))).toEqual([403, 'forbidden']);
});
