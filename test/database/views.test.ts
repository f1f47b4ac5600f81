import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import type { Database } from '../../src/database/database.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import { release } from '../../src/queue/waiting/queries/release.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { claimSome, ending, QueueTables, submitBounded } from '../support/queue-tables.js';

const modelId = 'test/model';
const [often, bounded] = [randomUUID(), randomUUID()];
let tables: QueueTables;
let database: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  await tables.rows(
    `INSERT INTO api_key (id, name, prefix, hash, scopes, weight, max_running)
     VALUES ($1, 'often', '', sha256('a'), '{}', 2.5, NULL), ($2, 'bounded', '', sha256('b'), '{}', 1, 1)`,
    [often, bounded],
  );
  await tables.rows(
    `INSERT INTO model (id, runner, concurrency, timeout_ms, attempts) VALUES ($1, 'http', 8, 1000, 1)`,
    [modelId],
  );
});
afterAll(() => tables.drop());

const submitFor = (keyId: string, count: number, write: typeof submitBounded) => {
  const common = { modelId, keyId, priority: 0, virtualStart: 0, input: Buffer.from('{}'), expiresMs: null };
  return write(
    database,
    Array.from({ length: count }, () => ({ ...common, id: v7() })),
  );
};

test('views count waiting, held and running requests, and the shares of each key, now and in the last hour', async () => {
  const node = await tables.node(database);
  await submitFor(often, 6, submit);
  await submitFor(bounded, 3, submitBounded);
  await release(database, { keyId: bounded, modelId });
  const runs = await claimSome(database, node, 5);
  await finish(database, [ending(runs[0]!)]);
  // One run took two minutes, one began before the last hour, and one ended before it.
  const times = [
    ['2 minutes', '1 minute', runs[0]!.id],
    ['30 minutes', '50 minutes', v7()],
    ['1 minute', '2 hours', v7()],
  ];
  for (const [took, ago, id] of times) {
    await tables.rows(
      `INSERT INTO request (id, model_id, api_key_id, seq) VALUES ($1, $2, $3, 99) ON CONFLICT DO NOTHING`,
      [id, modelId, often],
    );
    await tables.rows(
      `INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome)
       VALUES ($1, 1, $2, now() - $3::interval - $4::interval, now() - $3::interval, 'succeeded')
       ON CONFLICT (request_id, attempt) DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at`,
      [id, node, ago, took],
    );
  }
  // Four runs have begun just now. Their seconds until the query are less than a minute.
  await tables.rows(`UPDATE lease SET started_at = now()`);

  expect(
    await tables.rows(
      `SELECT key_name, weight, max_running, waiting, held, running, share_now, starts_last_hour,
              trunc(run_seconds_last_hour / 60)::integer AS minutes, share_last_hour > 0.9 AS nearly_all
       FROM key_shares ORDER BY waiting`,
    ),
  ).toEqual([
    {
      key_name: 'often',
      weight: 2.5,
      max_running: null,
      waiting: 1,
      held: 0,
      running: 4,
      share_now: '1.000',
      starts_last_hour: 5,
      minutes: 12,
      nearly_all: true,
    },
    {
      key_name: 'bounded',
      weight: 1,
      max_running: 1,
      waiting: 3,
      held: 2,
      running: 0,
      share_now: '0',
      starts_last_hour: 0,
      minutes: 0,
      nearly_all: false,
    },
  ]);
  expect(await tables.rows(`SELECT waiting, delayed, running, held FROM queue_depth`)).toEqual([
    { waiting: 2, delayed: 2, running: 4, held: 2 },
  ]);
});
