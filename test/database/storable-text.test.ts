import type { DataSource } from 'typeorm';
import { StorableText1790000000112 } from '../../migrations/0012-storable-text.js';
import { createDataSource } from '../../src/database/data-source.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Texts as stored before the migration, and as they are after it. */
const texts = [
  ['"a\\u0000b"', '"a\\ufffdb"'],
  [
    '{"\\u0000":[{"\\ud800":"\\udc00"}],"n": 12345678901234567890}',
    '{"\\ufffd":[{"\\ufffd":"\\ufffd"}],"n": 12345678901234567890}',
  ],
  ['"\\ud83d\\ud83d\\ude00\\ude00"', '"\\ufffd\\ud83d\\ude00\\ufffd"'],
  ['"\\uD83D\\n\\uDE00\\u0000\\u0000"', '"\\ufffd\\n\\ufffd\\ufffd\\ufffd"'],
  ['"\\\\\\u0000"', '"\\\\\\ufffd"'],
  ['"\\ud83d\\\\ude00"', '"\\ufffd\\\\ude00"'],
  ['"\\\\ud83d\\ude00"', '"\\\\ud83d\\ufffd"'],
  ['"\\ud83d"', '"\\ufffd"'],
  ['"\\\\u0000 \\\\\\\\ud800"', '"\\\\u0000 \\\\\\\\ud800"'],
  [' {"a" : "\\ud83d\\ude00", "a":1.0} ', ' {"a" : "\\ud83d\\ude00", "a":1.0} '],
  ['null', 'null'],
] as const;

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await createDataSource({ url: database.url, poolSize: 1 }).initialize();
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const query = <Row>(text: string, values: unknown[] = []): Promise<Row[]> => source.query(text, values);

async function migrate(): Promise<void> {
  const runner = source.createQueryRunner();
  await new StorableText1790000000112().up(runner);
  await runner.release();
}

test('the migration repairs stored texts that PostgreSQL cannot read, on every day, and no others', async () => {
  const id = "uuid_at(now() - day * interval '1 day' + n * interval '1 second')";
  for (const [n, [stored]] of texts.entries())
    for (const day of [0, 1])
      await query(
        `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, input, output, error, completed_at)
         SELECT ${id}, 'test/one', gen_random_uuid(), 'COMPLETED', outcome, 1, '{}',
                CASE outcome WHEN 'succeeded' THEN $3::json END,
                CASE outcome WHEN 'failed' THEN json_build_object('code', 'model_error', 'details', $3::json) END, now()
         FROM (SELECT $1::integer AS day, $2::integer + is_failed * 1000 AS n,
                      CASE is_failed WHEN 0 THEN 'succeeded' ELSE 'failed' END AS outcome
               FROM generate_series(0, 1) AS is_failed) AS one`,
        [day, n, stored],
      );
  await query(`SELECT ensure_output_partitions(now())`);
  for (const [n, [stored]] of texts.entries())
    await query(
      'INSERT INTO output_delta (request_id, attempt, index, delta) VALUES (gen_random_uuid(), 1, $1, $2)',
      [n, stored],
    );
  await migrate();
  const outputs = `SELECT output::text FROM request WHERE output IS NOT NULL ORDER BY id`;
  const clean = texts.map(([, text]) => text);
  expect((await query<{ output: string }>(outputs)).map(({ output }) => output)).toEqual([
    ...clean,
    ...clean,
  ]);
  const errors = await query<{ error: string }>(
    'SELECT error::text FROM request WHERE error IS NOT NULL ORDER BY id',
  );
  const details = clean.map((text) => `{"code" : "model_error", "details" : ${text}}`);
  expect(errors.map(({ error }) => error)).toEqual([...details, ...details]);
  const deltas = await query<{ delta: string }>('SELECT delta::text FROM output_delta ORDER BY index');
  expect(deltas.map(({ delta }) => delta)).toEqual(clean);
  // Every member can be read, in psql too.
  await query(`SELECT count(output::jsonb), count(error ->> 'details'), count(error::jsonb) FROM request`);
  await query('SELECT * FROM request_history');
});

test('a second run of the migration changes no row', async () => {
  const versions = `SELECT array_agg(xmin::text ORDER BY id) AS versions FROM request`;
  const before = await query(versions);
  await migrate();
  expect(await query(versions)).toEqual(before);
});

test('a day with more rows than one batch is repaired to its end', async () => {
  await query(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, output, completed_at)
     SELECT uuid_at(date_trunc('day', now(), 'UTC') + n * interval '1 ms'), 'test/one', gen_random_uuid(), 'COMPLETED',
            'succeeded', 1, CASE n WHEN 10007 THEN '"\\u0000"' ELSE '1' END::json, now()
     FROM generate_series(1, 10010) AS n`,
  );
  await migrate();
  expect(await query(`SELECT FROM request WHERE output::text = '"\\u0000"'`)).toEqual([]);
  expect(await query(`SELECT FROM request WHERE output::text = '1'`)).toHaveLength(10_009);
});
