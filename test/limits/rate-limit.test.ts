import { parseRateLimits } from '../../src/config/parsers.js';
import pg from 'pg';
import { type LimitedApp, problem, startLimitedApp } from '../support/rate-limit-app.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

let database: TestDatabase;
const apps: LimitedApp[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
  await query('TRUNCATE rate_usage');
});

afterAll(() => database.drop());

async function start(settings: Parameters<typeof startLimitedApp>[1]): Promise<LimitedApp> {
  const app = await startLimitedApp(database.url, settings);
  apps.push(app);
  return app;
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const submitLimits = { rateLimitSubmit: parseRateLimits('10/s,100/m') };

async function statuses(answers: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('rate limits over HTTP', () => {
  // An hour stands for the second, so that a slow machine cannot let a window pass in mid-burst.
  test('a burst of 200 submits at once admits 10 and not one more', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('10/h') });
    const key = await app.newKey();
    const answers = Array.from({ length: 200 }, () => app.submit(key));
    expect(await statuses(answers)).toEqual({ 201: 10, 403: 190 });
  });

  test('a burst over three nodes admits 10 and not one more', async () => {
    const limits = { rateLimitSubmit: parseRateLimits('10/h') };
    const nodes = [await start(limits), await start(limits), await start(limits)];
    const key = await nodes[0]!.newKey();
    const answers = Array.from({ length: 150 }, (_, i) => nodes[i % 3]!.submit(key));
    expect(await statuses(answers)).toEqual({ 201: 10, 403: 140 });
  });

  test('limits hold across a restart', async () => {
    const limits = { rateLimitSubmit: parseRateLimits('3/h') };
    const before = await start(limits);
    const key = await before.newKey();
    expect(await statuses([before.submit(key), before.submit(key)])).toEqual({ 201: 2 });
    await apps.pop()!.stop();
    const after = await start(limits);
    expect(await statuses([1, 2, 3, 4].map(() => after.submit(key)))).toEqual({ 201: 1, 403: 3 });
  });

  test('a refused caller is admitted again once the window has passed', async () => {
    const app = await start(submitLimits);
    const key = await app.newKey();
    await statuses(Array.from({ length: 20 }, () => app.submit(key)));
    await until(async () => (await app.submit(key)).status === 201);
  });

  test('an admitted answer carries the fields of both windows', async () => {
    const app = await start(submitLimits);
    const { headers } = await app.submit(await app.newKey());
    expect(headers.get('x-ratelimit-limit')).toBe('10');
    expect(headers.get('x-ratelimit-remaining')).toBe('9');
    expect(headers.get('x-ratelimit-reset')).toBe('1');
    expect(headers.get('ratelimit-policy')).toBe('"second";q=10;w=1, "minute";q=100;w=60');
    expect(headers.get('ratelimit')).toBe('"second";r=9;t=1, "minute";r=99;t=60');
    expect(headers.get('retry-after')).toBeNull();
  });

  test('the remaining count falls by one with every call of a burst', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('5/h') });
    const key = await app.newKey();
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.submit(key)));
    const remaining = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  });

  test('a refusal says which limit, when to come back, and carries the fields', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('100/s,2/h') });
    const key = await app.newKey();
    await statuses([app.submit(key), app.submit(key)]);
    for (const refused of [await app.submit(key), await app.submit(key)]) {
      expect(refused.status).toBe(403);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
      expect(refused.headers.get('x-ratelimit-limit')).toBe('2');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(refused.headers.get('ratelimit')).toMatch(/^"second";r=\d+;t=[01], "hour";r=0;t=3\d\d\d$/);
      const { code, detail, ...rest } = await problem(refused);
      expect(code).toBe('rate_limited');
      expect(detail).toMatch(/^No more than 2 requests in a hour\. Try again in 3\d\d\d s\.$/);
      expect(rest['violated-policies']).toEqual(['hour']);
    }
  });

  test('RATE_LIMIT_STATUS changes the status', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('1/h'), rateLimitStatus: 429 });
    const key = await app.newKey();
    await app.submit(key);
    const refused = await app.submit(key);
    expect(refused.status).toBe(429);
    expect((await problem(refused)).code).toBe('rate_limited');
  });

  test("a key's own limits replace the service's, above and below", async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('2/h') });
    const [more, less, free] = [
      await app.newKey({ rateLimitSubmit: '5/h' }),
      await app.newKey({ rateLimitSubmit: '1/h' }),
      await app.newKey({ rateLimitSubmit: 'off' }),
    ];
    const burst = (key: string): Promise<Record<number, number>> =>
      statuses(Array.from({ length: 8 }, () => app.submit(key)));
    expect(await burst(more)).toEqual({ 201: 5, 403: 3 });
    expect(await burst(less)).toEqual({ 201: 1, 403: 7 });
    expect(await burst(free)).toEqual({ 201: 8 });
  });

  test('submit and the other routes have windows of their own, and the others share theirs', async () => {
    const app = await start({
      rateLimitSubmit: parseRateLimits('1/h'),
      rateLimitOther: parseRateLimits('3/h'),
    });
    const key = await app.newKey();
    expect((await app.submit(key)).status).toBe(201);
    const stream = await app.call('GET', '/stream', { authorization: `Key ${key}` });
    expect((await stream.text()).match(/^data:/gm)).toHaveLength(3);
    expect((await app.read(key)).status).toBe(200);
    expect((await app.call('PUT', '/cancel', { authorization: `Key ${key}` })).status).toBe(200);
    expect((await app.read(key)).status).toBe(403);
    expect((await app.call('GET', '/stream', { authorization: `Key ${key}` })).status).toBe(403);
  });

  test('without a key, or with an invalid one, the address is counted before the 401', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('3/h') });
    expect((await problem(await app.submit())).code).toBe('missing_key');
    expect((await problem(await app.submit('ns_nobody'))).code).toBe('invalid_key');
    const malformed = await app.submit(undefined, { authorization: 'Basic abc' });
    expect((await problem(malformed)).code).toBe('invalid_key');
    expect((await problem(await app.submit('ns_somebody'))).code).toBe('rate_limited');
    expect((await app.submit(await app.newKey())).status).toBe(201);
  });

  test('a call that its scope or model forbids is counted too', async () => {
    const app = await start({ rateLimitSubmit: parseRateLimits('2/h') });
    const key = await app.newKey({ scopes: ['read'] });
    expect((await problem(await app.submit(key))).code).toBe('forbidden');
    expect((await problem(await app.submit(key))).code).toBe('forbidden');
    expect((await problem(await app.submit(key))).code).toBe('rate_limited');
  });

  test('an IPv4 client is counted by its address, an IPv6 client by its /64', async () => {
    const app = await start({ rateLimitOther: parseRateLimits('1/h'), trustProxy: true });
    const from = async (address: string): Promise<number> =>
      (await app.read(undefined, { 'x-forwarded-for': address })).status;
    expect(await from('203.0.113.7')).toBe(200);
    expect(await from('::ffff:203.0.113.7')).toBe(403);
    expect(await from('203.0.113.8')).toBe(200);
    expect(await from('2001:db8:1:2::1')).toBe(200);
    expect(await from('2001:db8:1:2:ffff::9')).toBe(403);
    expect(await from('2001:db8:1:3::1')).toBe(200);
  });

  test('a client cannot choose its address unless a proxy is trusted', async () => {
    const app = await start({ rateLimitOther: parseRateLimits('1/h') });
    expect((await app.read(undefined, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(200);
    expect((await app.read(undefined, { 'x-forwarded-for': '203.0.113.8' })).status).toBe(403);
  });

  test('without limits nothing is counted and no field is sent', async () => {
    const app = await start({});
    const { headers } = await app.submit(await app.newKey());
    expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(await query('SELECT FROM rate_usage')).toEqual([]);
  });

  test('an unlimited route carries no fields', async () => {
    const app = await start(submitLimits);
    expect((await app.call('GET', '/free')).headers.has('ratelimit')).toBe(false);
  });
});
