import pg from 'pg';
import { namedQuery } from '../../src/internals/named-query.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const run = (name: string | undefined, text: string, values: unknown[] = []): Promise<object[]> =>
  new Promise((resolve, reject) =>
    client.query(
      namedQuery(name, text, values, (error, result) => (error ? reject(error) : resolve(result.rows))),
    ),
  );

const prepared = (): Promise<object[]> => run(undefined, 'SELECT name FROM pg_prepared_statements');

test('a statement with a name is prepared under it, one without is not prepared', async () => {
  expect(await run(undefined, 'SELECT $1::int AS n', [1])).toEqual([{ n: 1 }]);
  expect(await prepared()).toEqual([]);
  expect(await run('a_name', 'SELECT $1::int AS n', [2])).toEqual([{ n: 2 }]);
  expect(await run('a_name', 'SELECT $1::int AS n', [3])).toEqual([{ n: 3 }]);
  expect(await prepared()).toEqual([{ name: 'a_name' }]);
});

test('a refused statement fails its own query, and the connection remains usable', async () => {
  await expect(run('refused', 'SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
  expect(await run('a_name', 'SELECT $1::int AS n', [4])).toEqual([{ n: 4 }]);
});
