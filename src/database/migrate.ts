import type { DataSource } from 'typeorm';
import pg from 'pg';
import { createDataSource, migrations } from './data-source.js';

const oldestVersion = 150_000;
const migrationLock = 0x6d696772;

/**
 * Brings the schema up to date. Any number of processes may start at once: one migrates, the others wait.
 * `url` must be a direct connection: a session lock does not survive a transaction pooler.
 */
export async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    await client.end().catch(() => undefined);
    const { message, code = 'no answer' } = cause as NodeJS.ErrnoException;
    const reason = message === '' ? code : message;
    throw new Error(`The database at ${describe(url)} cannot be reached: ${reason}`, { cause });
  }
  let dataSource: DataSource | undefined;
  try {
    const { rows } = await client.query<{ version: number; text: string }>(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text`,
    );
    if (rows[0]!.version < oldestVersion) {
      throw new Error(
        `The database at ${describe(url)} is PostgreSQL ${rows[0]!.text}; 15 or newer is needed.`,
      );
    }
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    await refuseUnreleased(client, url);
    dataSource = await createDataSource({ url, poolSize: 2 }).initialize();
    await dataSource.runMigrations();
  } finally {
    await dataSource?.destroy();
    await client.end();
  }
}

/** The migrations were rewritten before the first release: a database that the old ones made cannot be upgraded. */
async function refuseUnreleased(client: pg.Client, url: string): Promise<void> {
  const begun = await client.query(`SELECT WHERE to_regclass('migrations') IS NOT NULL`);
  if (begun.rowCount === 0) return;
  const names = migrations.map(({ name }) => name);
  const newest = Number(names.at(-1)!.slice(-13));
  const { rowCount } = await client.query(
    'SELECT FROM migrations WHERE name <> ALL ($1) AND timestamp <= $2',
    [names, newest],
  );
  if (rowCount === 0) return;
  throw new Error(
    `The database at ${describe(url)} is of an unreleased earlier version, which this one cannot take over: ` +
      'use a new database, or remove DATA_DIR if it is the embedded one. Nothing was changed.',
  );
}

/** Host, port and database; never the password. */
function describe(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
