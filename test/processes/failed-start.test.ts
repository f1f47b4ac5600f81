import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/index.js';
import { OutdatedServer } from '../support/outdated-server.js';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

let directory: string;
let database: TestDatabase;
let taken: Server;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nowserving-start-'));
  await chmod(directory, 0o755); // as root the server runs as somebody else
  database = await createTestDatabase();
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => taken.close(resolve));
  await database.drop(); // fails if one of the failed starts is still connected
  await rm(directory, { recursive: true, force: true });
});

const port = (): string => String((taken.address() as AddressInfo).port);

/** Starts the built service and waits for its end. */
function start(environment: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/src/main.js'], { env, timeout: 25_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** Fails with one line, on standard error, that matches. */
async function expectOneLine(environment: Record<string, string>, line: RegExp): Promise<string> {
  const { code, stdout, stderr } = await start(environment);
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length, stderr }).toEqual({
    code: 1,
    stdout: '',
    lines: 1,
    stderr: expect.stringMatching(line) as string,
  });
  return stderr;
}

async function modelsFile(text: string): Promise<string> {
  const file = join(directory, 'models.yaml');
  await writeFile(file, text);
  return file;
}

describe('a start that cannot succeed ends with code 1 and one clear line:', () => {
  test('a taken port', async () => {
    await expectOneLine({ DATABASE_URL: database.url, PORT: port() }, new RegExp(`Port ${port()} .*in use`));
  });

  test('a taken port, with the embedded database, which is not left running', async () => {
    const data = join(directory, 'data');
    await expectOneLine({ DATA_DIR: data, PORT: port() }, new RegExp(`Port ${port()} `));
    expect(existsSync(join(data, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(data, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('an address that is not of this machine', async () => {
    await expectOneLine({ DATABASE_URL: database.url, HOST: '192.0.2.1' }, /192\.0\.2\.1/);
  });

  test('a data directory that cannot be one', async () => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    await expectOneLine({ DATA_DIR: join(file, 'data') }, /data directory .*a-file.* cannot be used/);
  });

  test('a data directory where none can be made, even by root', async () => {
    await expectOneLine({ DATA_DIR: '/proc/data' }, /data directory \/proc\/data cannot be used/);
  });

  test('a database that nobody serves', async () => {
    const said = await expectOneLine(
      { DATABASE_URL: 'postgresql://someone:secret@127.0.0.1:1/queue' },
      /database at 127\.0\.0\.1:1\/queue cannot be reached: .*ECONNREFUSED/,
    );
    expect(said).not.toContain('secret');
  });

  test('a database that refuses the password', async () => {
    const url = new URL(database.url);
    url.password = 'not-the-password';
    const said = await expectOneLine(
      { DATABASE_URL: url.href },
      /cannot be reached: password authentication failed/,
    );
    expect(said).not.toContain('not-the-password');
  });

  test('a PostgreSQL that is too old', async () => {
    const server = new OutdatedServer('14.12', 140_012);
    await expectOneLine({ DATABASE_URL: await server.start() }, /PostgreSQL 14\.12; 15 or newer is needed/);
    await server.stop();
  });

  test('a models.yaml that is not there', async () => {
    await expectOneLine(
      { DATABASE_URL: database.url, MODELS_FILE: join(directory, 'none.yaml') },
      /none\.yaml/,
    );
  });

  test('a fault in models.yaml, with its line', async () => {
    const file = await modelsFile(
      'models:\n  - id: a/b\n    runner: { kind: demo, demo: echo }\n    concurency: 2\n',
    );
    await expectOneLine(
      { DATABASE_URL: database.url, MODELS_FILE: file },
      /models\.yaml.*\b4\b.*concurency/s,
    );
  });
});

test('wrong settings are named all at once, without their values', async () => {
  const { code, stdout, stderr } = await start({
    PORT: 'eighty',
    ROLE: 'boss',
    DATABASE_URL: 'mysql://root:secret@localhost/queue',
    SHUTDOWN_GRACE: 'soon',
    CORS_ORIGINS: 'http://localhost:5173/',
    RATE_LIMIT_SUBMIT: 'lots',
  });
  expect([code, stdout]).toEqual([1, '']);
  const [first, ...faults] = stderr.trimEnd().split('\n');
  expect(first).toBe('These settings are wrong:');
  expect(faults.map((line) => line.trim().replace(/:.*/, '')).toSorted()).toEqual([
    'CORS_ORIGINS',
    'DATABASE_URL',
    'PORT',
    'RATE_LIMIT_SUBMIT',
    'ROLE',
    'SHUTDOWN_GRACE',
  ]);
  expect(stderr).not.toContain('secret');
});
