import pg from 'pg';
import { settingsOfRole } from '../../src/database/sessions.js';
import { PgBouncer } from '../../chaos/cluster/pgbouncer.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { SpawnedService, spawnService, submitTo, until } from '../support/index.js';

const key = 'test_pooler_key_0123456789';

let database: TestDatabase;
let pooler: PgBouncer;
let direct: pg.Client;
let pooledUrl: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  const { port, password, pathname } = new URL(database.url);
  pooler = await PgBouncer.start(await temporaryDirectory(), Number(port), decodeURIComponent(password));
  pooledUrl = `postgresql://anybody@127.0.0.1:${pooler.port}${pathname}`;
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  const { rows } = await direct.query<{ name: string }>(
    'SELECT name FROM pg_settings WHERE name = ANY ($1::text[])',
    [Object.keys(settingsOfRole)],
  );
  for (const { name } of rows) await setting(`SET ${name} = '${settingsOfRole[name]!}'`);
});
afterEach(async () => {
  await direct.end();
  pooler.abandon();
  await database.drop();
});

/** Changes what new sessions of the database begin with. */
const setting = (change: string): Promise<unknown> =>
  direct.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} ${change}`);

const environment = (): Record<string, string> => ({
  DATABASE_URL: pooledUrl,
  DATABASE_PREPARED_STATEMENTS: 'off',
  BOOTSTRAP_API_KEY: key,
});

/** Returns session state that outlives a transaction. The pooler would hand it on to other clients. */
async function leftBehind(): Promise<object[]> {
  const { rows } = await direct.query<object>(
    `SELECT pid, locktype, objid, state FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND state = 'idle'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows;
}

test('the keys program migrates and nodes start through a pooler in transaction mode, and they leave no lock behind', async () => {
  const program = new SpawnedService(environment(), {
    script: 'dist/src/keys.js',
    args: ['create', '--name', 'pooled'],
  });
  expect(await program.exited).toEqual({ code: 0, signal: null });
  expect(program.output).toMatch(/ns_[\w-]{43}/);
  expect(await leftBehind()).toEqual([]);

  const nodes = [await spawnService(environment()), await spawnService(environment())];
  expect(await leftBehind()).toEqual([]);
  const { status_url } = await submitTo(nodes[0]!.url, key, 'demo/text/echo', { text: 'hello' });
  await until(async () => (await (await fetch(status_url)).text()).includes('COMPLETED'));
  for (const node of nodes) await node.stop();
  expect(await leftBehind()).toEqual([]);
});

test('the migrate program applies, plans and lists through a pooler, and leaves no lock behind', async () => {
  const run = async (...args: string[]): Promise<[number | null, string]> => {
    const program = new SpawnedService(environment(), { script: 'dist/src/migrate.js', args });
    return [(await program.exited).code, program.output];
  };
  expect(await run('status')).toEqual([1, expect.stringContaining('open     Requests1790000000100\n')]);
  expect(await run()).toEqual([0, expect.stringContaining('applied Requests1790000000100\n')]);
  expect(await run('plan')).toEqual([0, expect.stringContaining('has all migrations of this release')]);
  expect(await run('status')).toEqual([0, expect.stringContaining('applied  Requests1790000000100\n')]);
  expect(await leftBehind()).toEqual([]);
});

test('a node that cannot listen behind a pooler logs the setting that it needs, and a node with it does not', async () => {
  const deaf = await spawnService(environment());
  await until(() => deaf.output.includes('set DATABASE_DIRECT_URL to the address of PostgreSQL itself'));
  const hearing = await spawnService({ ...environment(), DATABASE_DIRECT_URL: database.url });
  const { status_url } = await submitTo(hearing.url, key, 'demo/text/echo', { text: 'hello' });
  await until(async () => (await (await fetch(status_url)).text()).includes('COMPLETED'));
  await deaf.stop();
  await hearing.stop();
  expect(hearing.output).not.toContain('DATABASE_DIRECT_URL');
});

test('a start refuses a pooler that mixes up prepared statements, and prints the setting that it needs', async () => {
  const node = new SpawnedService({ ...environment(), DATABASE_PREPARED_STATEMENTS: 'on' });
  expect(await node.exited).toEqual({ code: 1, signal: null });
  expect(node.output).toContain('set DATABASE_PREPARED_STATEMENTS=off');
});

test('a start behind a pooler refuses a wrong setting with the statement that corrects it', async () => {
  await setting('RESET jit');
  await setting(`SET DateStyle = 'German'`);
  const node = new SpawnedService(environment());
  expect(await node.exited).toEqual({ code: 1, signal: null });
  expect(node.output).toMatch(/PgBouncer: RECONNECT/);
  expect(node.output).toContain(`\n  ALTER ROLE postgres SET DateStyle = 'ISO'; -- is 'German, DMY'\n`);
  expect(node.output).not.toContain('enable_sort');
});

test('a node leaves no setting on the connections of the pooler', async () => {
  const node = await spawnService(environment());
  const look = await fetch(`${node.url}/v1/admin/nodes`, { headers: { authorization: `Key ${key}` } });
  expect(look.status).toBe(200);
  await until(() => node.output.includes('DATABASE_DIRECT_URL'));
  const pool = new pg.Pool({ connectionString: pooledUrl, max: 20 });
  // All at once, so that each uses another connection of the pooler.
  const seen = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { rows } = await pool.query<{ name: string }>(
        `SELECT name FROM pg_settings, pg_sleep(0.2) WHERE name = ANY ($1::text[]) AND setting <> reset_val`,
        [[...Object.keys(settingsOfRole), 'synchronous_commit']],
      );
      return rows;
    }),
  );
  expect(seen.flat()).toEqual([]);
  await pool.end();
  await node.stop();
});
