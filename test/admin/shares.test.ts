import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { readFronts } from '../../src/overview/queries/queue-fronts.js';
import { frontSize, readKeysAtFront } from '../../src/overview/queries/waiting-keys.js';
import { readStanding } from '../../src/overview/queries/standing.js';
import { readShares, sampleSize } from '../../src/overview/queries/shares.js';
import { orderKeyOf } from '../../src/queue/waiting/fair-queue.js';
import { QueueTables } from '../support/queue-tables.js';

const [mine, other] = [randomUUID(), randomUUID()];
let tables: QueueTables;
let used: { statement: Statement; values: unknown[] } | undefined;
const beforeAllOthers = { priority: -32_768, start: 0, seq: 0 };
/** A database with the default planner settings, as for a person who reads the view. */
const database = {
  query: (statement: Statement, values: unknown[]) => {
    used = { statement, values };
    return tables.rows(statement.text, values);
  },
} as unknown as Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  for (const [id, name] of [
    [mine, 'mine'],
    [other, 'other'],
  ])
    await tables.rows(
      `INSERT INTO api_key (id, name, prefix, hash, scopes) VALUES ($1, $2, '', sha256($2::text::bytea), '{}')`,
      [id, name],
    );
});
afterAll(() => tables.drop());

async function fill(rows: number): Promise<void> {
  await tables.rows(
    `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id)
     SELECT 'test/model', 0, 0, nextval('request_seq'), gen_random_uuid(), $2 FROM generate_series(1, $1::integer)`,
    [rows, mine],
  );
  await tables.rows(
    `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, is_scheduled, ready_at)
     SELECT 'test/model', 0, 0, nextval('request_seq'), gen_random_uuid(), $2, true, now()
     FROM generate_series(1, $1::integer)`,
    [rows, mine],
  );
  await tables.rows('ANALYZE queue_entry, delayed_entry');
}

/** Returns the plan of the last statement, and how many pages it reads. */
async function look(): Promise<{ plan: string; pages: number }> {
  const how = 'ANALYZE, BUFFERS, TIMING off, SUMMARY off, COSTS off';
  const { statement, values } = used!;
  const lines = await tables.rows<Record<string, string>>(`EXPLAIN (${how}) ${statement.text}`, values);
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
  const [, buffers = ''] = /Buffers: ([^\n]*)/.exec(plan) ?? [];
  const pages = [...buffers.matchAll(/(?:hit|read)=(\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  return { plan, pages };
}

const looks: [string, () => Promise<unknown>][] = [
  ['shares, of what is counted in memory,', () => readShares(database, 'test/model', [])],
  ['shares, of a sample,', () => readShares(database, 'test/model', undefined)],
  ['who stands where', () => readStanding(database, { modelId: 'test/model', ...beforeAllOthers }, 100)],
  ['the front of the queue', () => readFronts(database, [{ modelId: 'test/model', step: 5, max: 600 }])],
  ['the keys at the front of the queue', () => readKeysAtFront(database, ['test/model'])],
];

test('queries about waiting requests cost the same at any depth of the queue', async () => {
  const pagesOf = new Map<string, number>();
  await fill(1.5 * sampleSize);
  for (const [name, ask] of looks) {
    await ask();
    pagesOf.set(name, (await look()).pages);
  }
  await fill(3 * sampleSize);
  for (const [name, ask] of looks) {
    await ask();
    const { plan, pages } = await look();
    expect(`${name}\n${plan}`).not.toMatch(/Seq Scan on (queue|delayed)_entry/);
    expect([name, pages]).toEqual([name, expect.any(Number)]);
    expect(pages).toBeLessThan(pagesOf.get(name)! * 1.5 + 20);
  }
});

test('a sample counts the requests of each key at the front of the queue, without scheduled ones', async () => {
  const rows = await readShares(database, 'test/model', undefined);
  expect(rows).toMatchObject([{ keyName: 'mine', waiting: sampleSize }]);
});

test('the keys at the front of a queue are counted without scheduled requests', async () => {
  const rows = await readKeysAtFront(database, ['test/model', 'test/other']);
  expect(rows).toEqual([{ modelId: 'test/model', keyId: mine, name: 'mine', waiting: frontSize }]);
});

test('shares use the counts of each key that are in memory', async () => {
  const counted = [
    { orderKey: orderKeyOf(other), waiting: 1_000_000, held: 3 },
    { orderKey: orderKeyOf(mine), waiting: 7, held: 0 },
    { orderKey: orderKeyOf(randomUUID()), waiting: 1, held: 0 },
  ];
  expect(await readShares(database, 'test/model', counted)).toMatchObject([
    { keyId: other, keyName: 'other', waiting: 1_000_000, held: 3 },
    { keyId: mine, keyName: 'mine', waiting: 7, held: 0 },
  ]);
});
