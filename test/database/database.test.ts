import { randomUUID } from 'node:crypto';
import { Config } from '../../src/config/config.js';
import { jsonArray, uuidArray } from '../../src/database/binary-array.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { Database } from '../../src/database/database.js';
import { createTestDatabase } from '../support/index.js';

const pause = { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' };
const terminate = { name: 'terminate', text: 'SELECT pg_terminate_backend($1)' };

test('a session that ends between two statements of a transaction fails the transaction, not the process', async () => {
  const { url, drop } = await createTestDatabase();
  const pool = createStatementPool({ url, size: 2 });
  const database = new Database(pool, new Config());

  const work = database.transaction(async (query) => {
    const [session] = await query<{ pid: number }>(pause);
    await database.query(terminate, [session!.pid]);
    // The end of the session arrives while nothing is asked of it.
    for (;;) {
      const left = await database.query(
        { name: 'left', text: 'SELECT FROM pg_stat_activity WHERE pid = $1' },
        [session!.pid],
      );
      if (left.length === 0) break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    await query(pause);
  });
  await expect(work).rejects.toMatchObject({ code: 'unavailable' });
  expect(await database.query(pause)).toHaveLength(1);

  await pool.end();
  await drop();
});

test.each([
  ['is kept when a row was refused', 'disk_full', true],
  ['is not kept when the server only reads, because another may not', '25006', false],
])('a connection %s', async (_, code, isKept) => {
  const testDatabase = await createTestDatabase();
  const pool = createStatementPool({ url: testDatabase.url, size: 1 });
  const database = new Database(pool, new Config());
  const session = (): Promise<object[]> =>
    database.query({ name: 'session', text: 'SELECT pg_backend_pid() AS pid' });
  const before = await session();
  const refused = database.execute(`DO $$ BEGIN RAISE 'not now' USING ERRCODE = '${code}'; END $$`);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  const after = await session();
  await pool.end();
  await testDatabase.drop();
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
  const { url, drop } = await createTestDatabase();
  const pool = createStatementPool({ url, size: 1 });
  const database = new Database(pool, new Config());
  const arrays = { name: 'arrays', text: 'SELECT $1::uuid[] AS ids, $2::json[]::text[] AS texts' };
  expect(await database.query(arrays, [uuidArray(ids), jsonArray(texts)])).toEqual([{ ids, texts }]);
  await pool.end();
  await drop();
});
