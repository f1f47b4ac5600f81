import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { HostLimiter } from '../../src/webhooks/host-limiter.js';
import { claimDeliveries, dueDeliveries, maxPairs } from '../../src/webhooks/queries/claim-deliveries.js';
import { readDeliveryDelays } from '../../src/webhooks/queries/delivery-delays.js';
import { pruneDeliveries } from '../../src/webhooks/queries/prune-deliveries.js';
import { recordTries, releaseDelivery } from '../../src/webhooks/queries/record-tries.js';
import { brokenByNewColumns } from '../support/grown-tables.js';
import { QueueTables } from '../support/queue-tables.js';

let tables: QueueTables;
let database: Database;
const used = new Map<string, string>();
const terms = {
  claimedBy: randomUUID(),
  claimMs: 60_000,
  maxOutputBytes: 10,
  limit: 4,
  limitUnproven: 4,
  roomOfOthers: 2,
  hosts: [],
  keys: [],
  after: null,
};
const key = { requestId: randomUUID(), deliveryId: randomUUID() };
const entry = { at: '', status: 500, duration_ms: 0, body: null, error: null };

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  const { query } = database;
  database.query = function <Row extends object>(statement: Statement, values?: unknown[]) {
    used.set(statement.name, statement.text);
    return query.call(this, statement, values) as Promise<Row[]>;
  };
  await claimDeliveries(database, terms);
  await dueDeliveries(database);
  await recordTries(database, terms.claimedBy, [{ ...key, state: 'failed', step: 1, nextInMs: 0, entry }]);
  await releaseDelivery(database, terms.claimedBy, key);
  await pruneDeliveries(database, 0);
  await readDeliveryDelays(database);
  database.query = query.bind(database);
});
afterAll(() => tables.drop());

/** Returns the plan that every connection of the service would get for any values. */
async function planOf(name: string, how = ''): Promise<string> {
  const text = used.get(name)!;
  const count = new Set(text.match(/\$\d+/g)).size;
  const values = Array.from({ length: count }, (_, i) => literals[name]?.[i] ?? 'NULL').join();
  const lines = await database.transaction(async (query) => {
    const run = (sql: string): Promise<Record<string, string>[]> => query({ name: '', text: sql });
    await run(`PREPARE plan_of AS ${text}`);
    const plan = await run(`EXPLAIN ${how} EXECUTE plan_of ${count === 0 ? '' : `(${values})`}`);
    await run('DEALLOCATE plan_of; ROLLBACK');
    return plan;
  });
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

const literals: Record<string, string[]> = {
  claim_deliveries: [
    `'${terms.claimedBy}'`,
    '1',
    '10',
    '4',
    '4',
    '2',
    ...Array.from({ length: 7 }, () => `'{}'`),
    `''`,
    `'00000000-0000-0000-0000-000000000000'`,
  ],
};

async function expectGoodPlans(): Promise<void> {
  expect([...used.keys()]).toHaveLength(6);
  for (const name of used.keys()) {
    expect(`${name}\n${await planOf(name)}`).not.toMatch(/Seq Scan/);
  }
}

async function fill(host: string, rows: number, keyId = randomUUID()): Promise<void> {
  await tables.rows(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host, next_try_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $3::uuid, 'https://' || $1, $1, now() - interval '1 hour'
     FROM generate_series(1, $2::integer)`,
    [host, rows, keyId],
  );
}

test('the statements find their rows by index, whatever the statistics say', async () => {
  await expectGoodPlans();
  await tables.rows('ANALYZE webhook_delivery, webhook_endpoint');
  await fill('one.example', 5_000);
  await expectGoodPlans();
  await tables.rows('ANALYZE webhook_delivery');
  await expectGoodPlans();
});

async function pagesOf(name: string): Promise<number> {
  const plan = await planOf(name, '(ANALYZE, BUFFERS, TIMING off, SUMMARY off, COSTS off)');
  const [, found = ''] = /Buffers: ([^\n]*)/.exec(plan) ?? [];
  return [...found.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('a claim reads about as many pages of many deliveries as of few, and takes some of each host', async () => {
  const pages = (): Promise<number> => pagesOf('claim_deliveries');
  await tables.rows('TRUNCATE webhook_delivery');
  const keyId = randomUUID();
  await fill('a.example', 4, keyId);
  await fill('b.example', 4);
  const few = await pages();
  await fill('a.example', 20_000, keyId);
  expect(await pages()).toBeLessThan(few + 40);
  const hosts = (await claimDeliveries(database, { ...terms, limit: 8, limitUnproven: 8 })).deliveries.map(
    ({ host }) => host,
  );
  expect(hosts.sort((a, b) => (a < b ? -1 : 1))).toEqual([
    'a.example',
    'a.example',
    'b.example',
    'b.example',
  ]);
});

test.each([
  ['random', `(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 100000) AS n)`],
  ['repetitive', `repeat('a', 3000000)`],
])('a claim does not read a large %s output that is not sent', async (_, large) => {
  await tables.rows('TRUNCATE webhook_delivery');
  await fill('a.example', 1);
  const [delivery] = await tables.rows<{ id: string }>(
    `UPDATE webhook_delivery SET request_id = uuid_at(now()) RETURNING request_id AS id`,
  );
  await tables.rows(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, output, completed_at)
     VALUES ($1, 'test/model', gen_random_uuid(), 'COMPLETED', 'succeeded', 0, '1', now())`,
    [delivery!.id],
  );
  await pagesOf('claim_deliveries');
  const few = await pagesOf('claim_deliveries');
  await tables.rows(`UPDATE request SET output = to_json(${large}) WHERE id = $1`, [delivery!.id]);
  expect(await pagesOf('claim_deliveries')).toBeLessThan(few + 3);
});

test('keys take turns, and a key leaves enough tries free for a new host of another key', async () => {
  await tables.rows('TRUNCATE webhook_delivery');
  const [first, second] = [randomUUID(), randomUUID()];
  for (let host = 0; host < 40; host++) await fill(`dead${host}.example`, 3, first);
  const limiter = new HostLimiter({ maxTries: 32, maxTriesOfHost: 8 });
  const claim = async (): Promise<string[]> => {
    const { deliveries } = await claimDeliveries(database, { ...terms, ...limiter.room() });
    for (const { host, signedFor } of deliveries) limiter.begin(host, signedFor);
    return deliveries.map(({ host }) => host);
  };
  // Hosts not known to answer may have 16 tries. A key takes at most as many as it leaves free, and no host gets two
  // before the others get one.
  const taken = await claim();
  expect([taken.length, new Set(taken).size]).toEqual([8, 8]);
  expect(await claim()).toEqual([]);
  await fill('new.example', 2, second);
  expect(await claim()).toEqual(['new.example', 'new.example']);
  for (let key = 0; key < 3; key++) {
    await fill(`other${key}.example`, 1);
    expect(await claim()).toEqual([`other${key}.example`]);
  }
});

test('the deliveries of several keys take turns at a shared host', async () => {
  await tables.rows('TRUNCATE webhook_delivery');
  const [first, second] = [randomUUID(), randomUUID()];
  await fill('shared.example', 1_000, first);
  await fill('shared.example', 3, second);
  const limiter = new HostLimiter({ maxTries: 64, maxTriesOfHost: 8 });
  const keys: string[] = [];
  for (let round = 0; round < 4; round++) {
    const ownTerms = { ...terms, ...limiter.room(), roomOfOthers: 1 };
    for (const { host, signedFor } of (await claimDeliveries(database, ownTerms)).deliveries) {
      limiter.begin(host, signedFor)(undefined);
      keys.push(signedFor);
    }
  }
  expect(keys.filter((key) => key === second)).toHaveLength(3);
});

test('a claim checks a limited number of hosts, and the next claim continues after them', async () => {
  await tables.rows('TRUNCATE webhook_delivery');
  const keyId = randomUUID();
  await tables.rows(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host, next_try_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1::uuid, 'https://x', 'a' || lpad(n::text, 6, '0'), now() + interval '1 day'
     FROM generate_series(1, $2::integer) AS n`,
    [keyId, maxPairs + 100],
  );
  await fill('last.example', 1);
  const first = await claimDeliveries(database, terms);
  expect(first).toEqual({ deliveries: [], after: { host: `a${String(maxPairs).padStart(6, '0')}`, keyId } });
  const second = await claimDeliveries(database, { ...terms, after: first.after });
  expect([second.deliveries.map(({ host }) => host), second.after]).toEqual([['last.example'], null]);
  expect(await dueDeliveries(database)).toMatchObject({ isAnyDue: true });
});

test('delays are found behind any number of deliveries to a dead receiver, and few of these are read', async () => {
  await tables.rows('TRUNCATE webhook_delivery');
  await tables.rows(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host, step, created_at, next_try_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1::uuid, 'https://dead.example', 'dead.example', 1,
            now() - interval '2 hours', now() + n * interval '1 second'
     FROM generate_series(1, 100000) AS n`,
    [randomUUID()],
  );
  await fill('late.example', 1);
  expect(await pagesOf('delivery_delays')).toBeLessThan(200);
  await tables.rows('ANALYZE webhook_delivery');
  expect(await pagesOf('delivery_delays')).toBeLessThan(200);
  const { overdueDeliverySeconds, failingReceiverSeconds } = await readDeliveryDelays(database);
  expect([Math.floor(overdueDeliverySeconds / 3_600), Math.floor(failingReceiverSeconds / 3_600)]).toEqual([
    1, 2,
  ]);
});

test('a migration that adds columns breaks no statement about deliveries that a running node has prepared', async () => {
  expect(await brokenByNewColumns(tables.databaseUrl, used)).toEqual([]);
});
