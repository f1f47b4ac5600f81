import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { buildIfStale } from '../../scripts/build.js';
import {
  removeDirectories,
  stopAbandonedServers,
  stopServerNow,
  temporaryPrefix,
  temporaryRoot,
} from './temporary-servers.js';

/** Builds once, starts one PostgreSQL, and migrates one template that every test database is a copy of. */
export default async function setup({ testTimeout }) {
  process.env.TEST_TIMEOUT = String(testTimeout);
  buildIfStale();
  stopAbandonedServers();
  const teardown = (globalThis.testTeardown = []);
  const serverUrl = process.env.DATABASE_URL ?? (await startPostgres(teardown));
  const template = `nowserving_template_${randomBytes(6).toString('hex')}`;
  await administer(serverUrl, [`CREATE DATABASE ${template}`]);
  teardown.push(() => administer(serverUrl, [`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`]));
  const { openDatabase } = await import('../../dist/src/database/open-database.js');
  await openDatabase(databaseUrl(serverUrl, template), undefined, {});
  // The workers inherit these two; the service itself is always given its database by the test.
  process.env.TEST_SERVER_URL = serverUrl;
  process.env.TEST_TEMPLATE = template;
  delete process.env.DATABASE_URL;
}

/** No crash of the machine is among these tests, so this server need not wait for the disk. */
async function startPostgres(teardown) {
  const { EmbeddedPostgres } = await import('../../dist/src/embedded-postgres/embedded-postgres.js');
  const directory = await mkdtemp(join(temporaryRoot(), `${temporaryPrefix}${process.pid}-`));
  const server = new EmbeddedPostgres(directory);
  const interrupted = () => process.exit(130);
  const abandoned = () => stopServerNow(directory);
  process.once('exit', abandoned);
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  teardown.push(async () => {
    await server.stop();
    removeDirectories([directory]);
    process.off('exit', abandoned).off('SIGINT', interrupted).off('SIGTERM', interrupted);
  });
  const url = await server.start();
  await administer(url, [
    'ALTER SYSTEM SET fsync = off',
    'ALTER SYSTEM SET synchronous_commit = off',
    'ALTER SYSTEM SET full_page_writes = off',
    'ALTER SYSTEM SET max_wal_size = 256',
    'ALTER SYSTEM SET max_connections = 300',
    // Tests make thousands of connections. Four thousand rounds of SHA-256 would be a fourth of the work for each.
    'ALTER SYSTEM SET scram_iterations = 1',
    'SET scram_iterations = 1',
    `ALTER ROLE postgres PASSWORD '${new URL(url).password}'`,
  ]);
  await server.stop();
  return server.start();
}

function databaseUrl(serverUrl, name) {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

async function administer(url, statements) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
