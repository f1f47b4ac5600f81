import type pg from 'pg';
import { Config } from '../../src/config/config.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { reachDatabase } from '../../src/database/reach.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { Database } from '../../src/database/database.js';
import { Pipeline, type PipelineConnection } from '../../src/database/pipeline.js';
import type { Statement } from '../../src/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

const named = (name: string, text: string): Statement => ({ name, text });
const session = named('session', 'SELECT pg_backend_pid() AS pid');
const number = named('number', `SELECT nextval('numbers')::int AS number, pg_backend_pid() AS pid`);
const refuse = named('refuse', `SELECT 1 / $1::int`);

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let testDatabase: TestDatabase;
let pool: pg.Pool;
let database: Database;
let pipeline: Pipeline;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  pool = createStatementPool({ sessions: await reachDatabase(testDatabase.url), size: 2 });
  database = new Database(pool, new Config());
  await database.execute('CREATE SEQUENCE numbers');
});

beforeEach(() => (pipeline = database.pipeline()));

afterAll(async () => {
  await pool.end();
  await testDatabase.drop();
});

test('statements sent in one turn run on one connection, in the order in which they were sent', async () => {
  const rows = await Promise.all(
    Array.from({ length: 50 }, () => pipeline.query<{ number: number; pid: number }>(number)),
  );
  const numbers = rows.map(([row]) => row!.number);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  expect(new Set(rows.map(([row]) => row!.pid)).size).toBe(1);
});

test('a refused statement fails no other', async () => {
  const ends = await Promise.allSettled([
    pipeline.query<{ pid: number }>(session),
    pipeline.query(refuse, [0]),
    pipeline.query<{ pid: number }>(session),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ends[0]).toEqual(ends[2]);
});

test('the end of the connection fails the current statements; later ones get another connection', async () => {
  const [before] = await pipeline.query<{ pid: number }>(session);
  const terminate = named('terminate', 'SELECT pg_terminate_backend(pg_backend_pid())');
  const ends = await Promise.allSettled([pipeline.query(terminate), pipeline.query(session)]);
  expect(ends).toMatchObject([{ reason: { code: 'unavailable' } }, { reason: { code: 'unavailable' } }]);
  const [after] = await pipeline.query<{ pid: number }>(session);
  expect(after!.pid).not.toBe(before!.pid);
});

test('after a read-only error, statements already sent finish on the old connection, and later ones get another', async () => {
  const readOnly = named('read-only', `DO $$ BEGIN RAISE 'read-only' USING ERRCODE = '25006'; END $$`);
  const [before] = await pipeline.query<{ pid: number }>(session);
  const failing = pipeline.query(readOnly);
  const behind = pipeline.query<{ pid: number }>(session);
  await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
  const after = pipeline.query<{ pid: number }>(session);
  expect(await behind).toEqual([before]);
  expect(await after).not.toEqual([before]);
});

test('an idle pipeline returns its connection to the pool', async () => {
  await Promise.all([pipeline.query(session), pipeline.query(session)]);
  await Promise.all([0, 1].map(() => database.transaction((query) => query(session))));
  expect(pool.idleCount).toBe(pool.totalCount);
});

test('a busy pipeline returns its connection when a caller waits for one', async () => {
  const one = createStatementPool({ sessions: await reachDatabase(testDatabase.url), size: 1 });
  const shared = new Database(one, new Config());
  await shared.query(session);
  const busy = shared.pipeline();
  const lock = named('lock', 'SELECT pg_advisory_xact_lock(7)');
  const ended: string[] = [];
  const note = (name: string, work: Promise<unknown>): Promise<unknown> => work.then(() => ended.push(name));
  const all = await database.transaction(async (query) => {
    await query(lock);
    const held = note('held', busy.query(lock));
    await settled();
    const other = note('other', shared.query(session));
    await settled();
    const later = settled().then(() => busy.query(session));
    return [held, other, note('behind', busy.query(session)), note('later', later)];
  });
  await Promise.all(all);
  expect(ended).toEqual(['held', 'behind', 'other', 'later']);
  await one.end();
});

test('a failed connection fails the waiting statements, and the next statement tries again', async () => {
  let tries = 0;
  const connect = (): Promise<PipelineConnection> =>
    ++tries === 1
      ? Promise.reject(new DatabaseUnavailable('away', new Error('refused')))
      : Promise.resolve({
          query: <Row>() => Promise.resolve<Row[]>([]),
          isWanted: () => false,
          giveBack: () => undefined,
        });
  const away = new Pipeline(connect);
  const ends = await Promise.allSettled([away.query(session), away.query(session)]);
  expect(ends).toMatchObject([{ reason: { code: 'unavailable' } }, { reason: { code: 'unavailable' } }]);
  expect(await away.query(session)).toEqual([]);
});
