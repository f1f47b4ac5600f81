import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { createDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/migrate.js';
import { reachDatabase } from '../../src/database/reach.js';
import { PartitionKeeper } from '../../src/queue/retention/duties/partition-keeper.js';
import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { AdminCalls } from '../support/admin-calls.js';
import { blocksOf } from '../support/page-examples.js';
import { QueueCalls } from '../support/queue-calls.js';
import {
  createEmptyDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
  until,
} from '../support/index.js';

/** Roles belong to the whole server, which other tests use too. */
const prefix = `nowserving_test_role_${randomBytes(8).toString('hex')}`;
const readSql = (file: string): string =>
  readFileSync(new URL(`../../deploy/postgres/${file}`, import.meta.url), 'utf8').replaceAll(
    'nowserving',
    prefix,
  );

let database: TestDatabase;
let urls: Record<'owner' | 'service' | 'reader', string>;
let service: TestService;
let requestId: string;

/** Runs a statement in a transaction that is rolled back. */
async function tryOut(role: keyof typeof urls, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: urls[role] });
  await client.connect();
  try {
    await client.query(`BEGIN; ${sql}; ROLLBACK`);
  } finally {
    await client.end();
  }
}

async function runAsOwner(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: urls.owner });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const migrateAs = async (url: string): Promise<void> => migrate(await reachDatabase(url));

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.run(readSql('roles.sql'));
  urls = {
    owner: await database.adoptRole(`${prefix}_owner`),
    service: await database.adoptRole(prefix),
    reader: await database.adoptRole(`${prefix}_reader`),
  };
  await migrateAs(urls.owner);
  await expect(reachDatabase(urls.service)).rejects.toThrow(/run grants\.sql beside it as \w+_owner/);
  await runAsOwner(readSql('grants.sql'));
  service = await startTestService({ limits: 'off', config: { databaseUrl: urls.service } });
  requestId = await new QueueCalls(service).submit('demo/text/echo', { text: 'hello' });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

test('roles.sql and grants.sql may be run again', async () => {
  await database.run(readSql('roles.sql'));
  await runAsOwner(readSql('grants.sql'));
});

describe('the service role', () => {
  test('completes requests', async () => {
    const admin = new AdminCalls(service);
    await until(async () =>
      (await (await admin.call('GET', `/requests/${requestId}`)).text()).includes('COMPLETED'),
    );
    expect(await (await service.get('/health/ready')).json()).toMatchObject({ status: 'ok' });
  });

  test('creates and drops the tables of days, also after the owner has changed them', async () => {
    const old = `SELECT to_char(now() AT TIME ZONE 'UTC' - interval '100 days', 'YYYYMMDD') AS day`;
    const [{ day } = { day: '' }] = await service.query<{ day: string }>(old);
    const isThere = async (): Promise<boolean> =>
      (await service.query(`SELECT WHERE to_regclass('request_${day}') IS NOT NULL`)).length === 1;
    await service.query(`SELECT ensure_partitions('${day}', 1)`);
    expect(await isThere()).toBe(true);
    await runAsOwner('ALTER TABLE request ADD COLUMN trial integer; ALTER TABLE request DROP COLUMN trial');
    await runAsOwner(readSql('grants.sql'));
    await service.app.get(PartitionKeeper).runOnce();
    await service.app.get(Pruner).runOnce();
    expect(await isThere()).toBe(false);
  });

  test('drops days that a superuser made with SET ROLE, and others once grants.sql has given them to it', async () => {
    const day = (age: number): string =>
      new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    const days = async (): Promise<string[]> =>
      (
        await service.query<{ name: string }>(
          `SELECT relname AS name FROM pg_class WHERE relname IN ('request_${day(110)}', 'request_${day(105)}')`,
        )
      ).map(({ name }) => name);
    await database.run(`SET ROLE ${prefix}; SELECT ensure_partitions('${day(110)}', 1)`);
    await database.run(`SELECT ensure_partitions('${day(105)}', 1)`);
    const prune = (): Promise<void> => service.app.get(Pruner).runOnce();
    await expect(prune()).rejects.toThrow(/must be owner of table/);
    expect(await days()).toEqual([`request_${day(105)}`]);
    await database.run(readSql('grants.sql'));
    await prune();
    expect(await days()).toEqual([]);
  });

  test.each([
    'ALTER TABLE api_key DROP COLUMN hash',
    'DROP TABLE audit_entry',
    'ALTER TABLE audit_entry DISABLE TRIGGER ALL',
    'TRUNCATE session',
    'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    'DELETE FROM migrations',
    'CREATE ROLE another',
    'CREATE SCHEMA another',
    `COPY api_key TO PROGRAM 'true'`,
  ])('may not run: %s', async (sql) => {
    await expect(tryOut('service', sql)).rejects.toThrow(/must be owner|permission denied|must be superuser/);
  });
});

describe('the reader', () => {
  const views = [
    'batches',
    'group_slots',
    'key_shares',
    'model_availability',
    'model_stats',
    'queue_depth',
    'rate_limit_usage',
    'request_history',
    'running_now',
  ];

  test('reads every view of docs/database.md', async () => {
    for (const view of views) await tryOut('reader', `TABLE ${view}`);
    await tryOut(
      'reader',
      'SELECT request_id, at, kind, attempt, level, source, paused_until, step, event_id FROM request_timeline',
    );
    const all = await service.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace AND relname !~ '^recent_'`,
    );
    expect(all.map(({ name }) => name).filter((name) => !views.includes(name))).toEqual(['request_timeline']);
  });

  test.each(blocksOf('docs/database.md').filter(({ language }) => language === 'sql'))(
    'may run $name',
    // The page says that the reader leaves out the message of the history.
    ({ code }) =>
      tryOut('reader', code.replace(', message\nFROM request_timeline', '\nFROM request_timeline')),
  );

  test('reads the audit without the values of changes', async () => {
    const columns =
      'id, at, action, target, actor_key_id, actor_name, session_id, address, user_agent, http_request_id, reason';
    await tryOut('reader', `SELECT ${columns} FROM audit_entry`);
  });

  test('may no longer read what an earlier grants.sql granted', async () => {
    await runAsOwner(`GRANT SELECT ON audit_entry, request_timeline TO ${prefix}_reader`);
    await tryOut('reader', 'SELECT message FROM request_timeline');
    await runAsOwner(readSql('grants.sql'));
    await expect(tryOut('reader', 'TABLE audit_entry')).rejects.toThrow(/permission denied/);
    await expect(tryOut('reader', 'TABLE request_timeline')).rejects.toThrow(/permission denied/);
  });

  test.each([
    'SELECT hash FROM api_key',
    'SELECT name FROM api_key',
    'SELECT hash FROM session',
    'SELECT hash FROM sign_in_link',
    'TABLE webhook_secret',
    'TABLE webhook_endpoint',
    'TABLE webhook_delivery',
    'TABLE service_secret',
    'SELECT input FROM request',
    'SELECT webhook_url FROM recent_request',
    'SELECT delta FROM output_delta',
    'SELECT token FROM lease',
    'SELECT token_hash FROM attempt',
    'TABLE idempotency_key',
    'SELECT message FROM request_timeline',
    'SELECT message FROM request_event',
    'SELECT before FROM audit_entry',
    'SELECT after FROM audit_entry',
  ])('may not run: %s', async (sql) => {
    await expect(tryOut('reader', sql)).rejects.toThrow(/permission denied/);
  });

  test('changes nothing, even in a session that may write', async () => {
    await expect(tryOut('reader', 'DELETE FROM node')).rejects.toThrow(/read-only transaction/);
    const change = 'SET TRANSACTION READ WRITE; DELETE FROM node';
    await expect(tryOut('reader', change)).rejects.toThrow(/permission denied/);
  });
});

test('grants.sql moves the tables of the service role to the owner', async () => {
  await database.run(`ALTER TABLE api_key OWNER TO ${prefix}; ALTER VIEW queue_depth OWNER TO ${prefix}`);
  await runAsOwner(readSql('grants.sql'));
  await expect(tryOut('service', 'DROP TABLE api_key')).rejects.toThrow(/must be owner/);
  await tryOut('service', 'TABLE queue_depth');
});

test('the service role may not migrate, and the owner may', async () => {
  await service.stop();
  const source = await createDataSource({ url: urls.owner, poolSize: 1 }).initialize();
  await source.undoLastMigration();
  await source.destroy();
  await expect(migrateAs(urls.service)).rejects.toThrow(
    /^The migration \w+ changes .* Migrate as the owner .* --grants <file>.* deploy\/postgres\/grants\.sql/,
  );
  await migrateAs(urls.owner);
  await runAsOwner(readSql('grants.sql'));
  await tryOut('service', 'SELECT skip_event_ids()');
});
