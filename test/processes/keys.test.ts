import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ApiKey } from '../../src/auth/api-key.entity.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { Config } from '../../src/config/config.js';
import { createDataSource } from '../../src/database/data-source.js';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { AdminCalls } from '../support/admin-calls.js';
import { Caller } from '../support/caller.js';
import { root } from '../support/page-examples.js';
import {
  createTestDatabase,
  SpawnedService,
  startTestService,
  type TestDatabase,
  until,
} from '../support/index.js';

interface Ended {
  code: number | null;
  output: string;
}

/** Runs `npm run keys -- …` as a process of its own. */
async function keys(environment: Record<string, string>, ...args: string[]): Promise<Ended> {
  const command = new SpawnedService(environment, { script: 'dist/src/keys.js', args });
  const { code } = await command.exited;
  return { code, output: command.output };
}

function keyIn({ output }: Ended): string {
  return /^ns_[\w-]{43}$/m.exec(output)![0];
}

interface Listed {
  id: string;
  name: string;
  prefix: string;
  state: string;
  [field: string]: unknown;
}

describe('the keys command', () => {
  let database: TestDatabase;
  const run = (...args: string[]): Promise<Ended> => keys({ DATABASE_URL: database.url }, ...args);
  const list = async (): Promise<Listed[]> => JSON.parse((await run('list', '--json')).output) as Listed[];

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(() => database.drop());

  test('create prints the key once, list never does, and the key works until it is revoked', async () => {
    const created = await run('create', '--name', 'web shop');
    expect(created.code).toBe(0);
    const key = keyIn(created);
    expect(created.output).toContain('cannot be shown again');
    expect(created.output.split(key)).toHaveLength(2);

    const table = await run('list');
    expect(table.output).toMatch(/^PREFIX +NAME +STATE +SCOPES +MODELS +LIMITS +LAST USED +ID$/m);
    expect(table.output).toContain(key.slice(0, 10));
    expect(table.output + (await run('list', '--json')).output).not.toContain(key.slice(10));

    const service = await startTestService({ config: { databaseUrl: database.url, role: 'api' } });
    const app = new Caller(service);
    try {
      expect((await app.submit(key)).status).toBe(202);
      const revoked = await run('revoke', 'web shop');
      expect(revoked).toEqual({ code: 0, output: expect.stringContaining('Revoked the key') as string });
      await until(async () => (await app.submit(key)).status === 401);
    } finally {
      await service.stop();
    }
  });

  test('a closed output pipe interrupts no command, and is reported in one sentence', async () => {
    const program = join(root, 'dist/src/keys.js');
    const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
    const command = spawn(process.execPath, [program, 'create', '--name', 'unread'], { env });
    command.stdout.destroy();
    let said = '';
    command.stderr.on('data', (text: Buffer) => (said += String(text)));
    const [code] = (await once(command, 'close')) as [number];
    expect([code, said]).toEqual([1, 'The output cannot be written (EPIPE).\n']);
    expect((await list()).map(({ name }) => name)).toContain('unread');
  });

  test('create stores every option', async () => {
    const options = '-n ci --scope submit --scope READ --model acme/* --model demo/echo --expires 2099-12-31';
    const limits = '--rate-limit-submit 50/s,1000/m --rate-limit-other off --rate-limit-batch 9/s';
    const turns = '--weight 0.01 --max-running 3';
    const { code } = await run('create', ...`${options} ${limits} ${turns}`.split(' '));
    expect(code).toBe(0);
    expect(await list()).toEqual([
      expect.objectContaining({
        name: 'ci',
        state: 'valid',
        scopes: ['submit', 'read'],
        models: ['acme/*', 'demo/echo'],
        rate_limit_submit: '50/s,1000/m',
        rate_limit_other: 'off',
        rate_limit_batch: '9/s',
        max_running: 3,
        weight: 0.01,
        expires_at: '2099-12-31T00:00:00.000Z',
        revoked_at: null,
      }),
    ]);
    expect((await run('list')).output).toContain('weight 0.01 running 3');
  });

  test('update changes only the settings that its options name, and refuses a revoked key', async () => {
    await run('create', '--name', 'ci');
    const limits = '--rate-limit-submit 50/s,1000/m --rate-limit-other off --rate-limit-batch 9/s';
    const turns = '--weight 2 --max-running 3 --max-waiting 7';
    const changed = await run('update', 'ci', ...`${limits} ${turns}`.split(' '));
    expect([changed.code, changed.output]).toEqual([
      0,
      expect.stringContaining('submit 50/s,1000/m other off batch 9/s weight 2 running 3 waiting 7'),
    ]);
    const set = { rate_limit_submit: '50/s,1000/m', rate_limit_other: 'off', rate_limit_batch: '9/s' };
    expect(await list()).toMatchObject([{ ...set, weight: 2, max_running: 3, max_waiting: 7 }]);
    await run('update', 'ci', ...'--rate-limit-submit default --max-running off'.split(' '));
    const kept = { rate_limit_other: 'off', rate_limit_batch: '9/s', weight: 2, max_waiting: 7 };
    expect(await list()).toMatchObject([{ ...kept, rate_limit_submit: null, max_running: null }]);
    await run('revoke', 'ci');
    const refused = await run('update', 'ci', '--weight', '1');
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('is revoked') as string });
  });

  test('link prints a URL that signs in once, as the named key or as the oldest admin key', async () => {
    const service = await startTestService({ config: { databaseUrl: database.url, role: 'api' } });
    const admin = new AdminCalls(service);
    try {
      await admin.newKey({ name: 'caller' });
      await admin.newKey({ name: 'watcher', scopes: ['observe'] });
      for (const [args, name] of [
        [['link'], 'bootstrap'],
        [['link', 'watcher'], 'watcher'],
      ] as const) {
        const { code, output } = await run(...args);
        expect(code).toBe(0);
        const link = /^http:\/\/127\.0\.0\.1:0\/console#link=([\w-]{43})$/m.exec(output)![1];
        expect(await (await admin.signIn({ link })).json()).toMatchObject({ signed_in: { name } });
        expect((await admin.signIn({ link })).status).toBe(401);
      }
    } finally {
      await service.stop();
    }
    const refused = await run('link', 'caller');
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('cannot sign in') as string });
    const outside = { DATABASE_URL: database.url, PUBLIC_BASE_URL: 'https://queue.example/q' };
    expect((await keys(outside, 'link', 'watcher')).output).toMatch(
      /^https:\/\/queue\.example\/q\/console#link=/m,
    );
    const onAll = { DATABASE_URL: database.url, HOST: '::', PORT: '3000' };
    expect((await keys(onAll, 'link', 'watcher')).output).toMatch(/^http:\/\/\[::1\]:3000\/console#link=/m);
    const off = await keys({ DATABASE_URL: database.url, CONSOLE: 'off' }, 'link', 'watcher');
    expect(off).toMatchObject({ code: 1, output: expect.stringContaining('CONSOLE=off') as string });
  });

  test('its changes are audited with the command line as the actor', async () => {
    await run('create', '--name', 'ci');
    await run('update', 'ci', '--weight', '2');
    await run('revoke', 'ci');
    await run('revoke', 'ci');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT action, actor_name, actor_key_id, before, after FROM audit_entry ORDER BY id`,
    );
    await client.end();
    const by = { actor_name: 'command line', actor_key_id: null };
    expect(rows).toMatchObject([
      { ...by, action: 'key.create', after: { name: 'ci' } },
      { ...by, action: 'key.update', before: { weight: 1 }, after: { weight: 2 } },
      { ...by, action: 'key.revoke', before: { name: 'ci' } },
    ]);
  });

  test('a duration is counted from now', async () => {
    await run('create', '--name', 'brief', '--expires', '90d');
    const [{ created_at, expires_at } = { created_at: '', expires_at: '' }] = await list();
    expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(90 * 86_400_000);
  });

  test('revoke accepts an id, a prefix or a name, and lists the keys if several have the name', async () => {
    const source = await createDataSource({
      url: database.url,
      poolSize: 1,
      entities: [ApiKey],
    }).initialize();
    const service = new KeysService(source.getRepository(ApiKey), new Config());
    const a = await service.make({ name: 'a' });
    const b = await service.make({ name: 'b' });
    await service.create({ name: 'c' });
    const twins = [await service.make({ name: 'twin' }), await service.make({ name: 'twin' })];
    await source.destroy();
    for (const text of [a.id, b.secret.prefix(), 'c']) expect((await run('revoke', text)).code).toBe(0);

    const ambiguous = await run('revoke', 'twin');
    expect(ambiguous.code).toBe(1);
    for (const { id } of twins) expect(ambiguous.output).toContain(id);
    const states = (await list()).map(({ state }) => state);
    expect(states).toEqual(['revoked', 'revoked', 'revoked', 'valid', 'valid']);

    for (const [text, said] of [
      ['c', /already revoked/],
      ['nobody', /no key with/],
    ] as const)
      expect(await run('revoke', text)).toMatchObject({ code: 1, output: expect.stringMatching(said) });
  });
});

describe('the keys command without a database', () => {
  test.each([
    [['create', '--scop', 'read'], "unknown option '--scop'\n(Did you mean --scope?)"],
    [['creat'], "unknown command 'creat'\n(Did you mean create?)"],
  ])('the wrong usage %j is explained and ends with exit code 2', async (args, said) => {
    const { code, output } = await keys({}, ...args);
    expect(output).toContain(said);
    expect(code).toBe(2);
  });

  test.each(['keys', 'requests', 'export', 'migrate', 'webhooks', 'models'])(
    'npm run %s ends with exit code 2 when it is used wrongly',
    async (name) => {
      const command = new SpawnedService({}, { script: `dist/src/${name}.js`, args: ['--unknown'] });
      expect([await command.exited, command.output]).toEqual([
        expect.objectContaining({ code: 2 }),
        expect.stringContaining("unknown option '--unknown'"),
      ]);
    },
  );

  test('help ends with exit code 0 and shows examples', async () => {
    const { code, output } = await keys({}, '--help');
    expect(code).toBe(0);
    expect(output).toContain('npm run keys -- create --name');
  });

  test('an unreachable database is reported in one line, without its password', async () => {
    const { code, output } = await keys({ DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/none' }, 'list');
    expect(code).toBe(1);
    expect(output).toMatch(/^The database at 127\.0\.0\.1:1\/none cannot be reached: [^\n]+\n$/);
    expect(output).not.toContain('hunter2');
  });
});

describe('the keys command and the embedded database', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'nowserving-keys-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('the program starts the server only while it needs it, or uses the one of a running service', async () => {
    const environment = { DATA_DIR: directory };
    const server = new EmbeddedPostgres(environment.DATA_DIR);
    try {
      expect((await keys(environment, 'create', '--name', 'before')).code).toBe(0);
      await server.start();
      expect((await keys(environment, 'create', '--name', 'during')).code).toBe(0);
      await server.stop();
      const { code, output } = await keys(environment, 'list');
      expect([code, output]).toEqual([0, expect.stringMatching(/before.*during/s)]);
      await server.start();
    } finally {
      await server.stop();
    }
  });

  test('a command that is typed during the start of a service uses its server', async () => {
    const server = new EmbeddedPostgres(directory);
    const url = await server.start();
    const writeUrl = (text: string): void => writeFileSync(join(directory, 'database-url'), text);
    // Until the service has written its address, the file has that of an earlier start.
    const earlier = createServer((socket) => {
      writeUrl(url);
      socket.destroy();
    }).listen(0, '127.0.0.1');
    try {
      await once(earlier, 'listening');
      writeUrl(`postgresql://postgres@127.0.0.1:${(earlier.address() as AddressInfo).port}/postgres`);
      const created = await keys({ DATA_DIR: directory }, 'create', '--name', 'early');
      expect(created).toMatchObject({ code: 0, output: expect.stringContaining('early') as string });
    } finally {
      earlier.close();
      await server.stop();
    }
  });
});
