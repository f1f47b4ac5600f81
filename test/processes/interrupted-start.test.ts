import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { DatabaseGate } from '../support/database-gate.js';
import { pidFile, temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, SpawnedService, type TestDatabase, until } from '../support/index.js';
import { createEmptyDatabase } from '../support/test-database.js';

/** The lock of `src/database/migrate.ts`, held by a session, as earlier releases did. */
const takeMigrationLock = 'SELECT pg_advisory_lock(1835624306)';
const inOrder = { code: 0, signal: null };

let session: pg.Client;
let database: TestDatabase;

async function discard(): Promise<void> {
  await session.end();
  await database.drop();
}

async function use(created: Promise<TestDatabase>): Promise<void> {
  database = await created;
  session = new pg.Client({ connectionString: database.url, application_name: 'left behind' });
  await session.connect();
}

describe('a start that waits for the lock of the migrations', () => {
  beforeEach(async () => {
    await use(createEmptyDatabase());
    await session.query(takeMigrationLock);
  });
  afterEach(discard);

  const waiting = (program: SpawnedService): Promise<unknown> =>
    until(() => /Waiting for another session .*left behind/.test(program.output), {
      explain: () => program.output,
    });

  test('logs the session that holds the lock, and ends on a signal', async () => {
    const service = new SpawnedService({ DATABASE_URL: database.url });
    await waiting(service);
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    expect(service.output).toContain(`process ${rows[0]!.pid} of PostgreSQL`);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual(inOrder);
    expect(service.output).toMatch(/stopped\n$/);
  });

  test('continues once the lock is free', async () => {
    const service = new SpawnedService({ DATABASE_URL: database.url });
    await waiting(service);
    await session.query('SELECT pg_advisory_unlock_all()');
    await until(() => service.output.includes('listening on'));
    await service.stop();
  });

  test.each(['SIGINT', 'SIGHUP'] as const)(
    'in the keys program changes nothing when it is interrupted by %s',
    async (signal) => {
      const program = new SpawnedService(
        { DATABASE_URL: database.url },
        { script: 'dist/src/keys.js', args: ['create', '--name', 'none'] },
      );
      await waiting(program);
      program.kill(signal);
      expect(await program.exited).toEqual({ code: 1, signal: null });
      expect(program.output).toContain('Interrupted before anything was changed.');
      const { rows } = await session.query(`SELECT to_regclass('api_key') AS "table"`);
      expect(rows).toEqual([{ table: null }]);
    },
  );
});

describe('a start that waits for its database', () => {
  test('logs the wait once, without the password, and ends on a signal', async () => {
    const service = new SpawnedService({ DATABASE_URL: 'postgresql://someone:secret@127.0.0.1:1/queue' });
    const waiting = /Waiting up to 60 s for the database at 127\.0\.0\.1:1\/queue: .*ECONNREFUSED/;
    await until(() => waiting.test(service.output), { explain: () => service.output });
    service.kill('SIGTERM');
    expect(await service.exited).toEqual(inOrder);
    expect(service.output.match(/Waiting/g)).toHaveLength(1);
    expect(service.output).not.toContain('secret');
  });

  test('continues once the database answers', async () => {
    const late = await createTestDatabase();
    const gate = await DatabaseGate.before(late.url);
    gate.close();
    const service = new SpawnedService({ DATABASE_URL: gate.url });
    await until(() => service.output.includes('Waiting up to 60 s'));
    gate.open();
    await until(() => service.output.includes('listening on'));
    await service.stop();
    await gate.stop();
    await late.drop();
  });
});

describe('a signal', () => {
  afterEach(discard);

  test('ends a start whose database accepts the connection but never answers', async () => {
    await use(createTestDatabase());
    const silent = createServer().listen(0, '127.0.0.1');
    await until(() => silent.listening);
    let calls = 0;
    silent.on('connection', (socket) => {
      calls++;
      socket.on('error', () => undefined);
    });
    const { port } = silent.address() as AddressInfo;
    const service = new SpawnedService({ DATABASE_URL: `postgresql://somebody@127.0.0.1:${port}/queue` });
    await until(() => calls > 0);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual(inOrder);
    silent.close();
  });

  test('rolls back a migration that is in progress', async () => {
    await use(createEmptyDatabase());
    // Another session creates a table of that name in a transaction that stays open.
    await session.query('BEGIN; CREATE TABLE node (id integer)');
    const service = new SpawnedService({ DATABASE_URL: database.url });
    await until(isBlocked);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual(inOrder);
    await session.query('ROLLBACK');
    const { rows } = await session.query(`SELECT to_regclass('node') AS "table"`);
    expect(rows).toEqual([{ table: null }]);
    const { rows: locks } = await session.query(`SELECT FROM pg_locks WHERE objid = 1835624306`);
    expect(locks).toEqual([]);
  });

  test('ends a start before its first heartbeat', async () => {
    await use(createTestDatabase());
    await session.query('BEGIN; LOCK TABLE node');
    const first = new SpawnedService({ DATABASE_URL: database.url });
    await until(isBlocked);
    first.kill('SIGTERM');
    expect(await first.exited).toEqual(inOrder);
    await session.query('ROLLBACK');
  });

  test('that is the second ends a blocked start at once', async () => {
    await use(createTestDatabase());
    await session.query('BEGIN; LOCK TABLE node');
    const second = new SpawnedService({ DATABASE_URL: database.url });
    let hasExited = false;
    const exited = second.exited.finally(() => (hasExited = true));
    await until(isBlocked);
    second.kill('SIGTERM');
    await until(() => {
      second.kill('SIGTERM');
      return hasExited;
    });
    expect(await exited).toEqual({ code: 143, signal: null });
    await session.query('ROLLBACK');
  });

  test.each([1, 2])('stops an embedded PostgreSQL that is starting (%d sent)', async (signals) => {
    await use(createTestDatabase());
    const directory = join(await temporaryDirectory(), 'data');
    const service = new SpawnedService({ DATA_DIR: directory });
    await until(() => existsSync(pidFile(directory)));
    let hasExited = false;
    const exited = service.exited.finally(() => (hasExited = true));
    service.kill('SIGTERM');
    const signalAgain = (): boolean => {
      service.kill('SIGTERM');
      return hasExited;
    };
    if (signals > 1) await until(signalAgain);
    await exited;
    await until(() => !existsSync(pidFile(directory)));
  });
});

/** Returns whether a session waits for a lock that `session` holds. */
async function isBlocked(): Promise<boolean> {
  await session.query('SELECT pg_stat_clear_snapshot()');
  const { rowCount } = await session.query(
    `SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))`,
  );
  return rowCount! > 0;
}
