import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { stopServerNow } from '../../test/support/temporary-servers.js';

/** The service has up to 22 connections a process, a peer up to 12. */
const maxConnections = 400;
/** The segments that a busy server writes in two checkpoints. With these it has as many ready as it will ever have. */
const walSegments = 60;
const required = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

/**
 * The PostgreSQL that all subjects share, configured as the service ships it, with room for the connections of many
 * processes.
 * @typedef {object} BenchPostgres
 * @property {Record<string, string | number>} settings the server's settings that determine durability and speed
 * @property {number} pid of the process whose children do the work
 * @property {() => number} logSize
 * @property {(offset: number) => string} logSince
 * @property {(name: string, template?: string) => Promise<string>} create an empty database; its URL
 * @property {(name: string) => Promise<void>} drop
 * @property {() => Promise<void>} stop
 */

/**
 * @param {import('./built-service.js').BuiltService} built
 * @param {string} directory
 * @returns {Promise<BenchPostgres>}
 */
export async function startPostgres(built, directory) {
  const { EmbeddedPostgres } = await built.load('embedded-postgres/embedded-postgres.js');
  const { serverSettings } = await built.load('embedded-postgres/server-settings.js');
  const dataDir = join(directory, 'postgres');
  const log = join(dataDir, 'postgres.log');
  const server = new EmbeddedPostgres(dataDir);
  const abandoned = () => stopServerNow(dataDir);
  process.once('exit', abandoned);
  await administer(await server.start(), [
    `ALTER SYSTEM SET max_connections = ${maxConnections}`,
    `ALTER SYSTEM SET log_line_prefix = '%m [%p] @%d '`,
  ]);
  await server.stop();
  const serverUrl = await server.start();
  const url = (name) => Object.assign(new URL(serverUrl), { pathname: name }).href;
  const settings = await readSettings(serverUrl, Object.keys(serverSettings));
  for (const [name, value] of Object.entries(required)) {
    if (settings[name] !== value) throw new Error(`PostgreSQL runs with ${name} = ${settings[name]}`);
  }
  return {
    settings: { ...settings, segmentsReady: await busyForAWhile(serverUrl) },
    pid: Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]),
    logSize: () => statSync(log).size,
    logSince: (offset) => readFileSync(log).subarray(offset).toString(),
    create: async (name, template = 'template1') => {
      await administer(serverUrl, [`CREATE DATABASE ${name} TEMPLATE ${template}`]);
      return url(name);
    },
    drop: (name) => administer(serverUrl, [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`]),
    stop: async () => {
      await server.stop();
      process.off('exit', abandoned);
    },
  };
}

/**
 * Runs statements one after the other on a connection of its own.
 * @param {string} url
 * @param {string[]} statements
 */
export async function administer(url, statements) {
  await withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/**
 * @template T
 * @param {string} url
 * @param {(client: pg.Client) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url, application_name: 'bench' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Makes a new server as fast as a busy one. A new server creates each segment of its write-ahead log while all commits
 * wait. A server that was busy has segments to reuse, as many as its settings keep.
 */
async function busyForAWhile(url) {
  return withClient(url, async (client) => {
    for (let i = 0; i < walSegments; i++) {
      await client.query(`SELECT pg_logical_emit_message(false, 'bench', 'a record for each segment')`);
      await client.query('SELECT pg_switch_wal()');
    }
    await client.query('CHECKPOINT');
    const { rows } = await client.query(
      `SELECT count(*)::int AS ready FROM pg_ls_waldir() WHERE name > pg_walfile_name(pg_current_wal_insert_lsn())`,
    );
    return rows[0].ready;
  });
}

/** The shipped settings must be those from the server's start; nothing may have replaced them since. */
async function readSettings(url, shipped) {
  const names = [
    ...Object.keys(required),
    ...shipped,
    'server_version',
    'min_wal_size',
    'max_wal_size',
    'wal_sync_method',
    'max_connections',
  ];
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT name, current_setting(name) AS value, source FROM pg_settings WHERE name = ANY ($1)`,
      [names],
    );
    const other = rows.filter(({ name, source }) => shipped.includes(name) && source !== 'command line');
    if (other.length > 0) throw new Error(`not as shipped: ${other.map(({ name }) => name).join(', ')}`);
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  });
}
