import { keyHeader, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ limits: '1000/s' });
let keys = 0;
/** Returns a key that was not used before. */
const freshKey = (): string => `key-${++keys}`;

const submit = (
  key: string,
  input: unknown = { a: 1 },
  headers: Record<string, string> = {},
): Promise<Response> => service.submit('demo/text/echo', input, { 'idempotency-key': key, ...headers });

async function idOf(response: Response | Promise<Response>): Promise<string> {
  const answer = await response;
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { request_id: string }).request_id;
}

describe('an Idempotency-Key', () => {
  test('makes a repeated submission return the same request, marked as replayed', async () => {
    const key = freshKey();
    const first = await submit(key);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await submit(key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, again.headers.get('location')]).toEqual([202, first.headers.get('location')]);
    expect(await again.json()).toEqual(await first.json());
  });

  test('returns the same request after the request has completed', async () => {
    const key = freshKey();
    const id = await idOf(submit(key));
    await calls.reached(id, 'COMPLETED');
    expect(await idOf(submit(key))).toBe(id);
    expect((await service.query(`SELECT FROM attempt WHERE request_id = $1`, [id])).length).toBe(1);
  });

  test('makes one request of twenty that are sent at once', async () => {
    const key = freshKey();
    const before = await calls.count('request');
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(key)));
    const replayed = answers.filter(({ headers }) => headers.has('idempotent-replayed'));
    expect(replayed).toHaveLength(19);
    expect(new Set(await Promise.all(answers.map(idOf))).size).toBe(1);
    expect(await calls.count('request')).toBe(before + 1);
  });

  test('accepts one of twenty concurrent submissions with different bodies and refuses the others', async () => {
    const key = freshKey();
    const before = await calls.count('request');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => submit(key, { i })));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status !== 202) expect(await verdict(answer)).toEqual([422, 'idempotency_key_reused']);
    }
    expect(await calls.count('request')).toBe(before + 1);
  });

  test('refuses another model and another body, even with equivalent JSON', async () => {
    const key = freshKey();
    await idOf(submit(key));
    expect(await verdict(submit(key, { a: 2 }))).toEqual([422, 'idempotency_key_reused']);
    const headers = { ...keyHeader(service.key), 'idempotency-key': key };
    const spaced = fetch(`${service.url}/v1/queue/demo/text/echo`, {
      method: 'POST',
      headers,
      body: '{ "a": 1 }',
    });
    expect(await verdict(spaced)).toEqual([422, 'idempotency_key_reused']);
    const elsewhere = service.submit('demo/text/flaky', { fail_attempts: 0 }, { 'idempotency-key': key });
    expect(await verdict(elsewhere)).toEqual([422, 'idempotency_key_reused']);
  });

  test('is the same with and without quotes', async () => {
    const key = freshKey();
    const id = await idOf(submit(`"${key}"`));
    expect(await idOf(submit(key))).toBe(id);
    expect(await idOf(submit(` ${key} `))).toBe(id);
    expect(await idOf(submit(key.toUpperCase()))).not.toBe(id);
  });

  test('belongs to its API key', async () => {
    const key = freshKey();
    const id = await idOf(submit(key));
    const other = keyHeader(await calls.newKey());
    const theirs = await submit(key, { a: 2 }, other);
    expect(theirs.headers.get('idempotent-replayed')).toBeNull();
    expect(await idOf(theirs)).not.toBe(id);
  });

  test('is not used up by a submission that was refused', async () => {
    const key = freshKey();
    const refused = service.submit('demo/image/fractal', { width: 1 }, { 'idempotency-key': key });
    expect(await verdict(refused)).toEqual([422, 'invalid_input']);
    const accepted = await submit(key);
    expect([accepted.status, accepted.headers.get('idempotent-replayed')]).toEqual([202, null]);
  });

  test('is free again after 24 hours', async () => {
    const key = freshKey();
    const id = await idOf(submit(key));
    const age = `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = $1`;
    await service.query(age, [key]);
    const later = await submit(key, { a: 2 });
    expect(later.headers.get('idempotent-replayed')).toBeNull();
    expect(await idOf(later)).not.toBe(id);
    expect(await verdict(submit(key))).toEqual([422, 'idempotency_key_reused']);
  });

  const malformed = ['', ' ', '""', 'a b', '"open', 'a"b', 'ö', 'k'.repeat(256)];
  test.each(malformed)('must be well-formed: %j is refused', async (key) => {
    const before = await calls.count('request');
    expect(await verdict(submit(key))).toEqual([400, 'invalid_idempotency_key']);
    expect(await calls.count('request')).toBe(before);
  });

  test('is stored with the id of its request', async () => {
    const key = freshKey();
    const id = await idOf(submit(key));
    const rows = await service.query(
      `SELECT idempotency_key.request_id FROM idempotency_key JOIN request ON id = request_id WHERE key = $1`,
      [key],
    );
    expect(rows).toEqual([{ request_id: id }]);
  });
});
