import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pidFile, temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, spawnService, type TestDatabase, until } from '../support/index.js';
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
  directory = await temporaryDirectory();
  await writeFile(file('a-file'), '');
  await writeFile(file('models.yaml'), faultInLine4);
  database = await createTestDatabase();
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => taken.close(resolve));
  await database.drop(); // fails if one of the failed starts is still connected
});

const faultInLine4 = 'models:\n  - id: a/b\n    runner: { kind: demo, demo: echo }\n    concurency: 2\n';

const file = (name: string): string => join(directory, name);
const port = (): string => String((taken.address() as AddressInfo).port);

/** Starts the built service and waits for its end. */
function start(environment: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/src/main.js'], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** Expects a failure with one line, on standard error, that matches. */
async function expectOneLine(environment: Record<string, string>, line: RegExp): Promise<void> {
  const { code, stdout, stderr } = await start(environment);
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length, stderr }).toEqual({
    code: 1,
    stdout: '',
    lines: 1,
    stderr: expect.stringMatching(line) as string,
  });
  expect(stderr).not.toMatch(/secret/);
}

/** The URL of the database of these tests with a wrong password. */
function locked(): string {
  const url = new URL(database.url);
  url.password = 'not-the-secret';
  return url.href;
}

describe('a start that cannot succeed ends with code 1 and one clear line:', () => {
  test.each(['12/34secret', 'a#secret', 'pa%secret', 'p?secret', '5432/secret@more'])(
    'a password like %s that is not percent-encoded',
    async (password) => {
      const url = `postgres://app:${password}@127.0.0.1:1/queue`;
      const { code, stdout, stderr } = await start({ DATABASE_URL: url });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/DATABASE_URL: the user name and the password must be percent-encoded/);
      expect(stderr).not.toMatch(/secret|more|127\.0\.0\.1/);
    },
  );

  test('a taken port', async () => {
    await expectOneLine({ DATABASE_URL: database.url, PORT: port() }, new RegExp(`Port ${port()} .*in use`));
  });

  test('a taken port, which also stops the embedded database', async () => {
    await expectOneLine({ DATA_DIR: file('data'), PORT: port() }, new RegExp(`Port ${port()} `));
    expect(existsSync(file('data/postgres/PG_VERSION'))).toBe(true);
    expect(existsSync(pidFile(file('data')))).toBe(false);
    // The key that a first start creates is not lost either.
    const next = await spawnService({ DATA_DIR: file('data') });
    await until(() => /ns_[\w-]{43}/.test(next.output));
    await next.stop();
  });

  test('a PostgreSQL that is too old', async () => {
    const server = new OutdatedServer('14.12', 140_012);
    await expectOneLine({ DATABASE_URL: await server.start() }, /PostgreSQL 14\.12; 15 or newer is needed/);
    await server.stop();
  });

  test.each<[what: string, setting: string, value: () => string, line: RegExp]>([
    ['an address that is not of this machine', 'HOST', () => '192.0.2.1', /192\.0\.2\.1/],
    ['a models.yaml that is not there', 'MODELS_FILE', () => file('none.yaml'), /none\.yaml/],
    ['a fault in models.yaml', 'MODELS_FILE', () => file('models.yaml'), /models\.yaml.*\b4\b.*concurency/s],
    ['a wrong password', 'DATABASE_URL', locked, /cannot be reached: password authentication failed/],
  ])('%s', (_, setting, value, line) =>
    expectOneLine({ DATABASE_URL: database.url, [setting]: value() }, line),
  );

  test.each([
    ['that cannot be one', () => file('a-file/data')],
    ['where none can be made, even by root', () => '/proc/data'],
  ])('a data directory %s', (_, directory) =>
    expectOneLine({ DATA_DIR: directory() }, new RegExp(`data directory .*${directory()}.* cannot be used`)),
  );
});

test('all wrong settings are named at once, without the secrets in them', async () => {
  const settings = {
    PORT: 'eighty',
    ROLE: 'boss',
    DATABASE_URL: 'mysql://root:secret@localhost/queue',
    SHUTDOWN_GRACE: 'soon',
    CORS_ORIGINS: 'http://localhost:5173/',
    RATE_LIMIT_SUBMIT: 'lots',
  };
  const { code, stdout, stderr } = await start(settings);
  expect([code, stdout]).toEqual([1, '']);
  const [first, ...faults] = stderr.trimEnd().split('\n');
  expect(first).toBe('These settings are wrong:');
  const named = faults.map((line) => line.trim().replace(/:.*/, ''));
  expect(named.toSorted()).toEqual(Object.keys(settings).toSorted());
  expect(stderr).not.toContain('secret');
});
