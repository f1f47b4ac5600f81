import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { Database } from '../../src/database/database.js';
import { Pipeline } from '../../src/database/pipeline.js';
import type { Queries, Statement } from '../../src/database/statement.js';
import { Cancels } from '../../src/queue/completion/cancels.js';
import { Promoter } from '../../src/queue/waiting/duties/promoter.js';
import { Releaser } from '../../src/queue/waiting/duties/releaser.js';
import { Scheduler } from '../../src/queue/runs/duties/scheduler.js';
import { expire } from '../../src/queue/completion/queries/expire.js';
import { claim } from '../../src/queue/runs/queries/claim.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import { release } from '../../src/queue/waiting/queries/release.js';
import { findClaims } from '../../src/queue/workers/queries/worker-leases.js';
import { countEnds, readWorkers, writeWorkers } from '../../src/queue/workers/queries/workers.js';
import { CallerRequests } from '../../src/queue/reads/caller-requests.js';
import { Erasures } from '../../src/queue/retention/erasures.js';
import { payloadLength, readPayloadText } from '../../src/queue/reads/queries/read-payload.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { RunStore } from '../../src/queue/runs/run-store.js';
import { type NewRequest, Submissions } from '../../src/queue/submit/submissions.js';
import { brokenByNewColumns } from '../support/grown-tables.js';
import { literal, sha256Bytes, type Value } from '../support/literals.js';
import { queueRequest } from '../support/queue-calls.js';
import { ending } from '../support/queue-tables.js';
import { testQueue } from '../support/test-queue.js';
import { claimAs, knownOf } from '../support/worker-steps.js';

interface Used {
  statement: Statement;
  values: Value[];
}

const { service, calls } = testQueue({
  models: { 'test/model': { attempts: 2, expires: '1h' } },
  limits: '1000/s',
  config: { rateLimitSubmit: [{ name: 'minute', limit: 100, windowMs: 60_000 }] },
});
let database: Database;
/** Every statement that the requests have used, with its last values. */
const used = new Map<string, Used>();

beforeAll(async () => {
  database = service.app.get(Database);
  const restore = [database, Pipeline.prototype].map((queries) => watch(queries));
  await liveALife();
  for (const end of restore) end();
});

/** Records the statements of `queries` until the returned function is called. */
function watch(queries: Queries & { atomically?: Database['atomically'] }): () => void {
  const { query, atomically } = queries;
  if (atomically !== undefined)
    queries.atomically = function <Row extends object>(
      this: Database,
      ...all: Parameters<Database['atomically']>
    ) {
      for (const [statement, values] of all)
        used.set(statement.name, { statement, values: values as Value[] });
      return atomically.call(this, ...all) as Promise<Row[]>;
    };
  queries.query = function <Row extends object>(statement: Statement, values: unknown[] = []) {
    used.set(statement.name, { statement, values: values as Value[] });
    return query.call(this, statement, values) as Promise<Row[]>;
  };
  return () => Object.assign(queries, { query, ...(atomically && { atomically }) });
}

/** Takes requests through every statement of the hot path. */
async function liveALife(): Promise<void> {
  const body = '{"type":"log","message":"x"}\n{"type":"delta","delta":1}';
  const busy = { status: 500, headers: { 'retry-after': '0' } };
  const id = await calls.submit('test/model', {
    attempts: [busy, { type: 'application/x-ndjson', body }],
  });
  await calls.response(id);
  await calls.status(id, '?logs=1');
  await (await service.get(`${calls.path(id)}/output/stream`)).text();
  await calls.response(await calls.submit('test/model', { attempts: [{ status: 400 }] }));
  await calls.submit('test/model', {}, { 'idempotency-key': 'plans' });
  await calls.submit('test/model', {}, { 'idempotency-key': 'plans' });
  // Nothing runs these requests. First ten at once in the process, so that they share a statement, then a single one.
  const queue = service.app.get(QueueService);
  const submissions = service.app.get(Submissions);
  const request = await queueRequest(service, 'test/other');
  const accepted = await Promise.all(Array.from({ length: 10 }, () => submissions.submit(request)));
  accepted.push(await submissions.submit(request));
  const ids = accepted.map(({ id: one }) => one);
  await Promise.all(ids.map((one) => queue.status(one)));
  // Unbatched and with room, as the first one was, but with nothing to count in the same statement.
  await submissions.submit({ ...request, modelId: 'test/model' });
  await Promise.all(ids.map((one) => calls.cancel(one)));
  // Unbatched and without room.
  const scheduler = service.app.get(Scheduler);
  await scheduler.stop();
  const waiting = await calls.submit('test/model', {});
  scheduler.start();
  await calls.response(waiting);
  await payloadLength(database, 'output', waiting);
  await readPayloadText(database, 'output', waiting);
  for (const duty of [Promoter, Scheduler]) await service.app.get(duty).runOnce();
  await claim(database, {
    modelId: 'test/model',
    nodeId: randomUUID(),
    slotRound: 0,
    limit: 1,
    lowestPriority: 0,
    timeoutMs: 60_000,
    floor: null,
    byMs: Date.now() + 60_000,
  });
  await useCollection(request, id, ids);
  await useWorkers();
  await expire(database, { code: 'expired', status: 504, message: '', timestamp: '' });
}

async function useCollection(
  request: Awaited<ReturnType<typeof queueRequest>>,
  ended: string,
  ids: string[],
): Promise<void> {
  const collection = service.app.get(CallerRequests);
  const submissions = service.app.get(Submissions);
  await submitBatches(request);
  await collection.list(request.keyId, { tags: ['a:b'] }, { limit: 10 });
  const cancels = service.app.get(Cancels);
  await cancels.fitting(request.keyId, { modelId: 'test/other' });
  await cancels.many(request.keyId, ids);
  const terms = { originalId: ended, maxExpiresMs: null, maxTimeoutMs: 1_000 };
  await submissions.retry(request, terms);
  await submitBounded({ ...request, keyId: boundedKey, isBounded: true }, terms);
  await service.app.get(Erasures).among(service.app.get(Database), ended);
}

async function submitBatches(request: NewRequest): Promise<void> {
  const submissions = service.app.get(Submissions);
  await submissions.submitMany([request, request]);
  const [two, three] = [keyed(request, 'two'), keyed(request, 'three')];
  for (let times = 0; times < 2; times++) await submissions.submitMany([request, two, three]);
}

/** Every statement that a worker's calls use. */
async function useWorkers(): Promise<void> {
  const lease = { id: v7(), token: randomUUID(), keyId: randomUUID() };
  await claimAs(database, randomUUID(), 2, { isBounded: true });
  await claimAs(database, randomUUID(), 2, { groupId: 'gpu-0' });
  await knownOf(database, [lease]);
  await findClaims(database, ['plans']);
  for (const how of ['succeeded', 'failed'] as const) await finish(database, [ending(lease, how)], 'worker');
  const said = { uid: randomUUID(), keyId: randomUUID(), id: 'plans', seenAgoMs: 0, hasRun: true };
  await writeWorkers(database, [said]);
  await countEnds(database, [{ uid: said.uid, succeeded: false, failures: 1, failedAgoMs: 0 }]);
  await readWorkers(database, [said.uid]);
}

const boundedKey = randomUUID();

async function submitBounded(request: NewRequest, terms: Parameters<Submissions['retry']>[1]): Promise<void> {
  await service.query(
    `INSERT INTO api_key (id, name, prefix, hash, scopes, max_running)
     VALUES ($1, 'bounded', '', sha256('bounded'), '{}', 2)`,
    [boundedKey],
  );
  const submissions = service.app.get(Submissions);
  await submissions.submit(request);
  await submissions.submit(keyed(request, 'one'));
  await submitBatches(request);
  await submissions.retry(request, terms);
  await service.app.get(Releaser).runOnce();
  await service.app.get(Cancels).fitting(boundedKey, { modelId: request.modelId });
}

/**
 * Returns the plan that the service itself would get: on its own connections, with the plan that is kept for all
 * values.
 */
async function planOf(name: string, options = ''): Promise<string> {
  return (await explain(name, options)).plan;
}

/** Also counts the locks that the plan and its making take. */
async function explain(name: string, options = ''): Promise<{ plan: string; locks: number }> {
  const { statement, values } = used.get(name)!;
  return database.transaction(async (query) => {
    const run = (text: string): Promise<Record<string, string>[]> => query({ name: '', text });
    await run(`PREPARE plan_of AS ${statement.text}`);
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    const lines = await run(`EXPLAIN ${options} EXECUTE plan_of ${given}`);
    const locks = await run(`SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'`);
    await run(`DEALLOCATE plan_of`);
    await run(`ROLLBACK`);
    return { plan: lines.map((line) => line['QUERY PLAN']).join('\n'), locks: locks.length };
  });
}

function keyed<Request>(request: Request, key: string) {
  return { ...request, idempotency: { key, fingerprint: Buffer.alloc(sha256Bytes, 1) } };
}

const hot = [
  'submit_started',
  'submit',
  'submit_once',
  'claim',
  'claim_reserved',
  'append_events',
  'finish',
  'finish_successes',
  'requeue',
  'cancel',
  'promote',
  'expire_waiting',
  'models_with_work',
  'read_status_one',
  'read_status_many',
  'read_log',
  'read_small_output_of',
  'read_length_of_output',
  'read_text_of_output',
  'read_output',
  'read_output_of',
  'find_idempotency_keys',
  'retry',
  'erase',
  'list_requests',
  'cancel_many',
  'release',
  'releasable',
  'claim_for_workers',
  'claim_shared_for_workers',
  'lock_model',
  'renew_leases',
  'find_worker_leases',
  'worker_run_ended',
  'find_claims',
  'finish_of_worker',
  'finish_successes_of_worker',
  'write_workers',
  'count_worker_ends',
  'read_workers',
];

/** The claims, with the parameters of their floors. */
const claims = [
  ['claim', '$5, $6, $7'],
  ['claim_reserved', '$5, $6, $7'],
  ['claim_for_workers', '$2, $3, $4'],
  ['claim_shared_for_workers', '$2, $3, $4'],
] as const;

async function expectGoodPlans(): Promise<void> {
  for (const name of hot) {
    const plan = await planOf(name);
    expect(`${name}\n${plan}`).not.toMatch(/Seq Scan/);
    // That index would be read from end to end.
    if (name !== 'list_requests') expect(`${name}\n${plan}`).not.toMatch(/api_key_id_id_idx/);
  }
  for (const [name, floor] of claims) {
    const plan = `${name}\n${await planOf(name)}`;
    expect(plan).toMatch(/Index Scan using queue_entry_pkey on queue_entry/);
    expect(plan).toContain(`(model_id = $1) AND (ROW(priority, virtual_start, seq) >= ROW(${floor}))`);
    expect(plan).not.toMatch(/Sort/);
  }
  expect(await planOf('submit_started')).toMatch(
    /Index Cond: \(\(model_id = \$2\) AND \(ROW\(priority, virtual_start, seq\) >= ROW\(\$\d+, \$\d+, \$\d+\)\)\)/,
  );
  expect(await planOf('expire_waiting')).not.toMatch(/Sort/);
  expect(await planOf('read_log')).not.toMatch(/Sort/);
  const list = await planOf('list_requests');
  // The list has no node that sorts; the days are merged by a sort key.
  expect(list).not.toMatch(/Sort {2}\(cost/);
  expect(list).toMatch(/Merge Append {2}\(cost/);
  expect(list).toMatch(/Index Scan Backward using request_\d+_api_key_id_id_idx/);
  expect(list).not.toMatch(/request_\d+_pkey/);
  // Lists of thousands of elements may be looked up only by the keys of their elements.
  for (const name of ['open_requests', 'cancel_many', 'expire_waiting', 'find_idempotency_keys']) {
    expect(`${name}\n${await planOf(name)}`).not.toMatch(
      /Join Filter|Seq Scan on request_\d|api_key_id_id_idx/,
    );
  }
  // The plan of a look-up, kept for all values, has the partitions of one day and no others.
  for (const name of [
    'read_status_one',
    'read_status_many',
    'read_log',
    'read_small_output_of',
    'read_length_of_output',
    'read_text_of_output',
    'retry',
    'erase',
    'worker_run_ended',
  ]) {
    expect(new Set((await planOf(name)).match(/(?<=_)\d{8}\b/g))).toHaveProperty('size', 1);
  }
}

async function fill(rows: number): Promise<void> {
  await service.query(
    `INSERT INTO queue_entry (model_id, priority, seq, request_id)
     SELECT 'test/' || n % 7, 0, nextval('request_seq'), gen_random_uuid()
     FROM generate_series(1, $1::integer) AS n`,
    [rows],
  );
}

/** Fills the history. Ids have the form of a UUIDv7, spread over the coming seconds. */
async function fillHistory(rows: number): Promise<void> {
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, seq)
     SELECT overlay(gen_random_uuid()::text PLACING left(uuid_at(now() + n * interval '1 ms')::text, 13) FROM 1)::uuid,
            'test/other', gen_random_uuid(), nextval('request_seq')
     FROM generate_series(1, $1::integer) AS n`,
    [rows],
  );
}

describe('the hot statements find their rows by index, and the claim sorts nothing,', () => {
  const analyze = (): Promise<unknown> =>
    service.query(`ANALYZE queue_entry, delayed_entry, lease, request, request_event, idempotency_key`);

  beforeAll(async () => {
    for (const table of ['queue_entry', 'lease', 'delayed_entry']) {
      await service.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
  });

  test('with every hot statement covered', () => {
    expect(hot.filter((name) => !used.has(name))).toEqual([]);
  });

  test('while the tables are empty', () => expectGoodPlans());

  test('with outdated statistics of empty tables', async () => {
    await analyze();
    await fill(20_000);
    await fillHistory(20_000);
    await expectGoodPlans();
  });

  test('when the statistics are right', async () => {
    await analyze();
    await expectGoodPlans();
  });

  test('with outdated statistics of full tables', async () => {
    await service.query(`TRUNCATE queue_entry`);
    await expectGoodPlans();
  });
});

test('simple reads of one request read the partition of one day only', async () => {
  const dataSource = service.app.get(DataSource);
  const id = (await service.query<{ id: string }>('SELECT id FROM request LIMIT 1'))[0]!.id;
  const sent: [sql: string, values: unknown[]][] = [];
  const { logger } = dataSource;
  const remember = (sql: string, values: unknown[] = []): void => void sent.push([sql, values]);
  dataSource.logger = Object.assign(Object.create(logger) as typeof logger, { logQuery: remember });
  await service.app.get(RunStore).logUsage(id);
  dataSource.logger = logger;
  expect(sent).toHaveLength(1);
  for (const [sql, values] of sent) {
    const lines = await dataSource.query<Record<string, string>[]>(`EXPLAIN ${sql}`, values);
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(new Set(plan.match(/ on request\w*_\d{8}/g))).toHaveProperty('size', 1);
  }
});

test('a claim reads about as many pages of a long queue as of a short one', async () => {
  const pagesOf = async (): Promise<number> => {
    const plan = await planOf('claim', '(ANALYZE, BUFFERS, TIMING off, SUMMARY off, COSTS off)');
    const found = /Limit[^\n]*\n(?:.*Output.*\n)?\s*Buffers: ([^\n]*)/.exec(plan);
    const pages = [...(found?.[1] ?? '').matchAll(/(?:hit|read)=(\d+)/g)];
    expect(pages).not.toEqual([]);
    return pages.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const claim = used.get('claim')!;
  claim.values[0] = 'test/1';
  claim.values[1] = 1;
  await service.query(`TRUNCATE queue_entry`);
  await service.query(`VACUUM queue_entry`);
  await fill(10);
  const short = await pagesOf();
  await fill(50_000);
  const long = await pagesOf();
  expect(long).toBeLessThanOrEqual(short + 5);
});

test('a release and a claim read about as many pages with many parked requests as with few', async () => {
  const heldQueue = { keyId: boundedKey, modelId: 'test/1' };
  await service.app.get(Releaser).stop();
  const hold = (rows: number): Promise<unknown> =>
    service.query(
      `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, bounded_key_id, ready_at)
       SELECT $1, 0, n, nextval('request_seq'), gen_random_uuid(), $2, 'infinity'
       FROM generate_series(1, $3::integer) AS n`,
      [heldQueue.modelId, heldQueue.keyId, rows],
    );
  const pagesOf = async (name: string): Promise<number> => {
    const plan = await planOf(name, '(ANALYZE, BUFFERS, TIMING off, SUMMARY off, COSTS off)');
    const all = /Buffers: ([^\n]*)/.exec(plan)![1]!;
    return [...all.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  used.get('release')!.values = [heldQueue.keyId, heldQueue.modelId];
  await service.query(`TRUNCATE queue_entry, delayed_entry`);
  await fill(100);
  await hold(10);
  const [release10, claim10] = [await pagesOf('release'), await pagesOf('claim')];
  await hold(50_000);
  expect(await pagesOf('release')).toBeLessThanOrEqual(release10 + 20);
  expect(await pagesOf('claim')).toBeLessThanOrEqual(claim10 + 5);
  expect(await planOf('release')).toMatch(/Index Scan using delayed_entry_held on delayed_entry/);
  expect(await release(database, heldQueue)).toHaveLength(2);
  expect(await planOf('releasable')).toMatch(/using delayed_entry_held on delayed_entry/);
});

/** They read requests of any day without their ids, seldom and one at a time. */
const ofAllDays = ['list_requests', 'typical_times'];

/** `npm run test:processes` makes four hundred. */
const days = Number(process.env['PLANNED_DAYS'] ?? 100);

describe(`${days} days`, () => {
  /** Makes the days up to today, in steps: a transaction has a lock on each table that it makes. */
  async function makeDays(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 20)
      await service.query(`SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - $1::integer, 20)`, [
        left,
      ]);
  }

  test('need at most 1.5 times as many locks per statement as 20 days', async () => {
    const locksOfAll = async (): Promise<Map<string, number>> => {
      const locks = new Map<string, number>();
      for (const name of used.keys())
        if (!ofAllDays.includes(name)) locks.set(name, (await explain(name)).locks);
      return locks;
    };
    await makeDays(20);
    const few = await locksOfAll();
    expect([...few.keys()]).toEqual(expect.arrayContaining(['claim', 'cancel', 'read_status_many']));
    await makeDays(days);
    const many = await locksOfAll();
    const more = [...many].filter(([name, locks]) => locks > 1.5 * few.get(name)!);
    expect(more).toEqual([]);
  });
});

test('a migration that adds columns breaks no statement that a running node has prepared', async () => {
  const statements = [...used.values()].map(({ statement }) => [statement.name, statement.text] as const);
  expect(await brokenByNewColumns(service.databaseUrl, statements)).toEqual([]);
});
