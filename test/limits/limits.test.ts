import { KeysService } from '../../src/auth/keys.service.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import { Database } from '../../src/database/database.js';
import { LimitsDatabase } from '../../src/database/limits-database.js';
import { Gate } from '../../src/limits/gate.js';
import { ShareKeeper } from '../../src/limits/share-keeper.js';
import { ShareStorage } from '../../src/limits/limited.js';
import type { LimitSubject } from '../../src/limits/budget.js';
import { Caller, type Via } from '../support/caller.js';
import { keyHeader, problemOf, statusCounts } from '../support/queue-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';

/**
 * One node that runs nothing. A proxy's header field selects the address. An hour's window does not end during a test.
 */
let service: TestService;
let caller: Caller;

beforeAll(async () => {
  service = await startTestService({ limits: '3/h', config: { role: 'api', trustProxy: true } });
  caller = new Caller(service);
});

afterAll(() => service.stop());

let address = 0;
const newAddress = (): string => `203.0.113.${++address}`;
const from = (client: string): Via => ({ headers: { 'x-forwarded-for': client } });

const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);

const code = async (answer: Promise<Response>): Promise<string> => (await problemOf(await answer)).code;

describe.each([
  ['the fast path', { model: 'demo/text/echo', query: '' }],
  ['the controller', { model: 'demo/text/%65cho', query: '?logs=%30' }],
])('by %s', (_, { model, query }) => {
  const submit = (key?: string, via: Via = {}): Promise<Response> => caller.submit(key, { model, ...via });
  const status = (key?: string, via: Via = {}): Promise<Response> => caller.status(key, { query, ...via });

  test('a limit of 10 admits exactly 10 of 100 concurrent submissions', async () => {
    const key = await caller.newKey({ rateLimitSubmit: '10/h' });
    expect(await statusCounts(times(100, () => submit(key)))).toEqual({ 202: 10, 403: 90 });
  });

  test('the remaining count falls by one with every call', async () => {
    const key = await caller.newKey({ rateLimitSubmit: '5/h' });
    const answers = await Promise.all(times(5, () => submit(key)));
    const remaining = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  });

  test('an admitted answer carries the fields of both windows', async () => {
    const { headers } = await submit(await caller.newKey({ rateLimitSubmit: '10/s,100/m' }));
    expect(headers.get('x-ratelimit-limit')).toBe('10');
    expect(headers.get('x-ratelimit-remaining')).toBe('9');
    expect(headers.get('x-ratelimit-reset')).toBe('1');
    expect(headers.get('ratelimit-policy')).toBe('"second";q=10;w=1, "minute";q=100;w=60');
    expect(headers.get('ratelimit')).toBe('"second";r=9;t=1, "minute";r=99;t=60');
    expect(headers.get('retry-after')).toBeNull();
  });

  test('a refusal names the limit, and has Retry-After and the limit fields', async () => {
    const key = await caller.newKey({ rateLimitSubmit: '100/s,2/h' });
    await Promise.all([submit(key), submit(key)]);
    for (const refused of [await submit(key), await submit(key)]) {
      expect(refused.status).toBe(403);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
      expect(refused.headers.get('x-ratelimit-limit')).toBe('2');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(refused.headers.get('ratelimit')).toMatch(/^"second";r=\d+;t=[01], "hour";r=0;t=3\d\d\d$/);
      const { code: problem, detail, ...rest } = await problemOf(refused);
      expect(problem).toBe('rate_limited');
      expect(detail).toMatch(/^No more than 2 requests in a hour\. Try again in 3\d\d\d s\.$/);
      expect(rest).toMatchObject({ 'violated-policies': ['hour'] });
    }
  });

  test('a caller that waits for Retry-After is admitted', async () => {
    const key = await caller.newKey({ rateLimitSubmit: '2/s' });
    const refused = (await Promise.all(times(3, () => submit(key)))).find((answer) => answer.status === 403)!;
    const backAt = performance.now() + Number(refused.headers.get('retry-after')) * 1_000;
    await until(() => performance.now() >= backAt);
    expect((await submit(key)).status).toBe(202);
  });

  test("a key's own limits replace the service's limits, whether higher, lower or off", async () => {
    const burst = async (rateLimitSubmit: string): Promise<Record<number, number>> => {
      const key = await caller.newKey({ rateLimitSubmit });
      return statusCounts(times(8, () => submit(key)));
    };
    expect(await burst('5/h')).toEqual({ 202: 5, 403: 3 });
    expect(await burst('1/h')).toEqual({ 202: 1, 403: 7 });
    expect(await burst('off')).toEqual({ 202: 8 });
  });

  test('without limits no field is sent and nothing is counted', async () => {
    const key = await caller.newKey({ rateLimitSubmit: 'off' });
    const { headers } = await submit(key);
    expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    const [{ id } = { id: '' }] = (await caller.keys.list()).slice(-1);
    expect(await service.query('SELECT FROM limit_share WHERE subject = $1', [`key:${id}`])).toEqual([]);
  });

  test('submissions have windows of their own, and all other calls share another set', async () => {
    const key = await caller.newKey({ rateLimitSubmit: '1/h', rateLimitOther: '4/h' });
    const all = [submit(key), status(key), caller.stream(key), caller.response(key), caller.cancel(key)];
    expect(await statusCounts(all)).toEqual({ 202: 1, 404: 4 });
    const over = [status(key), caller.stream(key), caller.response(key), caller.cancel(key), submit(key)];
    for (const call of over) expect(await code(call)).toBe('rate_limited');
  });

  test('without a key, or with an invalid one, the address is counted before the 401', async () => {
    const via = from(newAddress());
    expect(await code(submit(undefined, via))).toBe('missing_key');
    expect(await code(submit('ns_nobody', via))).toBe('invalid_key');
    const malformed = { headers: { ...via.headers, authorization: 'Basic abc' } };
    expect(await code(submit(undefined, malformed))).toBe('invalid_key');
    expect(await code(submit('ns_somebody', via))).toBe('rate_limited');
    expect((await submit(await caller.newKey(), via)).status).toBe(202);
  });

  test('a call that the scopes of its key forbid is counted too', async () => {
    const key = await caller.newKey({ scopes: ['read'], rateLimitSubmit: '2/h' });
    for (const expected of ['forbidden', 'forbidden', 'rate_limited'])
      expect(await code(submit(key))).toBe(expected);
  });

  test('an IPv4 client is counted by its address, an IPv6 client by its /64', async () => {
    const client = newAddress();
    const network = `2001:db8:${++address}`;
    const burst = (...clients: string[]): Promise<Record<number, number>> =>
      statusCounts(clients.map((one) => status(undefined, from(one))));
    expect(await burst(client, client, `::ffff:${client}`, client)).toEqual({ 404: 3, 403: 1 });
    expect(await burst(newAddress())).toEqual({ 404: 1 });
    const network64 = [1, 2, 3, 4].map((n) => `${network}:2:${n}::9`);
    expect(await burst(...network64)).toEqual({ 404: 3, 403: 1 });
    expect(await burst(`${network}:3::1`)).toEqual({ 404: 1 });
  });
});

test('each node reports to a key the remaining calls of its limits over all nodes', async () => {
  const other = await startTestService({
    limits: '100/h',
    config: { role: 'api', databaseUrl: service.databaseUrl },
  });
  try {
    const key = await caller.newKey({ rateLimitSubmit: '20/s,8/h', rateLimitOther: 'off' });
    const leftAt = async ({ url }: TestService): Promise<number | undefined> => {
      const answer = await fetch(`${url}/v1/key`, { headers: keyHeader(key) });
      const { limits } = (await answer.json()) as { limits: { submit: { remaining: number }[] } };
      return limits.submit[1]?.remaining;
    };
    expect([await leftAt(service), await leftAt(other)]).toEqual([8, 8]);
    expect(await statusCounts(times(3, () => caller.submit(key)))).toEqual({ 202: 3 });
    expect(await leftAt(service)).toBe(5);
    // The second node takes a part of the first node's share, which makes the first write its use.
    expect((await new Caller(other).submit(key)).status).toBe(202);
    await until(async () => (await leftAt(service)) === 4 && (await leftAt(other)) === 4);
  } finally {
    await other.stop();
  }
});

test('calls of the fast path and of the controller count against the same limit', async () => {
  const key = await caller.newKey({ rateLimitSubmit: '2/h' });
  expect((await caller.submit(key)).status).toBe(202);
  expect((await caller.submit(key, { model: 'demo/text/%65cho' })).status).toBe(202);
  expect(await code(caller.submit(key))).toBe('rate_limited');
});

test('a call of a worker is counted if its key may not work', async () => {
  const claimWith = (key: string): Promise<Response> =>
    fetch(`${service.url}/v1/worker/claims`, { method: 'POST', headers: keyHeader(key), body: '{}' });
  const key = await caller.newKey({ scopes: ['read'], rateLimitOther: '2/h' });
  for (const expected of ['forbidden', 'forbidden', 'rate_limited'])
    expect(await code(claimWith(key))).toBe(expected);
  const workersKey = await caller.newKey({ scopes: ['work'], rateLimitOther: '1/h' });
  for (let call = 0; call < 3; call++) expect(await code(claimWith(workersKey))).toBe('bad_request');
});

test('the throttler counts against the same limit as the gate', async () => {
  const subject: LimitSubject = {
    subject: `address:${newAddress()}`,
    routeClass: 'other',
    limits: parseRateLimits('3/h'),
    hasKey: false,
  };
  const storage = service.app.get(ShareStorage);
  const increment = (): Promise<object> => storage.increment(JSON.stringify(subject));
  expect(await increment()).toMatchObject({ totalHits: 1, isBlocked: false, timeToBlockExpire: 0 });
  expect(await increment()).toMatchObject({ totalHits: 2, isBlocked: false });
  expect((await caller.status(undefined, from(`203.0.113.${address}`))).status).toBe(404);
  expect(await increment()).toMatchObject({ totalHits: 4, isBlocked: true, timeToBlockExpire: 3_600 });
});

test('health, the docs and the OpenAPI document have no limit fields, and count against no limit', async () => {
  for (const path of ['/health/live', '/health/ready', '/docs', '/openapi.json']) {
    for (const answer of await Promise.all(times(5, () => service.get(path))))
      expect([path, answer.status, answer.headers.has('ratelimit')]).toEqual([path, 200, false]);
  }
  expect(await service.query(`SELECT FROM limit_share WHERE subject LIKE 'address:127.%'`)).toEqual([]);
});

test("a changed limit of a key applies within about 5 s, once the node's cache of keys expires", async () => {
  const key = await caller.newKey({ rateLimitOther: '100/h' });
  const limit = async (): Promise<string | null> =>
    (await caller.status(key)).headers.get('x-ratelimit-limit');
  expect(await limit()).toBe('100');
  const [{ id } = { id: '' }] = (await caller.keys.list()).slice(-1);
  await service.query(`UPDATE api_key SET rate_limit_other = '50/h' WHERE id = $1`, [id]);
  await until(async () => (await limit()) === '50', { timeoutMs: 6_500 });
});

test('lines of a batch file count against the batch limit: lines with room are admitted, the rest get Retry-After', async () => {
  const gate = service.app.get(Gate);
  const callerOf = async (rateLimitBatch: string | null) => {
    const { id } = await caller.keys.make({ name: 'lines', rateLimitBatch });
    return (await service.app.get(KeysService).callerOf(id))!;
  };
  const bound = await callerOf('5/h');
  expect(await gate.admitItems(bound, 3)).toEqual({ admitted: 3, refusal: undefined });
  const { admitted, refusal } = await gate.admitItems(bound, 1_000);
  expect([admitted, refusal?.code]).toEqual([2, 'rate_limited']);
  expect(refusal!.options.retryAfterSeconds).toBeGreaterThan(3_500);
  expect(await gate.admitItems(bound, 1)).toMatchObject({ admitted: 0, refusal: { code: 'rate_limited' } });
  expect((await gate.quotasOf([bound]))[0]!.batch).toMatchObject([{ limit: 5, remaining: 0 }]);
  expect(await gate.admitItems(await callerOf('off'), 9_999)).toEqual({
    admitted: 9_999,
    refusal: undefined,
  });
  expect(await gate.admitItems(await callerOf(null), 9_999)).toMatchObject({ admitted: 3 });
});

describe('statements', () => {
  /** Returns the names of the statements that run during `work`, including those of the loops. */
  async function during(work: () => Promise<unknown>): Promise<string[]> {
    const names: string[] = [];
    const restore = [Database, LimitsDatabase].map((which) => {
      const database: Database = service.app.get(which);
      const { query, atomically } = database;
      database.query = (statement, values) => {
        names.push(statement.name);
        return query.call(database, statement, values) as never;
      };
      database.atomically = (...statements) => {
        names.push(...statements.map(([{ name }]) => name));
        return atomically.apply(database, statements) as never;
      };
      return () => Object.assign(database, { query, atomically });
    });
    try {
      await work();
    } finally {
      for (const one of restore) one();
    }
    return names;
  }

  test('a refusal needs no statement', async () => {
    const key = await caller.newKey({ rateLimitOther: '1/h' });
    await caller.status(key);
    const names = await during(() => Promise.all(times(100, () => caller.status(key))));
    const ofCalls = ['grant_shares', 'lock_budgets', 'find_keys', 'read_status'];
    expect(names.filter((name) => ofCalls.includes(name))).toEqual([]);
    expect(names.length).toBeLessThan(50);
  });

  test('the first calls of many callers in one turn need one grant for all', async () => {
    const shares = service.app.get(ShareKeeper);
    const limits = parseRateLimits('3/h');
    const admit = async (): Promise<unknown> =>
      shares.admit({
        subject: `address:198.51.100.${++address}`,
        routeClass: 'other',
        limits,
        hasKey: false,
      });
    const names = await during(() => Promise.all(times(100, admit)));
    expect(names.filter((name) => name === 'grant_shares')).toHaveLength(1);
  });
});
