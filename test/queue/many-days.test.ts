import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { Database } from '../../src/database/database.js';
import type { Queries, Statement } from '../../src/database/statement.js';
import { readBatchFile, readProgress } from '../../src/batches/queries/lines.js';
import { listOperatorBatches } from '../../src/batches/queries/operator-batches.js';
import { findBatch, listBatches } from '../../src/batches/queries/read-batches.js';
import { Clock } from '../../src/database/clock.js';
import { firstIdAt, spansOfDays } from '../../src/database/days.js';
import { endStrayUses } from '../../src/files/queries/prune-files.js';
import { readNodeTimes } from '../../src/overview/queries/node-times.js';
import { readRecentEnds } from '../../src/overview/queries/recent-ends.js';
import { readShares } from '../../src/overview/queries/shares.js';
import { cancelMany } from '../../src/queue/completion/queries/cancel-many.js';
import { CallerRequests } from '../../src/queue/reads/caller-requests.js';
import { History } from '../../src/queue/reads/history.js';
import { OperatorRequests } from '../../src/queue/reads/operator-requests.js';
import { findTypicalTimes } from '../../src/queue/reads/queries/model-loads.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { readStatus } from '../../src/queue/reads/queries/read-status.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { PartitionKeeper } from '../../src/queue/retention/duties/partition-keeper.js';
import { droppableDays, emptyOldPayloads } from '../../src/queue/retention/queries/retention.js';
import { Retention } from '../../src/queue/retention/retention.js';
import { requestFacts } from '../../src/queue/runs/queries/request-facts.js';
import { WaitingIndex } from '../../src/queue/waiting/waiting-index.js';
import { endOf } from '../../src/queue/workers/queries/worker-leases.js';
import { OperatorDeliveries } from '../../src/webhooks/operator-deliveries.js';
import { pruneDeliveries } from '../../src/webhooks/queries/prune-deliveries.js';
import { testQueue } from '../support/test-queue.js';

const dayMs = 86_400_000;
const days = 200;
const idAfter = (day: number): string => v7({ msecs: Date.now() + day * dayMs - 60_000 });
/** The newest span has at most 72 days, with those to come: 9 locks of each, with its indexes in three tables. */
const locksOfSpan = 72 * 9 + 60;
/** The day before a batch, the seven that it may last, and the two around them. */
const locksOfBatch = 10 * 9 + 60;
/** The batches of a span of 32 days, with the days around them. */
const locksOfBatches = (32 + 10) * 9 + 60;
/** The last 14 days and those to come. */
const locksOfRecent = 24 * 9 + 60;

// Before the service drops its database.
let client: pg.Client;
afterAll(() => client.end());

const { service } = testQueue({ models: { 'test/model': {} }, config: { retentionMs: 400 * dayMs } });

/** A session that counts the locks of each statement, with a plan for all values, as the service's own. */
class Counted {
  locks = 0;
  statements = 0;

  constructor(private readonly client: pg.Client) {}

  /** As `Database`. */
  readonly database = {
    query: ({ name, text, preparedAs = name }: Statement, values: unknown[] = []) =>
      this.run({ name: preparedAs, text, values }),
  } as unknown as Database;

  /** As a `DataSource`. */
  readonly source = {
    query: (text: string, values: unknown[] = []) => this.run({ text, values }),
  } as unknown as DataSource;

  private async run(query: pg.QueryConfig): Promise<unknown[]> {
    await this.client.query('BEGIN');
    const { rows } = await this.client.query<object>(query);
    const counted = await this.client.query<{ locks: number }>(
      `SELECT count(*)::integer AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'`,
    );
    await this.client.query('ROLLBACK');
    this.locks = Math.max(this.locks, counted.rows[0]!.locks);
    this.statements++;
    return rows;
  }
}

let counted: Counted;
let keyId: string;
/** The ids of planted requests, the newest first. */
let ids: string[];

beforeAll(async () => {
  await service.query(
    `SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - $1::integer, $1::integer)`,
    [days],
  );
  await service.app.get(PartitionKeeper).runOnce();
  keyId = randomUUID();
  await service.query(
    `INSERT INTO api_key (id, name, prefix, hash, scopes) VALUES ($1, 'old', '', sha256('old'), '{}')`,
    [keyId],
  );
  ids = [0, 1, 40, 41, 90, 150, days - 1].map((age) => idAfter(-age));
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, attempt, created_at, started_at, completed_at, error)
     SELECT id, 'test/model', $2::uuid, 'COMPLETED', 'failed', n, 1, uuid_time(id), uuid_time(id), uuid_time(id),
            '{"code":"model_error","status":502,"message":"no"}'
     FROM unnest($1::uuid[]) WITH ORDINALITY AS old (id, n)`,
    [ids, keyId],
  );
  await service.query(
    `INSERT INTO attempt (request_id, attempt, started_at, ended_at, outcome, error_code, error_message)
     SELECT id, 1, uuid_time(id), uuid_time(id), 'failed', 'model_error', 'no' FROM unnest($1::uuid[]) AS old (id)`,
    [ids],
  );
  client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  await client.query('SET plan_cache_mode = force_generic_plan');
}, 120_000);
beforeEach(() => (counted = new Counted(client)));

const callers = (): CallerRequests => {
  const { app } = service;
  const rest = [app.get(QueueService), new History(counted.database), app.get(Retention)] as const;
  return new CallerRequests(counted.database, ...rest, undefined as never);
};
const operators = (): OperatorRequests => {
  const { app } = service;
  const history = new History(counted.database);
  const rest = [app.get(QueueService), history, app.get(WaitingIndex), app.get(Clock)] as const;
  return new OperatorRequests(counted.source, ...rest);
};

/** Follows the pages of a list to its end. */
async function all(
  page: (before: string | undefined) => Promise<{ rows: { id: string }[]; lastId: string | null }>,
): Promise<string[]> {
  const found: string[] = [];
  for (let before: string | undefined; ;) {
    const { rows, lastId } = await page(before);
    found.push(...rows.map(({ id }) => id));
    if (lastId === null) return found;
    before = lastId;
  }
}

test.each([1, 2, 3, 50])('a caller lists requests of all days in pages of %i, each once', async (limit) => {
  const list = callers();
  expect(await all((before) => list.list(keyId, undefined, { before, limit }))).toEqual(ids);
  expect(await all((before) => list.list(keyId, { outcome: 'failed' }, { before, limit }))).toEqual(ids);
  expect(await all((before) => list.list(keyId, { outcome: 'expired' }, { before, limit }))).toEqual([]);
  expect(counted.locks).toBeLessThan(locksOfSpan);
});

test('a page that the newest days fill is one statement', async () => {
  const page = await callers().list(keyId, undefined, { limit: 1 });
  expect(page.rows.map(({ id }) => id)).toEqual([ids[0]]);
  expect(counted.statements).toBe(1);
});

const filters = {
  none: {},
  'the key': () => ({ keyId }),
  'the outcome': { outcome: 'failed' },
  'the code': { code: 'model_error' },
  'the node': { node: 'nowhere' },
  'what is open': { isOpen: true },
  'what runs': { state: 'IN_PROGRESS' },
} as const;

test.each(Object.entries(filters))(
  'an operator list filtered by %s reads one span of days at a time',
  async (_name, given) => {
    const filter = typeof given === 'function' ? given() : given;
    const list = operators();
    const found = await all((before) => list.list(filter, { before, limit: 2 }));
    const isOfAll = !('node' in filter || 'isOpen' in filter || 'state' in filter);
    expect(found).toEqual(isOfAll ? ids : []);
    expect(await list.count(filter)).toMatchObject({ value: isOfAll ? ids.length : 0, isExact: true });
    expect(counted.locks).toBeLessThan(locksOfSpan);
  },
);

test('failures of all days are counted by kind', async () => {
  const { failures } = await operators().count({ outcome: 'failed' });
  expect(failures).toMatchObject([
    { modelId: 'test/model', code: 'model_error', count: ids.length, message: 'no' },
  ]);
});

test('an operation finds the requests of all days in slices', async () => {
  const list = operators();
  const found: string[] = [];
  let before: string | null = null;
  for (let isLast = false; !isLast;) {
    const part = { before, looks: 20_000 };
    const slice = await list.slice({ keyId }, part, undefined as never, async (_manager, text, values) => {
      const rows = await counted.source.query<{ id: string }[]>(text, values);
      found.push(...rows.map(({ id }) => id));
      return { written: rows.length, looks: rows.length, lastId: rows.at(-1)?.id ?? null };
    });
    ({ isLast, lastId: before } = slice);
  }
  expect(found).toEqual(ids);
  expect(counted.locks).toBeLessThan(locksOfSpan);
});

test('a single request is read from the partitions of its day, however old it is', async () => {
  const list = operators();
  for (const id of ids) {
    expect(await list.find(id)).toMatchObject({ id, runMessage: 'no' });
  }
  expect(counted.locks).toBeLessThan(locksOfSpan);
  counted.locks = 0;
  for (const id of ids) {
    expect(await list.life(id)).toMatchObject([
      { kind: 'submitted' },
      { kind: 'started' },
      { kind: 'completed' },
    ]);
    await list.log(id, { after: 0, limit: 10 });
    await list.payload(id, 'input', { from: 0, to: 10 });
    await list.payloadSizes(id);
    await requestFacts(counted.database, id);
  }
  expect(counted.locks).toBeLessThan(60);
});

test('ids of days that a caller invents are read by few statements, and none of these is prepared', async () => {
  const invented = Array.from({ length: 100 }, (_, n) => idAfter((n % 2 === 0 ? 1 : -1) * (n + 10) * 100));
  const prepared = async (): Promise<object[]> =>
    (await client.query<object>('SELECT name FROM pg_prepared_statements')).rows;
  const before = await prepared();
  for (const id of invented) {
    expect(await readStatus(counted.database, [id])).toEqual([undefined]);
    expect(await endOf(counted.database, { id, token: id, keyId })).toBeUndefined();
    expect(await findBatch(counted.database, id)).toBeUndefined();
  }
  await cancelMany(counted.database, { keyId }, [ids[0]!, ...invented], requestErrors.cancelled(0));
  expect(await prepared()).toEqual(before);
  // Statements that are sent at once need several sessions.
  const sent: string[] = [];
  const database: Queries = {
    query<Row extends object>(statement: Statement, values?: unknown[]) {
      sent.push(statement.name);
      return service.app.get(Database).query<Row>(statement, values);
    },
  };
  const rows = await readStatus(database, [...invented, ...ids]);
  expect(rows.flatMap((row) => row?.id ?? [])).toEqual(ids);
  expect(sent.length).toBeLessThanOrEqual(16);
});

test('typical times, recent completions, shares and views lock only the recent days', async () => {
  await findTypicalTimes(counted.database);
  await readNodeTimes(counted.database);
  await readRecentEnds(counted.database);
  await readShares(counted.database, 'test/model', undefined);
  await counted.source.query('TABLE model_stats');
  await counted.source.query('TABLE key_shares');
  expect(counted.locks).toBeLessThan(locksOfRecent);
});

test('batches, deliveries and uses of files are read in the days of their requests', async () => {
  for (const id of ids) {
    await findBatch(counted.database, id);
    await readProgress(counted.database, id);
    await readBatchFile(counted.database, id, 'output');
  }
  expect(counted.locks).toBeLessThan(locksOfBatch);
  counted.locks = 0;
  // The days of the batches are those of the requests.
  await service.query(
    `INSERT INTO batch (id, api_key_id, status, format, priority, input_file_id, fingerprint, window_seconds, created_at,
                        ended_at, expires_at)
     SELECT id, $2::uuid, 'completed', 'own', 1, id, '', 60, uuid_time(id), uuid_time(id), uuid_time(id)
     FROM unnest($1::uuid[]) AS old (id)`,
    [ids, keyId],
  );
  const page = { limit: 100 };
  expect((await listBatches(counted.database, keyId, page)).map(({ id }) => id)).toEqual(ids);
  expect((await listOperatorBatches(counted.database, page)).map(({ id }) => id)).toEqual(ids);
  expect(counted.locks).toBeLessThan(locksOfBatches);
  await service.query('DELETE FROM batch');
  counted.locks = 0;
  await service.query(
    `INSERT INTO webhook_delivery (request_id, id, api_key_id, url, host, state)
     SELECT id, id, $2::uuid, 'http://receiver.test/', 'receiver.test', 'delivered' FROM unnest($1::uuid[]) AS old (id)`,
    [ids, keyId],
  );
  await service.query(
    'INSERT INTO file_use (request_id, file_id, in_input) SELECT id, id, true FROM unnest($1::uuid[]) AS old (id)',
    [ids],
  );
  const deliveries = new OperatorDeliveries(
    counted.source,
    new History(counted.database),
    undefined as never,
  );
  for (const filter of [{}, { keyId }]) {
    const { rows } = await deliveries.list(filter, { limit: 100 });
    expect(rows.map(({ requestId, modelId }) => [requestId, modelId])).toEqual(
      ids.map((id) => [id, 'test/model']),
    );
  }
  await pruneDeliveries(counted.database, 0);
  await endStrayUses(counted.database, { requestId: firstIdAt(0), fileId: firstIdAt(0) });
  expect(counted.locks).toBeLessThan(locksOfSpan);
});

test('the pruner reads old days one by one, and payloads in spans', async () => {
  const old = await droppableDays(counted.database, 2 * dayMs, ['test/model']);
  expect(old.length).toBeGreaterThan(days - 5);
  expect(counted.locks).toBeLessThan(60);
  const emptied: (string | null)[] = [];
  for (const span of spansOfDays(ids.at(-1)!, firstIdAt(Date.now()))) {
    const { lastId } = await emptyOldPayloads(counted.database, 'test/model', firstIdAt(0), 0, span);
    if (lastId !== null) emptied.push(lastId);
  }
  expect(emptied).toEqual(expect.arrayContaining([ids[0], ids.at(-1)]));
  expect(counted.locks).toBeLessThan(locksOfSpan);
});

test('a literal time bound excludes days from a query, and a computed bound does not', async () => {
  const count = (since: string): Promise<unknown> =>
    counted.source.query(`SELECT count(*) FROM request_history WHERE id >= ${since}`);
  await count(`uuid_at('${new Date(Date.now() - dayMs).toISOString()}')`);
  expect(counted.locks).toBeLessThan(60);
  await count(`uuid_at(now() - interval '1 day')`);
  expect(counted.locks).toBeGreaterThan(2 * days);
});
