import pg from 'pg';
import { parseRateLimits } from '../../src/config/parsers.js';
import { LimitsDatabase } from '../../src/database/limits-database.js';
import { ShareDatabase, type WriteRequest } from '../../src/limits/share-database.js';
import { ShareKeeper } from '../../src/limits/share-keeper.js';
import { AdminCalls } from '../support/admin-calls.js';
import { Caller } from '../support/caller.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader, problemOf, statusCounts } from '../support/queue-calls.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';

interface OwnKey {
  id: string;
  limits: { batch: { limit: number }[] };
}

let database: TestDatabase;
const nodes: Caller[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const { service } of nodes.splice(0)) await service.stop();
  await database.drop();
});

async function startNode(limits?: string, config: object = {}): Promise<Caller> {
  const service = await startTestService({
    ...(limits !== undefined && { limits }),
    config: { role: 'api', databaseUrl: database.url, ...config },
  });
  nodes.push(new Caller(service));
  return nodes.at(-1)!;
}

test('a burst over three nodes admits exactly the 10 calls of the limit, and refuses the others', async () => {
  const three = [await startNode(), await startNode(), await startNode()];
  const key = await three[0]!.newKey({ rateLimitSubmit: '10/h' });
  const answers = Array.from({ length: 90 }, (_, i) => i);
  const codes = await inParallel(9, answers, async (i) => (await three[i % 3]!.submit(key)).status);
  // A part of one node's share may still be on its way to the others; in the end all of it is used.
  const rest = async (): Promise<number> => (await three[codes.length % 3]!.submit(key)).status;
  await until(async () => codes.push(await rest()) > 0 && codes.filter((code) => code === 202).length === 10);
  for (let i = 0; i < 9; i++) codes.push((await three[i % 3]!.submit(key)).status);
  expect(codes.filter((code) => code === 202)).toHaveLength(10);
  expect(new Set(codes)).toEqual(new Set([202, 403]));
});

test('a call refused because another node holds the grants gets Retry-After: 1, and is admitted once that node releases them', async () => {
  const holder = await startNode('10/h');
  const key = await holder.newKey();
  expect((await holder.submit(key)).status).toBe(202);
  const other = await startNode('10/h');
  const keeper = holder.service.app.get(ShareKeeper);
  const { onAsked } = keeper;
  Object.assign(keeper, { onAsked: () => undefined });
  const refusal = await other.submit(key);
  expect([refusal.status, refusal.headers.get('retry-after')]).toEqual([403, '1']);
  Object.assign(keeper, { onAsked });
  await until(async () => (await other.submit(key)).status === 202);
});

test('limits hold across an orderly restart', async () => {
  const before = await startNode();
  const key = await before.newKey({ rateLimitSubmit: '3/h' });
  expect(await statusCounts([before.submit(key), before.submit(key)])).toEqual({ 202: 2 });
  await nodes.pop()!.service.stop();
  const after = await startNode();
  expect(await statusCounts([1, 2, 3, 4].map(() => after.submit(key)))).toEqual({ 202: 1, 403: 3 });
});

test('limits that change while nodes run are obeyed by all of them', async () => {
  const [one, two] = [await startNode(), await startNode()];
  const key = await one.newKey({ rateLimitBatch: '5/h' });
  const ownKey = async ({ service }: Caller): Promise<OwnKey> =>
    (await (await fetch(`${service.url}/v1/key`, { headers: keyHeader(key) })).json()) as OwnKey;
  const entry = { model_id: 'demo/text/echo', input: {}, delay: '1h' };
  const admittedBy = async ({ service }: Caller): Promise<number> => {
    const results = await new CollectionCalls(service).batch(Array(10).fill(entry), key);
    return results.filter(({ status }) => status === 202).length;
  };
  /** A part of one node's share may still be on its way to the other; in the end all of it is used. */
  const useAll = async (limit: number): Promise<void> => {
    let used = 0;
    const isUsed = async (): Promise<boolean> => {
      const more = (await admittedBy(one)) + (await admittedBy(two));
      used += more;
      return used >= limit;
    };
    await until(isUsed, { message: `${limit} entries are admitted` });
    expect([used, await admittedBy(one), await admittedBy(two)]).toEqual([limit, 0, 0]);
  };
  await useAll(5);
  const { id } = await ownKey(one);
  for (const limit of [12, 3]) {
    const body = { limits: { batch: `${limit}/h` } };
    await new AdminCalls(one.service).json('PATCH', `/keys/${id}`, { body });
    for (const node of [one, two])
      await until(async () => (await ownKey(node)).limits.batch[0]!.limit === limit);
    await useAll(limit);
  }
});

test('a client cannot choose its address unless a proxy is trusted', async () => {
  const node = await startNode('1/h');
  const status = async (address: string): Promise<number> =>
    (await node.status(undefined, { headers: { 'x-forwarded-for': address } })).status;
  expect([await status('203.0.113.7'), await status('203.0.113.8')]).toEqual([404, 403]);
});

test('RATE_LIMIT_STATUS=429 changes the status', async () => {
  const node = await startNode('1/h', { rateLimitStatus: 429 });
  const key = await node.newKey();
  await node.submit(key);
  for (const model of ['demo/text/echo', 'demo/text/%65cho']) {
    const refused = await node.submit(key, { model });
    expect([refused.status, (await problemOf(refused)).code]).toEqual([429, 'rate_limited']);
  }
});

test('without limits no rate-limit header is sent and no call is counted', async () => {
  const node = await startNode('off');
  const { headers } = await node.status(await node.newKey());
  expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  expect(await node.service.query('SELECT FROM limit_share')).toEqual([]);
});

test('a node without its database answers 503 with Retry-After, and recovers', async () => {
  const node = await startNode('1000/h');
  const key = await node.newKey();
  const { query, atomically } = node.service.app.get(LimitsDatabase);
  const away = (): Promise<never> => Promise.reject(new Error('away'));
  expect((await node.status(key)).status).toBe(404);
  Object.assign(node.service.app.get(LimitsDatabase), { query: away, atomically: away });
  const refusal = await until(async () => {
    const answer = await node.status(key);
    const { detail } = await problemOf(answer);
    return detail.startsWith('The service cannot check rate limits') && answer;
  });
  expect([refusal.status, Number(refusal.headers.get('retry-after')) > 0]).toEqual([503, true]);
  Object.assign(node.service.app.get(LimitsDatabase), { query, atomically });
  await until(async () => (await node.status(key)).status === 404);
});

describe('statements of a holder', () => {
  const key = { subject: 'key:a', routeClass: 'submit' as const, policy: '10/h' };
  const request = {
    key,
    limits: [10],
    windowsMs: [parseRateLimits('10/h')[0]!.windowMs],
    held: [0],
    used: [0],
    needed: [4],
    wanted: [4],
  };
  const ids = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002'] as const;
  const write = (shares: number[]): WriteRequest => ({
    rows: [{ key, shares, used: [0] }],
    forgotten: [],
    silent: [],
  });

  async function registered(): Promise<{ node: Caller; on: ShareDatabase }> {
    const node = await startNode();
    const on = node.service.app.get(ShareDatabase);
    // The node's own holder would be a third one.
    await node.service.app.get(ShareKeeper).stop();
    for (const id of ids) await on.register(id);
    return { node, on };
  }

  const shares = async ({ service }: Caller): Promise<unknown[]> =>
    (await service.query<{ shares: number[] }>('SELECT shares FROM limit_share ORDER BY holder_id')).map(
      (row) => row.shares[0],
    );

  test('a write that is older than the last one changes nothing, and a grant never shrinks a row', async () => {
    const { node, on } = await registered();
    const [id] = ids;
    expect(await on.grant(id, [request], [])).toMatchObject({
      isKnown: true,
      grants: [{ shares: [4], unallocated: [6], isShort: false }],
    });
    expect(await on.write({ id, beat: 2 }, write([4]))).toMatchObject({ isKnown: true });
    expect(await on.write({ id, beat: 1 }, write([1]))).toMatchObject({ isKnown: false });
    const removal = { rows: [], forgotten: [key], silent: [] };
    expect(await on.write({ id, beat: 2 }, removal)).toMatchObject({ isKnown: false });
    await on.grant(id, [{ ...request, needed: [1], wanted: [1] }], []);
    expect(await shares(node)).toEqual([4]);
    expect(await on.write({ id, beat: 3 }, write([3]))).toMatchObject({ isKnown: true });
    expect(await shares(node)).toEqual([3]);
  });

  test('a newer write waits for an older write in progress, and its values remain', async () => {
    const { node, on } = await registered();
    const [id] = ids;
    await on.grant(id, [request], []);
    const older = new pg.Client({ connectionString: database.url });
    await older.connect();
    try {
      await older.query(
        `BEGIN; UPDATE limit_holder SET beat = 2 WHERE id = '${id}'; UPDATE limit_share SET shares = '{9}'`,
      );
      const newer = on.write({ id, beat: 3 }, write([2]));
      const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await until(async () => (await node.service.query(waits)).length === 1);
      await older.query('COMMIT');
      expect(await newer).toMatchObject({ isKnown: true });
    } finally {
      await older.end();
    }
    expect(await shares(node)).toEqual([2]);
  });

  test('a holder that was given up gets no grant, and its grants pass to others after a window', async () => {
    const { node, on } = await registered();
    const [id, other] = ids;
    await on.grant(id, [{ ...request, needed: [10], wanted: [10] }], []);
    await on.write({ id: other, beat: 1 }, { rows: [], forgotten: [], silent: [{ id, beat: 0 }] });
    expect((await on.grant(id, [request], [])).isKnown).toBe(false);
    const asked = await on.grant(other, [request], []);
    expect(asked).toMatchObject({ grants: [{ shares: [0], isShort: true }], strays: [id] });
    const goneFor = (forMs: number): { id: string; forMs: number }[] => [{ id, forMs }];
    expect(await on.grant(other, [request], goneFor(3_599_999))).toMatchObject({
      grants: [{ shares: [0] }],
    });
    expect(await on.grant(other, [request], goneFor(3_600_000))).toMatchObject({
      grants: [{ shares: [4], unallocated: [6] }],
    });
    expect(await shares(node)).toEqual([4]);
  });

  test('a lost holder with two windows counts as having used more of the longer one than its row states', async () => {
    const { node, on } = await registered();
    const [id, other] = ids;
    const both = { key: { ...key, policy: '10/s,100/m' }, limits: [10, 100], windowsMs: [1_000, 60_000] };
    const none = { held: [0, 0], used: [0, 0] };
    await on.grant(id, [{ ...both, ...none, needed: [2, 50], wanted: [2, 50] }], []);
    const used = { rows: [{ key: both.key, shares: [2, 50], used: [1, 20] }], forgotten: [], silent: [] };
    await on.write({ id, beat: 1 }, used);
    await on.write({ id: other, beat: 1 }, { rows: [], forgotten: [], silent: [{ id, beat: 1 }] });
    const all = { ...both, ...none, needed: [10, 100], wanted: [10, 100] };
    const sharesAfter = async (forMs: number): Promise<unknown> =>
      (await on.grant(other, [all], [{ id, forMs }])).grants[0]!.shares;
    // Seven seconds at two a second, plus the 20 that it wrote.
    expect(await sharesAfter(900)).toEqual([8, 66]);
    await node.service.query('DELETE FROM limit_share WHERE holder_id = $1', [other]);
    expect(await sharesAfter(1_000)).toEqual([10, 66]);
    await node.service.query('DELETE FROM limit_share WHERE holder_id = $1', [other]);
    expect(await sharesAfter(60_000)).toEqual([10, 100]);
  });
});
