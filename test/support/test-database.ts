import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { until } from './until.js';

export interface TestDatabase {
  url: string;
  /** Fails if a client is still connected, because a stopped service leaves no session behind. */
  drop(): Promise<void>;
}

/** Creates an empty database with the migrated schema. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inherited('TEST_TEMPLATE'));
}

/** Creates a database without the schema, for tests of the migrations and around them. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `nowserving_test_${randomBytes(8).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(inherited('TEST_SERVER_URL'));
  url.pathname = name;
  return {
    url: url.href,
    drop: async () => {
      try {
        await until(async () => (await sessions(name)).length === 0, {
          message: `nobody is connected to a database about to be dropped`,
          explain: () => sessions(name),
        });
      } finally {
        await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }
    },
  };
}

async function sessions(database: string): Promise<object[]> {
  return administer(
    `SELECT application_name, state, left(query, 200) AS query FROM pg_stat_activity
     WHERE datname = '${database}' AND backend_type = 'client backend'`,
  );
}

async function administer(statement: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: inherited('TEST_SERVER_URL') });
  await client.connect();
  try {
    return (await client.query<object>(statement)).rows;
  } finally {
    await client.end();
  }
}

function inherited(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the tests with npm test`);
  return value;
}
