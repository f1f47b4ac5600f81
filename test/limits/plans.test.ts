import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { reachDatabase } from '../../src/database/reach.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { grantStatement } from '../../src/limits/share-database.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createStatementPool({ sessions: await reachDatabase(database.url), size: 1 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

test('a grant reads only the rows of its budgets, even with a plan made after the table was emptied', async () => {
  await pool.query(`INSERT INTO limit_share VALUES ('key:a', 'submit', '1/s', gen_random_uuid(), '{1}', '{1}'),
                                                   ('key:b', 'submit', '1/s', gen_random_uuid(), '{1}', '{1}')`);
  await pool.query(`DELETE FROM limit_share WHERE subject = 'key:a'`);
  await pool.query('VACUUM ANALYZE limit_share');
  await pool.query('DELETE FROM limit_share');
  await pool.query('VACUUM ANALYZE limit_share');
  const { rows } = await pool.query<Record<string, string>>(`EXPLAIN (GENERIC_PLAN) ${grantStatement.text}`);
  const lines = rows.map((row) => row['QUERY PLAN']!);
  const looks = lines.flatMap((line, i) =>
    /(?<!Tid )Scan.* on limit_share/.test(line) ? [lines[i + 1]!] : [],
  );
  expect(looks.length).toBeGreaterThan(2);
  for (const condition of looks)
    expect(condition).toMatch(/Index Cond: .*subject = .*route_class = .*policy = /);
});

test('a grant removes the rows of crashed holders for its budgets, once the rows count in no window', async () => {
  const [here, crashed, justCrashed] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query('INSERT INTO limit_holder (id) VALUES ($1)', [here]);
  for (const [subject, holder] of [
    ['key:c', crashed],
    ['key:c', justCrashed],
    ['key:d', crashed],
  ])
    await pool.query(`INSERT INTO limit_share VALUES ($1, 'submit', '2/s,9/m', $2, '{1,4}', '{1,3}')`, [
      subject,
      holder,
    ]);
  const budget = [['key:c'], ['submit'], ['2/s,9/m'], ['{2,9}'], ['{1000,60000}']];
  const asked = [['{0,0}'], ['{0,0}'], ['{1,1}'], ['{2,9}']];
  const gone = [
    [crashed, justCrashed],
    [60_000, 59_000],
  ];
  const { rows } = await pool.query<{ shares: number[] }>(grantStatement.text, [
    here,
    ...budget,
    ...asked,
    ...gone,
  ]);
  // In the window of a second, which has passed, the crashed holder counts for nothing; in the window of a minute, for
  // all that it had.
  expect(rows[0]!.shares).toEqual([2, 5]);
  const left = await pool.query(
    `SELECT subject, holder_id AS holder FROM limit_share WHERE subject IN ('key:c', 'key:d') AND holder_id <> $1
     ORDER BY subject`,
    [here],
  );
  expect(left.rows).toEqual([
    { subject: 'key:c', holder: justCrashed },
    { subject: 'key:d', holder: crashed },
  ]);
});
