import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { until } from './until.js';

export interface TestDatabase {
  url: string;
  /** Runs a statement here as the superuser, on a connection of its own. */
  run<Row extends object>(statement: string): Promise<Row[]>;
  /** Creates a role without rights of its own, and returns it with the URL by which it connects. `drop` removes it. */
  createRole(): Promise<{ role: string; url: string }>;
  /** Gives a role that a statement created here a password, and returns its URL. `drop` removes the role. */
  adoptRole(role: string): Promise<string>;
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

/** Creates an empty database with another encoding. */
export async function createEncodedDatabase(encoding: string): Promise<TestDatabase> {
  return createDatabase(`template0 ENCODING '${encoding}' LOCALE 'C'`);
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const roles: string[] = [];
  const name = `nowserving_test_${randomBytes(8).toString('hex')}`;
  // Copying the template's files takes a third of the time of writing them through the log, which is the default.
  await administer(`CREATE DATABASE ${name} STRATEGY FILE_COPY TEMPLATE ${template}`);
  const url = new URL(inherited('TEST_SERVER_URL'));
  url.pathname = name;
  const adoptRole = async (role: string): Promise<string> => {
    roles.push(role);
    await administer(`ALTER ROLE ${role} PASSWORD '${role}'`);
    const roleUrl = new URL(url);
    roleUrl.username = roleUrl.password = role;
    return roleUrl.href;
  };
  return {
    url: url.href,
    run: <Row extends object>(statement: string) => runOnce(statement, url.href) as Promise<Row[]>,
    createRole: async () => {
      const role = `nowserving_test_role_${randomBytes(8).toString('hex')}`;
      await administer(`CREATE ROLE ${role} LOGIN`);
      return { role, url: await adoptRole(role) };
    },
    adoptRole,
    drop: async () => {
      try {
        await until(async () => (await sessions(name)).length === 0, {
          message: `nobody is connected to a database about to be dropped`,
          explain: () => sessions(name),
        });
      } finally {
        await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        for (const role of roles) await administer(`DROP ROLE ${role}`);
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

let server: pg.Pool | undefined;

/** Runs a statement on the server, on a connection that all tests of a process share. */
async function administer(statement: string): Promise<object[]> {
  server ??= openServer();
  return (await server.query<object>(statement)).rows;
}

function openServer(): pg.Pool {
  const connectionString = inherited('TEST_SERVER_URL');
  return new pg.Pool({ connectionString, max: 2, allowExitOnIdle: true }).on('error', () => undefined);
}

async function runOnce(statement: string, url: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: url });
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
