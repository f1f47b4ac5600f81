import { Handles } from '../../src/auth/handles.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { problemOf, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/one': { attempts: 2 } }, limits: '1000/s' });
const collection = new CollectionCalls(service);

const secret = 'the-secret-of-the-caller';
const log = `{"type":"log","message":"${secret}"}\n`;

/** Returns everything that the tables keep of a request, as text. */
async function kept(id: string): Promise<string> {
  const tables = [
    'request',
    'request_event',
    'attempt',
    'idempotency_key',
    'queue_entry',
    'delayed_entry',
    'lease',
  ];
  const texts = await Promise.all(
    tables.map((table) =>
      service.query<{ text: string }>(
        `SELECT row.*::text AS text FROM ${table} AS row WHERE ${table === 'request' ? 'id' : 'request_id'} = $1`,
        [id],
      ),
    ),
  );
  return texts
    .flat()
    .map(({ text }) => text)
    .join('\n');
}

async function erased(id: string): Promise<void> {
  const answer = await collection.erase(id);
  expect([answer.status, await answer.text()]).toEqual([204, '']);
}

test('an erasure deletes all content, and only the list still shows the request', async () => {
  const success = { type: 'application/x-ndjson', body: `${log}{"type":"output","output":"${secret}"}` };
  const failure = { status: 500, headers: { 'retry-after': '0' }, body: secret };
  const ok = await calls.run('test/one', { secret, attempts: [failure, success] });
  const bad = await calls.run('test/one', {
    secret,
    status: 422,
    type: 'application/json',
    body: `{"why":"${secret}"}`,
  });
  for (const id of [ok, bad]) {
    expect(await kept(id)).toContain(secret);
    await erased(id);
    expect(await kept(id)).not.toContain(secret);
    const path = calls.path(id);
    for (const call of ['/status', '/status?logs=1', '', '?logs=1', '/status/stream', '/output/stream'])
      expect(await verdict(service.get(path + call))).toEqual([410, 'gone']);
    expect(await verdict(calls.cancel(id))).toEqual([410, 'gone']);
    expect(await verdict(collection.retry(id))).toEqual([410, 'gone']);
    expect(await verdict(collection.erase(id))).toEqual([410, 'gone']);
    expect(await collection.statuses([id])).toEqual([null]);
  }
  const { data } = await collection.page('?limit=2');
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(data).toMatchObject([
    { request_id: bad, success: false, error: { code: 'model_error', timestamp: time }, erased_at: time },
    { request_id: ok, success: true, error: null, erased_at: time },
  ]);
  expect(JSON.stringify(data)).not.toContain(secret);
});

/** Earlier releases stored such texts when a model had cut them in the middle of a character. */
test('an erasure also deletes texts that PostgreSQL cannot read', async () => {
  for (const unreadable of ['"\\u0000"', '{"\\ud83d":"\\udc00"}', '"a\\ud800"']) {
    const failed = await calls.run('test/one', { secret, status: 422, type: 'application/json', body: '{}' });
    const ok = await calls.run('test/one', { secret });
    await service.query(
      `UPDATE request SET error = replace(error::text, '{}', $2)::json WHERE id = $1 AND error::text LIKE '%{}%'`,
      [failed, unreadable],
    );
    await service.query('UPDATE request SET input = $2, output = $2 WHERE id = $1', [ok, unreadable]);
    for (const id of [failed, ok]) {
      expect(await kept(id)).toMatch(/\\u(0000|d8)/);
      await erased(id);
      expect(await kept(id)).not.toMatch(/\\u(0000|d8)/);
    }
    const { data } = await collection.page('?limit=2');
    const [row] = await service.query<{ code: string; status: number }>(
      `SELECT error ->> 'code' AS code, (error ->> 'status')::integer AS status FROM request WHERE id = $1`,
      [failed],
    );
    expect(row).toEqual({ code: 'model_error', status: 422 });
    expect(data).toMatchObject([{ error: null }, { error: { code: 'model_error' } }]);
  }
});

test('an erasure also deletes the input of a request that was cancelled before its start', async () => {
  const id = await calls.submit('test/one?delay=1h', { secret });
  await calls.cancel(id);
  await erased(id);
  expect(await kept(id)).not.toContain(secret);
});

test('a request that has not completed cannot be erased', async () => {
  const id = await calls.submit('test/one?delay=1h', { secret });
  const answer = await collection.erase(id);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await problemOf(answer)).toMatchObject({
    status: 400,
    code: 'not_completed',
    detail: expect.stringContaining('Cancel it first'),
  });
  expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE' });
});

test('exactly one of several concurrent erasures succeeds', async () => {
  const id = await calls.run('test/one');
  const answers = await Promise.all(Array.from({ length: 10 }, () => collection.erase(id)));
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 410)]);
});

test('a retry during an erasure has the whole input or is refused', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, () => calls.run('test/one', { secret })));
  const retries = await Promise.all(
    ids.map(async (id) => {
      const [retry, erasure] = await Promise.all([collection.retry(id), collection.erase(id)]);
      expect(erasure.status).toBe(204);
      return retry;
    }),
  );
  for (const retry of retries) {
    expect([202, 410]).toContain(retry.status);
    if (retry.status !== 202) continue;
    const { request_id: id } = (await retry.json()) as { request_id: string };
    const [row] = await service.query('SELECT input FROM request WHERE id = $1', [id]);
    expect(row).toEqual({ input: { secret } });
  }
});

test('an erasure needs the key that owns the request, with the scope cancel', async () => {
  const id = await calls.run('test/one');
  expect(await verdict(collection.erase(id, await calls.newKey()))).toEqual([404, 'unknown_request']);
  expect(await verdict(collection.erase(unknownId()))).toEqual([404, 'unknown_request']);
  expect(await verdict(collection.erase('nonsense'))).toEqual([404, 'unknown_request']);
  const reader = await calls.newKey({ scopes: ['submit', 'read'] });
  expect(await verdict(collection.erase(id, reader))).toEqual([403, 'forbidden']);
  const answer = fetch(`${service.url}${calls.path(id)}`, { method: 'DELETE' });
  expect(await verdict(answer)).toEqual([401, 'missing_key']);
});

test('an erasure is audited with its key and the handle of the request', async () => {
  const id = await calls.run('test/one', { secret });
  await erased(id);
  expect((await collection.erase(id)).status).toBe(410);
  const target = service.app.get(Handles).handleOf(id);
  const rows = await service.query(
    `SELECT action, actor_key_id = request.api_key_id AS "isByItsKey", address IS NOT NULL AS "hasAddress"
     FROM audit_entry, request WHERE target = $1 AND request.id = $2`,
    [target, id],
  );
  expect(rows).toEqual([{ action: 'request.delete', isByItsKey: true, hasAddress: true }]);
});
