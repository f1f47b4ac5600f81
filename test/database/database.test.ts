import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Config } from '../../src/config/config.js';
import { jsonArray, uuidArray } from '../../src/database/binary-array.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { Database } from '../../src/database/database.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

const session = { name: 'session', text: 'SELECT pg_backend_pid() AS pid' };
const terminate = { name: 'terminate', text: 'SELECT pg_terminate_backend($1)' };
const sessionsOf = { name: 'sessions', text: 'SELECT FROM pg_stat_activity WHERE pid = $1' };

let testDatabase: TestDatabase;
const pools: pg.Pool[] = [];
beforeAll(async () => (testDatabase = await createTestDatabase()));
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await testDatabase.drop();
});

function openDatabase(size: number): Database {
  const pool = createStatementPool({ url: testDatabase.url, size });
  pools.push(pool);
  return new Database(pool, new Config());
}

test('a session that ends between two statements of a transaction fails the transaction, not the process', async () => {
  const database = openDatabase(2);
  const work = database.transaction(async (query) => {
    const [{ pid } = { pid: 0 }] = await query<{ pid: number }>(session);
    await database.query(terminate, [pid]);
    // The end of the session arrives while nothing is asked of it.
    await until(async () => (await database.query(sessionsOf, [pid])).length === 0);
    await new Promise((resolve) => setImmediate(resolve));
    await query(session);
  });
  await expect(work).rejects.toMatchObject({ code: 'unavailable' });
  expect(await database.query(session)).toHaveLength(1);
});

test.each([
  ['is kept when a row was refused', 'disk_full', true],
  ['is not kept when the server only reads, because another may not', '25006', false],
])('a connection %s', async (_, code, isKept) => {
  const database = openDatabase(1);
  const before = await database.query(session);
  const refused = database.execute(`DO $$ BEGIN RAISE 'not now' USING ERRCODE = '${code}'; END $$`);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  const after = await database.query(session);
  expect(JSON.stringify(after) === JSON.stringify(before)).toBe(isKept);
});

test.each([
  ['none', [], []],
  ['one', [randomUUID()], ['{"text":"a \\"quoted\\" \\\\ word, {braces}, NULL"}']],
  [
    'many, of more bytes than characters',
    [randomUUID(), randomUUID()],
    ['"Dämmerung, 港, 🚢"', ' [1.0, 1e400] '],
  ],
  ['some that are nothing', [randomUUID()], [null, '1', null]],
])('arrays of %s arrive as they were', async (_, ids, texts) => {
  const arrays = { name: 'arrays', text: 'SELECT $1::uuid[] AS ids, $2::json[]::text[] AS texts' };
  expect(await openDatabase(1).query(arrays, [uuidArray(ids), jsonArray(texts)])).toEqual([{ ids, texts }]);
});
