import pg from 'pg';
import { DataSource } from 'typeorm';
import { KeysService } from '../../src/auth/keys.service.js';
import { Database } from '../../src/database/database.js';
import { LimitsDatabase } from '../../src/database/limits-database.js';
import { ObservingDatabase } from '../../src/database/observing-database.js';
import { reachDatabase } from '../../src/database/reach.js';
import { DatabaseSessions, settingsOfRole } from '../../src/database/sessions.js';
import { AdminCalls } from '../support/admin-calls.js';
import { QueueCalls } from '../support/queue-calls.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
  until,
} from '../support/index.js';

/** What a database or a role may have set, and what each of the service's sessions would do wrong with it. */
const strange: Readonly<Record<string, string>> = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Europe/Berlin',
  extra_float_digits: '-10',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'repeatable read',
  default_transaction_read_only: 'on',
  statement_timeout: '2500ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1s',
  idle_session_timeout: '1s',
  exit_on_error: 'on',
  enable_partition_pruning: 'off',
  enable_indexscan: 'off',
  enable_nestloop: 'off',
  plan_cache_mode: 'force_custom_plan',
  jit: 'on',
};

let database: TestDatabase;

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** Sets all at once, because a new session could not change anything once the database is read-only. */
async function setForAll(settings: Readonly<Record<string, string>>): Promise<void> {
  const changes = Object.entries(settings).map(
    ([name, value]) => `ALTER DATABASE ${nameOf(database.url)} SET ${name} = '${value}'`,
  );
  await database.run(changes.join('; '));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Looks as a start does whose connection leads to a pooler. */
const findBehindPooler = (url: string, report?: (sentence: string) => void): Promise<DatabaseSessions> =>
  withClient(url, (client) => DatabaseSessions.find(client, url, report, true));

describe('a database with strange settings', () => {
  let service: TestService;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await setForAll(strange);
    service = await startTestService({ limits: 'off', config: { databaseUrl: database.url } });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const settings = `SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])`;
  const names = Object.keys(settingsOfRole);
  const ofPlanner = /^enable_(?!partition)|^plan_cache/;
  const pools: [string, () => Pick<Database, 'query'>, timeout: string, isByKey: boolean][] = [
    ['for statements', () => service.app.get(Database), '0', true],
    ['for limits', () => service.app.get(LimitsDatabase), '0', true],
    ['for looks of operators', () => service.app.get(ObservingDatabase), '2000', false],
    [
      'of TypeORM',
      () => ({ query: ({ text }, values) => service.app.get(DataSource).query(text, values) }),
      '5000',
      false,
    ],
  ];

  test.each(pools)('changes nothing in the pool %s', async (_, pool, timeout, isByKey) => {
    const rows = await pool().query<{ name: string; setting: string }>(
      { name: 'read_settings', text: settings },
      [names],
    );
    expect(rows.length).toBeGreaterThan(20);
    const wanted = rows.map(({ name }) => {
      const usual = name === 'plan_cache_mode' ? 'auto' : 'on';
      const value = !isByKey && ofPlanner.test(name) ? usual : settingsOfRole[name];
      return { name, setting: name === 'statement_timeout' ? timeout : value };
    });
    const seen = rows.map(({ name, setting }) => ({ name, setting: setting.replace(/^ISO, .*/, 'ISO') }));
    expect(seen).toEqual(wanted);
  });

  test('serves requests, keys and the audit like any other', async () => {
    const admin = new AdminCalls(service);
    const calls = new QueueCalls(service);
    const id = await calls.submit('demo/text/echo', { text: 'hello' });
    const state = (): Promise<{ state: string; created_at: string }> => admin.json('GET', `/requests/${id}`);
    await until(async () => JSON.stringify(await state()).includes('COMPLETED'));
    const created = Date.parse((await state()).created_at);
    expect(Math.abs(Date.now() - created)).toBeLessThan(3_600_000);
    const { data: events } = await admin.json<{ data: object[] }>('GET', `/requests/${id}/events`);
    expect(events).not.toHaveLength(0);

    const keys = service.app.get(KeysService);
    const { id: revoked, secret } = await keys.make({ name: 'revoked', scopes: ['observe'] });
    const look = (): Promise<Response> => admin.call('GET', '/nodes', { key: secret.reveal() });
    expect((await look()).status).toBe(200);
    expect((await admin.call('DELETE', `/keys/${revoked}`)).ok).toBe(true);
    expect((await look()).status).toBe(401);
    const { revoked_at: revokedAt } = await admin.json<{ revoked_at: string }>('GET', `/keys/${revoked}`);
    expect(revokedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await admin.all('/audit')).not.toHaveLength(0);
  });
});

describe('the settings of a role', () => {
  let url: string;
  let role: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    ({ url, role } = await database.createRole());
  });
  afterEach(() => database.drop());

  /** Returns the lines of SQL that a refusal has. */
  const linesOf = (error: unknown): string[] =>
    (error as Error).message.split('\n').filter((line) => line.startsWith('  ALTER ROLE '));

  test('are refused behind a pooler, with the SQL that corrects them and that the role may run', async () => {
    await setForAll(strange);
    const refusal: unknown = await findBehindPooler(url).catch((error: unknown) => error);
    const lines = linesOf(refusal);
    expect(lines).toContain(`  ALTER ROLE ${role} SET DateStyle = 'ISO'; -- is 'German, DMY'`);
    expect(lines).toContain(`  ALTER ROLE ${role} SET jit = 'off'; -- is 'on'`);
    expect(lines).toContain(`  ALTER ROLE ${role} SET enable_seqscan = 'off'; -- is 'on'`);
    for (const name of Object.keys(strange))
      expect(lines.filter((line) => line.includes(` SET ${name} = `))).toHaveLength(1);
    expect(String(refusal)).toMatch(/PgBouncer: RECONNECT/);

    await withClient(url, async (client) => {
      await client.query('SET default_transaction_read_only = off');
      for (const line of lines) await client.query(line);
    });
    const sessions = await findBehindPooler(url);
    expect([sessions.byKey(), sessions.usual(5_000)]).toEqual([url, url]);
  });

  test('for one database are corrected for that database only', async () => {
    await database.run(`ALTER ROLE ${role} IN DATABASE ${nameOf(url)} SET jit = on`);
    const refusal: unknown = await findBehindPooler(url).catch((error: unknown) => error);
    const line = `  ALTER ROLE ${role} IN DATABASE ${nameOf(url)} SET jit = 'off'; -- is 'on'`;
    expect(linesOf(refusal)).toContain(line);
  });

  test('are reported when another client of a pooler has changed them', async () => {
    await withClient(url, async (client) => {
      for (const line of linesOf(await findBehindPooler(url).catch((error: unknown) => error)))
        await client.query(line);
    });
    const reports: string[] = [];
    await withClient(url, async (client) => {
      await client.query(`SET DateStyle = 'German'; SET statement_timeout = '5s'`);
      await DatabaseSessions.find(client, url, (sentence) => reports.push(sentence), true);
    });
    expect(reports).toEqual([expect.stringMatching(/has changed DateStyle, statement_timeout for all/)]);
  });

  test('that only a superuser can change are refused on direct connections too', async () => {
    await database.run(`GRANT CREATE ON SCHEMA public TO ${role}; GRANT postgres TO ${role}`);
    await database.run(`ALTER ROLE ${role} SET session_replication_role = replica`);
    await expect(reachDatabase(url)).rejects.toThrow(
      `\n  ALTER ROLE ${role} SET session_replication_role = 'origin'; -- is 'replica'`,
    );
  });
});

test('startup options that the URL has already still count', async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  url.searchParams.set('options', '-c statement_timeout=7000 -c search_path=public,pg_temp');
  const sessions = await reachDatabase(url.href);
  const read = `SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout`;
  const { rows } = await withClient(sessions.usual(), (client) => client.query(read));
  expect(rows).toEqual([{ path: 'public,pg_temp', timeout: '0' }]);
  await database.drop();
});
