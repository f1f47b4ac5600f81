import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { loadConfig } from '../../src/config/config.js';
import { reachDatabase } from '../../src/database/reach.js';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { until } from '../support/index.js';

let server: EmbeddedPostgres;
let directory: string;
let url: string;

/** Makes a certificate that signs itself, as a server's own or as another authority. */
function makeCertificate(name: string, host: string): void {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${host}`,
      '-addext',
      `subjectAltName=DNS:${host}`,
      '-keyout',
      join(directory, `${name}.key`),
      '-out',
      join(directory, `${name}.crt`),
    ],
    { stdio: 'pipe' },
  );
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  makeCertificate('server', 'localhost');
  makeCertificate('other', 'localhost');
  const dataDir = join(directory, 'data');
  server = new EmbeddedPostgres(dataDir);
  url = await server.start();
  const cluster = join(dataDir, 'postgres');
  const { uid, gid } = statSync(cluster);
  for (const file of ['server.key', 'server.crt']) {
    copyFileSync(join(directory, file), join(cluster, file));
    chownSync(join(cluster, file), uid, gid);
    chmodSync(join(cluster, file), 0o600);
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await client.end();
  await until(async () => (await encryption('sslmode=no-verify')) === true);
}, 120_000);
afterAll(() => server.stop());

/** Returns whether a session with these parameters of the URL is encrypted, or why there is none. */
async function encryption(query: string, host = 'localhost'): Promise<boolean | string> {
  const own = new URL(url);
  own.hostname = host;
  own.search = query.replaceAll('DIR', directory);
  try {
    const { databaseUrl } = loadConfig({ DATABASE_URL: own.href });
    const sessions = await reachDatabase(databaseUrl!, { waitMs: 0 });
    const client = new pg.Client({ connectionString: sessions.byKey() });
    await client.connect();
    const { rows } = await client.query<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    await client.end();
    return rows[0]!.ssl;
  } catch (error) {
    return (error as Error).message;
  }
}

const root = 'sslrootcert=DIR/server.crt';

test.each([
  ['', false],
  ['sslmode=disable', false],
  ['sslmode=no-verify', true],
  [`sslmode=verify-full&${root}`, true],
  [`sslmode=require&${root}`, true],
  [`sslmode=verify-ca&${root}`, true],
  ['uselibpqcompat=true&sslmode=require', true],
  [`uselibpqcompat=true&sslmode=verify-ca&${root}`, true],
])('?%s: is it encrypted? %s', async (query, isEncrypted) => {
  expect(await encryption(query)).toBe(isEncrypted);
});

test.each(['sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full'])(
  '?%s refuses a certificate of an unnamed authority, and names the settings',
  async (query) =>
    expect(await encryption(query)).toMatch(/cannot be reached: .*certificate.* Set sslmode and sslrootcert/),
);

test('a certificate of another authority is refused', async () => {
  expect(await encryption('sslmode=verify-full&sslrootcert=DIR/other.crt')).toMatch(/certificate/);
});

test('a certificate for another host is refused, but not with the verify-ca of libpq', async () => {
  expect(await encryption(`sslmode=verify-full&${root}`, '127.0.0.1')).toMatch(/altnames/);
  expect(await encryption(`uselibpqcompat=true&sslmode=verify-ca&${root}`, '127.0.0.1')).toBe(true);
});

test('an unknown sslmode and a missing certificate file are configuration errors', async () => {
  expect(await encryption('sslmode=verify_full')).toMatch(
    /DATABASE_URL: expected one of these as sslmode: disable, no-verify, .*verify-full/,
  );
  expect(await encryption('sslmode=verify-full&sslrootcert=DIR/none.crt')).toMatch(
    /DATABASE_URL: the file that sslrootcert names cannot be read \(ENOENT\)/,
  );
});
