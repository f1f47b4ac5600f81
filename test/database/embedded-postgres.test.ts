import fs, {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { EmbeddedPostgres, ServerInUse } from '../../src/embedded-postgres/embedded-postgres.js';
import { serverPid, temporaryDirectory } from '../support/data-directory.js';
import { until } from '../support/index.js';

let dataDir: string;
const servers: EmbeddedPostgres[] = [];
beforeAll(() => Logger.overrideLogger(false));
beforeAll(async () => (dataDir = join(await temporaryDirectory(), 'data')));
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const inData = (name: string): string => join(dataDir, name);

function newServer(): EmbeddedPostgres {
  const server = new EmbeddedPostgres(dataDir);
  servers.push(server);
  return server;
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Does something while files can be created, but have no room for bytes. */
async function withoutRoom(work: () => Promise<void>): Promise<void> {
  const { writeSync } = fs;
  fs.writeSync = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  try {
    await work();
  } finally {
    fs.writeSync = writeSync;
  }
}

test('a start without room on the disk says so, and leaves no lock', async () => {
  await withoutRoom(() =>
    expect(newServer().start()).rejects.toThrow(/data directory .* \(ENOSPC\)\. Make room on its disk\.$/),
  );
  expect(existsSync(inData('starting'))).toBe(false);
});

test('empty files that a crash left do not stop the next start', async () => {
  mkdirSync(dataDir, { recursive: true });
  for (const name of ['password', 'starting']) writeFileSync(inData(name), '');
  const before = Date.now() / 1_000 - 6;
  utimesSync(inData('starting'), before, before);
  const url = await newServer().start();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect([existsSync(inData('starting')), readFileSync(inData('password'), 'utf8')]).toEqual([
    false,
    expect.stringMatching(/^[\w-]{32}$/),
  ]);
}, 120_000);

const owners = `SELECT pid FROM pg_stat_activity WHERE application_name = 'nowserving owner'`;
const ownersAt = async (url: string): Promise<number[]> =>
  (await query<{ pid: number }>(url, owners)).map(({ pid }) => pid);

test.each<[string, (url: string) => Promise<unknown>]>([
  ['the server', async () => Promise.resolve(process.kill(serverPid(dataDir), 'SIGKILL'))],
  ['its own session', (url) => query(url, `SELECT pg_terminate_backend(pid) FROM (${owners}) AS owner`)],
])(
  'a service that loses %s keeps its directory and its port, whoever starts meanwhile',
  async (_, end) => {
    const url = await newServer().start();
    const before = await ownersAt(url);
    await end(url);
    await until(
      async () => existsSync(inData('starting')) || String(await ownersAt(url)) !== String(before),
      { message: 'the service has noticed its loss' },
    );
    await expect(newServer().start()).rejects.toThrow(ServerInUse);
    expect(await ownersAt(url)).toHaveLength(1);
    expect(existsSync(inData('starting'))).toBe(false);
  },
  120_000,
);

test('a start waits for a server that recovers for as long as that takes, and reports it once', async () => {
  const server = newServer();
  await server.start();
  await server.stop();
  // A standby without sessions recovers until it is promoted.
  const { uid, gid } = statSync(inData('postgres'));
  writeFileSync(inData('postgres/standby.signal'), '');
  chownSync(inData('postgres/standby.signal'), uid, gid);
  appendFileSync(inData('postgres/postgresql.auto.conf'), 'hot_standby = off\n');
  const reports: string[] = [];
  const started = server.start({ report: (sentence) => reports.push(sentence) });
  started.catch(() => undefined);
  await until(() => readFileSync(inData('postgres.log'), 'utf8').includes('entering standby mode'));
  server.patienceMs = 0;
  await until(() => reports.length > 0, { message: 'the start reports what it waits for' });
  expect(reports).toEqual([
    expect.stringMatching(/^Waiting for PostgreSQL in .* recovers from a crash; see /),
  ]);
  server.patienceMs = 60_000;
  writeFileSync(inData('postgres/promote'), '');
  process.kill(serverPid(dataDir), 'SIGUSR1');
  expect(await query(await started, 'SELECT pg_is_in_recovery() AS recovers')).toEqual([{ recovers: false }]);
  expect(reports).toHaveLength(1);
}, 120_000);
