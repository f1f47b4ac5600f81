import type pg from 'pg';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { grantStatement } from '../../src/limits/queries/grant-shares.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createStatementPool({ url: database.url, size: 1 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

test('a grant looks up no rows but those of its budgets, also by a plan made once the table was emptied', async () => {
  await pool.query(`INSERT INTO limit_share VALUES ('key:a', 'submit', '1/s', gen_random_uuid(), '{1}', '{1}'),
                                                   ('key:b', 'submit', '1/s', gen_random_uuid(), '{1}', '{1}')`);
  await pool.query(`DELETE FROM limit_share WHERE subject = 'key:a'`);
  await pool.query('VACUUM ANALYZE limit_share');
  await pool.query('DELETE FROM limit_share');
  await pool.query('VACUUM ANALYZE limit_share');
  const { rows } = await pool.query<Record<string, string>>(`EXPLAIN (GENERIC_PLAN) ${grantStatement.text}`);
  const lines = rows.map((row) => row['QUERY PLAN']!);
  const looks = lines.flatMap((line, i) => (/Scan.* on limit_share/.test(line) ? [lines[i + 1]!] : []));
  expect(looks.length).toBeGreaterThan(2);
  for (const condition of looks)
    expect(condition).toMatch(/Index Cond: .*subject = .*route_class = .*policy = /);
});
