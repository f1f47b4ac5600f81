import { CollectionCalls } from '../support/collection-calls.js';
import { keyHeader, problemOf, type Status, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/one': { expires: '1h' }, 'test/busy': { concurrency: 1, max_waiting: 1 } },
  limits: '1000/s',
});
const collection = new CollectionCalls(service);

async function retried(id: string, key?: string): Promise<string> {
  const answer = await collection.retry(id, key);
  const body = (await answer.json()) as Record<string, string>;
  expect([answer.status, Object.keys(body)]).toEqual([
    202,
    ['request_id', 'response_url', 'status_url', 'cancel_url'],
  ]);
  expect(answer.headers.get('location')).toBe(body['status_url']);
  return body['request_id']!;
}

const columns = async (id: string): Promise<Record<string, unknown>> => {
  const [row] = await service.query(
    `SELECT model_id, api_key_id, priority, input::text, timeout_ms, tags, webhook_url, base_url, not_before,
            round(extract(epoch FROM expires_at - coalesce(not_before, created_at)))::integer AS expires_s
     FROM request WHERE id = $1`,
    [id],
  );
  return row!;
};

test('a retry has the same input and options except the schedule, and both requests name each other', async () => {
  const query = 'priority=low&timeout=5s&expires=30m&tag=a:1&tag=b:2&webhook=https://a.example/&delay=50ms';
  const input = '{"n":123456789012345678901234567890, "b":1.0, "a":"\\u00e9"}';
  const answer = await fetch(`${service.url}/v1/queue/test/one?${query}`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: input,
  });
  const { request_id: id } = (await answer.json()) as { request_id: string };
  await calls.reached(id, 'COMPLETED');
  const again = await retried(id);
  expect(await columns(again)).toEqual({ ...(await columns(id)), not_before: null });
  expect((await columns(again))['input']).toBe(input);
  await calls.response(again);
  expect(model.calls.find((call) => call.id === again)!.body).toBe(input);
  expect(await calls.status(again)).toMatchObject({
    retry_of: id,
    tags: ['a:1', 'b:2'],
    attempt: 1,
    success: true,
  });
  expect(await calls.status(id)).toMatchObject({ retried_as: again });
  const last = await retried(id);
  expect(await calls.status(id)).toMatchObject({ retried_as: last });
  await calls.reached(last, 'COMPLETED');
  await calls.response(await retried(last));
});

describe('a retry with an Idempotency-Key', () => {
  const withKey = (id: string, key: string): Promise<Response> =>
    fetch(`${service.url}/v1/queue/requests/${id}/retry`, {
      method: 'POST',
      headers: { ...keyHeader(service.key), 'idempotency-key': key },
    });
  const idOf = async (answer: Response): Promise<string> => {
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { request_id: string }).request_id;
  };

  test('returns the same new request when it is repeated, and marks the answer as replayed', async () => {
    const id = await calls.run('test/one');
    const before = await calls.count('request');
    const answers = await Promise.all(Array.from({ length: 10 }, () => withKey(id, 'retry-1')));
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(9);
    const again = new Set(await Promise.all(answers.map(idOf)));
    expect(again.size).toBe(1);
    expect(await calls.count('request')).toBe(before + 1);
    const [made] = again;
    expect(await calls.status(id)).toMatchObject({ retried_as: made });
    await calls.reached(made!, 'COMPLETED');
    // Neither another retry nor the loss of the input removes the key.
    await calls.reached(await retried(id), 'COMPLETED');
    await service.query('UPDATE request SET input = NULL WHERE id = $1', [id]);
    expect(await idOf(await withKey(id, '"retry-1"'))).toBe(made);
    expect(await verdict(withKey(id, 'retry-2'))).toEqual([410, 'gone']);
    expect((await collection.erase(id)).status).toBe(204);
    expect(await idOf(await withKey(id, 'retry-1'))).toBe(made);
  });

  test('is refused if the key belongs to another retry or submission', async () => {
    const [id, other] = [await calls.run('test/one'), await calls.run('test/one')];
    const made = await idOf(await withKey(id, 'retry-3'));
    const before = await calls.count('request');
    expect(await verdict(withKey(other, 'retry-3'))).toEqual([422, 'idempotency_key_reused']);
    expect(await calls.status(other)).not.toHaveProperty('retried_as');
    const submitted = service.submit('test/one', {}, { 'idempotency-key': 'retry-3' });
    expect(await verdict(submitted)).toEqual([422, 'idempotency_key_reused']);
    expect(await calls.count('request')).toBe(before);
    await idOf(await service.submit('test/one', {}, { 'idempotency-key': 'retry-4' }));
    expect(await verdict(withKey(id, 'retry-4'))).toEqual([422, 'idempotency_key_reused']);
    expect(await calls.status(id)).toMatchObject({ retried_as: made });
    expect(await verdict(withKey(id, 'a b'))).toEqual([400, 'invalid_idempotency_key']);
  });

  test('creates another request once the key is older than 24 hours', async () => {
    const id = await calls.run('test/one');
    const made = await idOf(await withKey(id, 'retry-5'));
    const age = `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'retry-5'`;
    await service.query(age);
    const later = await withKey(id, 'retry-5');
    expect(later.headers.get('idempotent-replayed')).toBeNull();
    expect(await idOf(later)).not.toBe(made);
  });
});

test('a failed or cancelled request can be retried', async () => {
  const failed = await calls.run('test/one', { attempts: [{ status: 400 }] });
  await calls.response(await retried(failed));
  const cancelled = await calls.submit('test/one?delay=1h');
  await calls.cancel(cancelled);
  expect((await calls.response(await retried(cancelled))).status).toBe(200);
});

test('a retry follows the current options and limits, like a submission', async () => {
  const key = await calls.newKey({ rateLimitSubmit: '2/m' });
  const headers = keyHeader(key);
  const id = await calls.submit('test/one?expires=1h&timeout=60s', {}, headers);
  await calls.reached(id, 'COMPLETED');
  await service.query(
    `UPDATE request SET expires_at = created_at + interval '1 day', timeout_ms = 86400000 WHERE id = $1`,
    [id],
  );
  expect(await columns(await retried(id, key))).toMatchObject({ expires_s: 3_600, timeout_ms: 60_000 });
  expect(await verdict(collection.retry(id, key))).toEqual([403, 'rate_limited']);

  const done = await calls.run('test/busy');
  const running = await calls.submit('test/busy', { hold: true });
  await model.arrived(running);
  const waiting = await calls.submit('test/busy');
  expect(await verdict(collection.retry(done))).toEqual([429, 'queue_full']);
  await model.answer(running);
  await calls.reached(waiting, 'COMPLETED');

  await service.query(`UPDATE request SET model_id = 'test/gone' WHERE id = $1`, [done]);
  expect(await verdict(collection.retry(done))).toEqual([404, 'unknown_model']);
});

test('a retry is refused before completion, after the input is deleted, and for another key', async () => {
  const waiting = await calls.submit('test/one?delay=1h');
  const early = await collection.retry(waiting);
  expect([early.status, early.headers.get('retry-after')]).toEqual([400, '1']);
  expect((await problemOf(early)).code).toBe('not_completed');
  const id = await calls.run('test/one');
  await service.query('UPDATE request SET input = NULL WHERE id = $1', [id]);
  expect(await verdict(collection.retry(id))).toEqual([410, 'gone']);
  expect((await calls.status(id)) as Status & { retried_as?: string }).not.toHaveProperty('retried_as');
  expect(await verdict(collection.retry(waiting, await calls.newKey()))).toEqual([404, 'unknown_request']);
  expect(await verdict(collection.retry(unknownId()))).toEqual([404, 'unknown_request']);
  expect(await verdict(collection.retry('nonsense'))).toEqual([404, 'unknown_request']);
});

test('a retry needs a key with the scope submit', async () => {
  const reader = await calls.newKey({ scopes: ['read', 'cancel'] });
  expect(await verdict(collection.retry(unknownId(), reader))).toEqual([403, 'forbidden']);
  const answer = fetch(`${service.url}/v1/queue/requests/${unknownId()}/retry`, { method: 'POST' });
  expect(await verdict(answer)).toEqual([401, 'missing_key']);
});
