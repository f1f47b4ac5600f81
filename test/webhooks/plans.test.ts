import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { claimDeliveries, dueDeliveries } from '../../src/webhooks/queries/claim-deliveries.js';
import { pruneDeliveries } from '../../src/webhooks/queries/prune-deliveries.js';
import { recordTries, releaseDelivery } from '../../src/webhooks/queries/record-tries.js';
import { QueueTables } from '../support/queue-tables.js';

let tables: QueueTables;
let database: Database;
const used = new Map<string, string>();
const terms = {
  claimedBy: randomUUID(),
  leaseMs: 60_000,
  maxOutputBytes: 10,
  limit: 4,
  limitUnproven: 4,
  roomOfOthers: 2,
  hosts: [],
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
  database.query = query.bind(database);
});
afterAll(() => tables.drop());

/** What every connection of the service would get for any values. */
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
  claim_deliveries: [`'${terms.claimedBy}'`, '1', '10', '4', '4', '2', `'{}'`, `'{}'`, `'{}'`],
};

async function expectGoodPlans(): Promise<void> {
  expect([...used.keys()]).toHaveLength(5);
  for (const name of used.keys()) {
    expect(`${name}\n${await planOf(name)}`).not.toMatch(/Seq Scan/);
  }
}

async function fill(host: string, rows: number): Promise<void> {
  await tables.rows(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host, next_try_at)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'https://' || $1, $1, now() - interval '1 hour'
     FROM generate_series(1, $2::integer)`,
    [host, rows],
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

test('a claim reads as little of thousands of deliveries as of a few, and takes some of each host', async () => {
  const pages = async (): Promise<number> => {
    const plan = await planOf('claim_deliveries', '(ANALYZE, BUFFERS, TIMING off, SUMMARY off, COSTS off)');
    const [, found = ''] = /Buffers: ([^\n]*)/.exec(plan) ?? [];
    return [...found.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  await tables.rows('TRUNCATE webhook_delivery');
  await fill('a.example', 4);
  await fill('b.example', 4);
  const few = await pages();
  await fill('a.example', 20_000);
  expect(await pages()).toBeLessThan(few + 40);
  const hosts = (await claimDeliveries(database, terms)).map(({ host }) => host);
  expect(hosts.sort((a, b) => (a < b ? -1 : 1))).toEqual([
    'a.example',
    'a.example',
    'b.example',
    'b.example',
  ]);
});
