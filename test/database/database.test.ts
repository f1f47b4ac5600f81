import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { jsonArray, uuidArray } from '../../src/database/binary-array.js';
import { reachDatabase } from '../../src/database/reach.js';
import type { DatabaseSessions } from '../../src/database/sessions.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { Database } from '../../src/database/database.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

const session = { name: 'session', text: 'SELECT pg_backend_pid() AS pid' };
const terminate = { name: 'terminate', text: 'SELECT pg_terminate_backend($1)' };
const sessionsOf = { name: 'sessions', text: 'SELECT FROM pg_stat_activity WHERE pid = $1' };

let testDatabase: TestDatabase;
const pools: pg.Pool[] = [];
let sessions: DatabaseSessions;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  sessions = await reachDatabase(testDatabase.url);
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await testDatabase.drop();
});

function openDatabase(size: number, databasePreparedStatements = true): Database {
  const pool = createStatementPool({ sessions, size });
  pools.push(pool);
  return new Database(pool, { databasePreparedStatements });
}

test('a session that ends between two statements of a transaction fails the transaction, not the process', async () => {
  const database = openDatabase(2);
  const work = database.transaction(async (query) => {
    const [{ pid } = { pid: 0 }] = await query<{ pid: number }>(session);
    await database.query(terminate, [pid]);
    // The end of the session arrives while no statement is under way.
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

describe.each([
  ['prepared', true],
  ['not prepared', false],
])('statements sent as one transaction, %s,', (_, isPrepared) => {
  const lock = { name: 'lock', text: 'SELECT pg_advisory_xact_lock($1::integer)' };
  const write = { name: 'write', text: 'INSERT INTO written VALUES ($1::integer)' };
  const read = { name: 'read', text: 'SELECT n FROM written' };
  const waiting = { name: 'waiting', text: 'SELECT FROM pg_locks WHERE NOT granted' };
  const database = (): Database => openDatabase(3, isPrepared);

  beforeEach(() => database().execute('CREATE TABLE written (n integer CHECK (n > 0))'));
  afterEach(() => database().execute('DROP TABLE written'));

  test('see rows that were committed while an earlier statement waited for a lock', async () => {
    const queries = database();
    for (const n of [1, 2]) {
      let read2: Promise<object[]> | undefined;
      await queries.transaction(async (query) => {
        await query(lock, [1]);
        read2 = queries.atomically([lock, [1]], [read, []]);
        await until(async () => (await queries.query(waiting)).length > 0);
        await query(write, [n]);
      });
      expect(await read2).toHaveLength(n);
    }
  });

  test('leave nothing when one of them fails', async () => {
    const queries = database();
    await queries.atomically([write, [1]], [write, [2]]);
    const failing = queries.atomically([write, [3]], [write, [-1]], [write, [4]]);
    await expect(failing).rejects.toThrow();
    expect(await queries.query(read)).toEqual([{ n: 1 }, { n: 2 }]);
  });
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
  const bytes = texts.map((text) => (text === null ? null : Buffer.from(text)));
  expect(jsonArray(bytes)).toEqual(jsonArray(texts));
});
