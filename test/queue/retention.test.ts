import pg from 'pg';
import { v7 } from 'uuid';
import { Config } from '../../src/config/config.js';
import { Database } from '../../src/database/database.js';
import { reachDatabase } from '../../src/database/reach.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { PartitionKeeper } from '../../src/queue/retention/duties/partition-keeper.js';
import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { dropPartition, droppableDays } from '../../src/queue/retention/queries/retention.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled } from '../support/worker-calls.js';

const dayMs = 86_400_000;

const { service, calls, model } = testQueue({
  models: {
    'test/model': {},
    'test/brief': { retention_payload: '1d' },
    'test/narrow': { concurrency: 1 },
    'test/pulled': pulled,
  },
  config: { retentionMs: 5 * dayMs },
});
let seq = 1_000_000;

/** The key is older than all planted requests. */
beforeAll(() => service.query(`UPDATE api_key SET created_at = now() - interval '1 year'`));

const prune = (): Promise<void> => service.app.get(Pruner).runOnce();

const dayOf = (age: number): string =>
  new Date(Date.now() - age * dayMs).toISOString().slice(0, 10).replaceAll('-', '');

/** Plants a request that was submitted `age` days ago, with the partitions of its day. */
async function plant(age: number, completedAge: number | null, modelId = 'test/model'): Promise<string> {
  const at = Date.now() - age * dayMs;
  await service.query(`SELECT ensure_partitions(to_date($1, 'YYYYMMDD'), 1)`, [dayOf(age)]);
  const id = v7({ msecs: at });
  const completed = completedAge === null ? null : new Date(Date.now() - completedAge * dayMs);
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, attempt, input, output, created_at,
                          started_at, completed_at)
     SELECT $1, $2, api_key.id, CASE WHEN $3::timestamptz IS NULL THEN 'IN_QUEUE' ELSE 'COMPLETED' END,
            CASE WHEN $3::timestamptz IS NOT NULL THEN 'succeeded' END, $4, 1, '{"in":1}',
            CASE WHEN $3::timestamptz IS NOT NULL THEN '{"out":1}'::json END, $5, $5, $3
     FROM api_key LIMIT 1`,
    [id, modelId, completed, ++seq, new Date(at)],
  );
  await service.query(
    `INSERT INTO request_event (request_id, at, kind, attempt) VALUES ($1, $2, 'requeued', 1)`,
    [id, new Date(at)],
  );
  return id;
}

const complete = (id: string, daysAgo: number): Promise<object[]> =>
  service.query(
    `UPDATE request SET state = 'COMPLETED', outcome = 'succeeded', output = coalesce(output, '1'),
                        completed_at = now() - $2 * interval '1 day' WHERE id = $1`,
    [id, daysAgo],
  );

/** The days that still have a partition of any table. */
async function days(): Promise<string[]> {
  const rows = await service.query<{ day: string }>(
    `SELECT DISTINCT right(relname, 8) AS day FROM pg_class
     WHERE relkind = 'r' AND relname ~ '^(request|attempt|request_event)_[0-9]{8}$' ORDER BY day`,
  );
  return rows.map(({ day }) => day);
}

describe('the pruner', () => {
  test('drops whole days beyond the retention, and no younger one', async () => {
    const old = [await plant(40, 40), await plant(7, 7)];
    const young = await plant(4, 4);
    const today = await calls.run('test/model');
    await prune();
    expect(await days()).not.toContain(dayOf(40));
    expect(await days()).not.toContain(dayOf(7));
    expect(await days()).toContain(dayOf(4));
    for (const id of old) expect(await verdict(service.get(calls.path(id)))).toEqual([410, 'gone']);
    for (const id of [young, today]) expect((await service.get(calls.path(id))).status).toBe(200);
    const left = await service.query(`SELECT FROM request_event WHERE request_id = ANY ($1::uuid[])`, [old]);
    expect(left).toEqual([]);
  });

  test.each([
    [
      'waits',
      `INSERT INTO queue_entry (model_id, priority, seq, request_id) VALUES ('test/gone', 0, $2, $1)`,
    ],
    [
      'waits for its next attempt',
      `INSERT INTO delayed_entry (model_id, priority, seq, request_id, ready_at)
       VALUES ('test/gone', 0, $2, $1, now() + interval '1 hour')`,
    ],
    [
      'runs',
      `INSERT INTO lease (request_id, token, model_id, node_id, attempt, deadline_at)
       SELECT $1, gen_random_uuid(), 'test/gone', id, $2::integer, now() + interval '1 hour' FROM node`,
    ],
  ])('retains a day while one of its requests %s', async (_name, occupy) => {
    const done = await plant(20, 20);
    const id = await plant(20, null);
    await service.query(occupy, [id, ++seq]);
    await prune();
    expect(await days()).toContain(dayOf(20));
    expect(await service.query(`SELECT FROM request WHERE id IN ($1, $2)`, [id, done])).toHaveLength(2);
    for (const table of ['queue_entry', 'delayed_entry', 'lease']) {
      await service.query(`DELETE FROM ${table} WHERE request_id = $1`, [id]);
    }
    await prune();
    expect(await days()).not.toContain(dayOf(20));
  });

  test('retains a day while a request that completed late is within its retention', async () => {
    const patient = await plant(12, 1);
    await prune();
    expect((await service.get(calls.path(patient))).status).toBe(200);
    await complete(patient, 6);
    await prune();
    expect(await days()).not.toContain(dayOf(12));
  });

  test('finishes the removal of a day after an interruption', async () => {
    await plant(30, 30);
    await service.query(`ALTER TABLE request_event DETACH PARTITION request_event_${dayOf(30)}`);
    await service.query(`DROP TABLE attempt_${dayOf(30)}`);
    await prune();
    expect(await days()).not.toContain(dayOf(30));
  });

  test('drops a partition that another node detaches in the meantime', async () => {
    await plant(31, 31);
    const part = `request_event_${dayOf(31)}`;
    const database = service.app.get(Database);
    const outrun = Object.assign(Object.create(database) as Database, {
      query: async (...args: Parameters<Database['query']>) => {
        const rows = await database.query(...args);
        await service.query(`ALTER TABLE request_event DETACH PARTITION ${part}`);
        return rows;
      },
    });
    expect(await dropPartition(outrun, 'request_event', part)).toBe(true);
    expect(await service.query('SELECT to_regclass($1) AS found', [part])).toEqual([{ found: null }]);
    await prune();
  });

  test.each([
    ['that another node has', 'NULL'],
    ['that has left models.yaml for less than a day', `now() - interval '23 hours'`],
  ])('keeps a day with a request of a model %s', async (_name, removedAt) => {
    const kept = await plant(8, 8);
    await plant(9, 9);
    await service.query(
      `INSERT INTO model (id, runner, timeout_ms, attempts, removed_at) VALUES ('test/lasting', 'http', 1000, 1, ${removedAt})`,
    );
    await service.query(`UPDATE request SET model_id = 'test/lasting' WHERE id = $1`, [kept]);
    await prune();
    expect(await days()).toContain(dayOf(8));
    expect(await days()).not.toContain(dayOf(9));
    expect(await service.query('SELECT FROM request WHERE id = $1', [kept])).toHaveLength(1);
    await service.query(
      `UPDATE model SET removed_at = now() - interval '25 hours' WHERE id = 'test/lasting'`,
    );
    await prune();
    expect(await days()).not.toContain(dayOf(8));
    await service.query(`DELETE FROM model WHERE id = 'test/lasting'`);
  });

  test.each([
    ['nodes', 'test/model'],
    ['workers', 'test/pulled'],
  ])('of a node lets those with another file keep the days of a model that %s run', async (_name, id) => {
    const kept = await plant(8, 1, id);
    const remove = `UPDATE model SET removed_at = now() - $2 * interval '1 hour' WHERE id = $1`;
    await service.query(remove, [id, 25]);
    await prune();
    const droppable = (): Promise<string[]> =>
      droppableDays(service.app.get(Database), dayMs / 2, ['test/brief']);
    expect(await droppable()).not.toContain(dayOf(8));
    // If this node was the last one that has it, it is gone a day later.
    await service.query(remove, [id, 25]);
    expect(await droppable()).toContain(dayOf(8));
    await service.query(`UPDATE model SET removed_at = NULL WHERE id = $1`, [id]);
    await complete(kept, 6);
    await prune();
  });

  test('drops a day while a long query reads the table', async () => {
    await plant(9, 9);
    const reader = service.query(`SELECT count(*), pg_sleep(0.5) FROM request`);
    await prune();
    await reader;
    expect(await days()).not.toContain(dayOf(9));
  });

  test('does not start a second wait for a day that an open transaction still reads', async () => {
    await plant(11, 11);
    const reader = new pg.Client({ connectionString: service.databaseUrl });
    await reader.connect();
    const waiting = `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'ALTER TABLE % DETACH %'`;
    await reader.query('BEGIN; SELECT count(*) FROM request; SELECT count(*) FROM request_event');
    const first = prune();
    await until(async () => (await service.query(waiting)).length === 1, { message: 'a session waits' });
    await prune();
    expect(await service.query(waiting)).toHaveLength(1);
    expect(await days()).toContain(dayOf(11));
    await reader.end();
    await first;
    expect(await days()).not.toContain(dayOf(11));
  });
});

describe('payloads', () => {
  const payloads = (ids: string[]): Promise<object[]> =>
    service.query(
      `SELECT input IS NOT NULL AS input, output IS NOT NULL AS output FROM request
       WHERE id = ANY ($1::uuid[]) ORDER BY array_position($1::uuid[], id)`,
      [ids],
    );
  const kept = { input: true, output: true };
  const emptied = { input: false, output: false };

  test('are deleted before their request when the model has a shorter retention, and the status remains', async () => {
    const ids = [await plant(3, 3, 'test/brief'), await plant(3, 3), await plant(0.5, 0.5, 'test/brief')];
    await prune();
    expect(await payloads(ids)).toEqual([emptied, kept, kept]);
    expect(await verdict(service.get(calls.path(ids[0]!)))).toEqual([410, 'gone']);
    expect(await calls.status(ids[0]!)).toMatchObject({ status: 'COMPLETED', success: true });
    expect((await service.get(calls.path(ids[1]!))).status).toBe(200);
  });

  test('are deleted also in a round that cannot drop a day', async () => {
    await plant(9, 9);
    const id = await plant(3, 3, 'test/brief');
    // What depends on a table keeps it, as a foreign owner does.
    await service.query(`CREATE VIEW of_a_day AS SELECT id FROM request_event_${dayOf(9)}`);
    await expect(prune()).rejects.toThrow(/cannot drop table/);
    expect(await payloads([id])).toEqual([emptied]);
    await service.query('DROP VIEW of_a_day');
    await prune();
    expect(await days()).not.toContain(dayOf(9));
  });

  test('of a model that left models.yaml a day ago are deleted by the service’s own retention', async () => {
    await service.query(
      `INSERT INTO model (id, runner, timeout_ms, attempts, removed_at)
       VALUES ('test/removed', 'http', 1000, 1, now() - interval '25 hours'),
              ('test/away', 'http', 1000, 1, now() - interval '23 hours'), ('test/newer', 'http', 1000, 1, NULL)`,
    );
    const config = service.app.get(Config);
    const ids = [await plant(3, 3, 'test/removed'), await plant(0.5, 0.5, 'test/removed')];
    ids.push(await plant(3, 3, 'test/away'), await plant(3, 3, 'test/newer'));
    Object.assign(config, { retentionPayloadMs: dayMs });
    await prune().finally(() => Object.assign(config, { retentionPayloadMs: null }));
    expect(await payloads(ids)).toEqual([emptied, kept, kept, kept]);
    await service.query(`DELETE FROM model WHERE id IN ('test/removed', 'test/away', 'test/newer')`);
  });

  test('remain while their request waits or has just ended, and are deleted in a later round', async () => {
    const ids = [await plant(3, null, 'test/brief'), await plant(3, 0.1, 'test/brief')];
    await service.query(
      `INSERT INTO queue_entry (model_id, priority, seq, request_id)
       SELECT 'test/gone', 0, seq, id FROM request WHERE id = $1`,
      [ids[0]],
    );
    await prune();
    expect(await payloads(ids)).toEqual([{ input: true, output: false }, kept]);
    await service.query('DELETE FROM queue_entry WHERE request_id = $1', [ids[0]]);
    for (const id of ids) await complete(id, 2);
    await prune();
    expect(await payloads(ids)).toEqual([emptied, emptied]);
  });
});

test('idempotency keys are forgotten after a day', async () => {
  for (const key of ['old', 'young']) await calls.submit('test/model', {}, { 'idempotency-key': key });
  await service.query(
    `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`,
  );
  await prune();
  expect(await service.query(`SELECT key FROM idempotency_key`)).toEqual([{ key: 'young' }]);
});

test('partitions exist a week ahead, and further rounds create and drop none', async () => {
  const ahead = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => dayOf(-n));
  expect(await days()).toEqual(expect.arrayContaining(ahead));
  await prune();
  const before = await days();
  await service.app.get(PartitionKeeper).runOnce();
  await prune();
  expect(await days()).toEqual(before);
});

test('nodes that make the same days at once make each once, and none fails', async () => {
  const ahead = await days();
  for (const table of ['request', 'attempt', 'request_event'])
    for (const n of [-5, -6, -7]) await service.query(`DROP TABLE ${table}_${dayOf(n)}`);
  // Like nodes that start: each on a connection that has not read the catalogue yet.
  const sessions = await reachDatabase(service.databaseUrl);
  const databases = Array.from({ length: 8 }, () => {
    const pool = createStatementPool({ sessions, size: 1 });
    return new Database(pool, { databasePreparedStatements: true });
  });
  try {
    for (const database of databases) await database.execute('SELECT 1');
    const keepers = databases.map((database) => new PartitionKeeper(database).runOnce());
    expect(await Promise.allSettled(keepers)).toEqual(keepers.map(() => ({ status: 'fulfilled' })));
    expect(await days()).toEqual(ahead);
  } finally {
    await Promise.all(databases.map((database) => database.onApplicationShutdown()));
  }
});

test('a request that waits longer than the retention can still be run and read', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const id = await plant(10, null, 'test/narrow');
  await service.query(
    `WITH new AS (UPDATE request SET attempt = 0, started_at = NULL WHERE id = $1 RETURNING *)
     INSERT INTO queue_entry (model_id, priority, seq, request_id) SELECT model_id, priority, seq, id FROM new`,
    [id],
  );
  await prune();
  expect((await calls.status(id)).status).toBe('IN_QUEUE');
  await model.answer(running);
  const output = await (await calls.response(id)).json();
  expect(output).toEqual({ done: id, attempt: 1 });
  await prune();
  expect(await (await service.get(calls.path(id))).json()).toEqual(output);
});

describe('the recent days', () => {
  const recent = async (): Promise<string> =>
    (await service.query<{ text: string }>(`SELECT pg_get_viewdef('recent_request'::regclass) AS text`))[0]!
      .text;
  const firstOf = async (age: number): Promise<string> =>
    (
      await service.query<{ id: string }>(
        `SELECT uuid_at(date_trunc('day', now() - $1::integer * interval '1 day', 'UTC')) AS id`,
        [age],
      )
    )[0]!.id;
  const keep = (): Promise<void> => service.app.get(PartitionKeeper).runOnce();

  test('begin with the day of the oldest waiting request, however old, and the request can run', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const id = await plant(200, null, 'test/narrow');
    await service.query(
      `WITH new AS (UPDATE request SET attempt = 0, started_at = NULL WHERE id = $1 RETURNING *)
       INSERT INTO queue_entry (model_id, priority, seq, request_id) SELECT model_id, priority, seq, id FROM new`,
      [id],
    );
    await keep();
    expect(await recent()).toContain(await firstOf(200));
    await model.answer(running);
    expect(await (await calls.response(id)).json()).toEqual({ done: id, attempt: 1 });
  });

  test('are the last 14 days and the future days if no older request waits or runs', async () => {
    await keep();
    expect(await recent()).toContain(await firstOf(14));
    // Another round changes nothing, so it waits for no lock.
    const reader = new pg.Client({ connectionString: service.databaseUrl });
    await reader.connect();
    await reader.query('BEGIN; SELECT FROM recent_request LIMIT 1');
    await keep();
    await reader.end();
  });

  test('keep their bound while a long statement reads them', async () => {
    await service.query(`CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request`);
    const reader = new pg.Client({ connectionString: service.databaseUrl });
    await reader.connect();
    await reader.query('BEGIN; SELECT FROM recent_request LIMIT 1');
    await keep();
    expect(await recent()).not.toContain(await firstOf(14));
    await reader.end();
    await keep();
    expect(await recent()).toContain(await firstOf(14));
  });
});

test('concurrent reads return the statuses of requests from many days', async () => {
  const ages = [1, 3, 20, 21, 100];
  const ids = await Promise.all(ages.map((age) => plant(age, age)));
  const rows = await Promise.all([...ids, ...ids].map((id) => service.app.get(QueueService).status(id)));
  expect(rows.map((row) => row?.id)).toEqual([...ids, ...ids]);
});
