import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { createObservingPool } from '../../src/database/observing-database.js';
import { openDatabase } from '../../src/database/open-database.js';
import { reachDatabase } from '../../src/database/reach.js';
import { DatabaseSessions } from '../../src/database/sessions.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { temporaryDirectory } from '../support/data-directory.js';

const read = { name: 'read', text: 'SELECT 1 AS one' };

let server: EmbeddedPostgres;
let url: string;

/** Starts a server that replays what a primary would send it, and answers reads meanwhile. */
beforeAll(async () => {
  const dataDir = join(await temporaryDirectory(), 'data');
  const primary = new EmbeddedPostgres(dataDir);
  await openDatabase(await primary.start(), undefined, {});
  await primary.stop();
  const cluster = join(dataDir, 'postgres');
  const { uid, gid } = statSync(cluster);
  const signal = join(cluster, 'standby.signal');
  writeFileSync(signal, '');
  chownSync(signal, uid, gid);
  server = new EmbeddedPostgres(dataDir);
  url = await server.start();
}, 120_000);
afterAll(() => server.stop());

async function promote(): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SELECT pg_promote()');
  await client.end();
}

const pools: readonly (readonly [string, () => pg.Pool])[] = [
  ['statements', () => createStatementPool({ sessions: new DatabaseSessions(url), size: 1 })],
  ['reads of operators', () => createObservingPool(new DatabaseSessions(url))],
];

test.each(pools)('the pool for %s reads nothing from a standby, which may be behind', async (_, open) => {
  const pool = open();
  const database = new Database(pool, { databasePreparedStatements: true });
  const refusal = { code: 'unavailable', fault: 'read_only' };
  await expect(database.query(read)).rejects.toMatchObject(refusal);
  await expect(database.atomically([read, []])).rejects.toMatchObject(refusal);
  await expect(database.pipeline().query(read)).rejects.toMatchObject(refusal);
  await pool.end();
});

test("TypeORM's pool reads nothing from a standby", async () => {
  const source = new DataSource(dataSourceOptions({ url, poolSize: 1 }));
  await expect(source.initialize()).rejects.toMatchObject({ code: 'unavailable', fault: 'read_only' });
});

test('a standby answers queries of every view', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(10);
  for (const { name } of rows) await client.query(`TABLE ${name}`);
  await client.end();
});

test('a start waits until the standby is promoted, and pools that it refused then work', async () => {
  const open = pools.map(([, make]) => make());
  const databases = open.map((pool) => new Database(pool, { databasePreparedStatements: true }));
  for (const database of databases) await expect(database.query(read)).rejects.toThrow(/standby/);
  let promoted: Promise<void> | undefined;
  const reports: string[] = [];
  await reachDatabase(url, {
    report: (sentence) => {
      reports.push(sentence);
      promoted = promote();
    },
  });
  await promoted;
  expect(reports).toEqual([expect.stringMatching(/^Waiting up to 60 s .*: the server is a standby/)]);
  for (const database of databases) expect(await database.query(read)).toEqual([{ one: 1 }]);
  for (const pool of open) await pool.end();
});
