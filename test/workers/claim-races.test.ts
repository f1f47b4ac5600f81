import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { type ClaimedRun, claimForWorkers } from '../../src/queue/workers/queries/claim-for-workers.js';
import { QueueTables, submitSome } from '../support/queue-tables.js';

const modelId = 'test/model';

let tables: QueueTables;
let here: Database;
let there: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  there = tables.session();
  await tables.rows(
    `INSERT INTO model (id, runner, concurrency, timeout_ms, attempts) VALUES ($1, 'worker', 1, 60000, 3)`,
    [modelId],
  );
});
beforeEach(async () => {
  await tables.clear();
  await tables.rows(
    'UPDATE model SET concurrency = 1, group_id = NULL, group_concurrency = NULL, group_stay_ms = NULL',
  );
});
afterAll(() => tables.drop());

const claimOne = (
  database: Database,
  isBounded = true,
  more: Partial<Parameters<typeof claimForWorkers>[1]> = {},
): Promise<ClaimedRun[]> =>
  claimForWorkers(database, {
    modelId,
    floor: null,
    timeoutMs: 60_000,
    byMs: Date.now() + 60_000,
    isBounded,
    groupId: null,
    isReserved: false,
    slots: [
      { workerId: randomUUID(), claimId: randomUUID(), claimHash: randomBytes(32), token: randomUUID() },
    ],
    ...more,
  });

test('claims of two nodes at once never start more than the concurrency', async () => {
  const [first] = await submitSome(here, 2);
  // As a claim does: the lock of the model's row, and then the claim itself.
  await here.execute('BEGIN');
  await here.execute(`SELECT FROM model WHERE id = '${modelId}' FOR NO KEY UPDATE`);
  const other = claimOne(there);
  await tables.blocked(1);
  expect(await claimOne(here, false)).toMatchObject([{ id: first }]);
  await here.execute('COMMIT');
  expect(await other).toEqual([]);
});

test.each([
  ['a model', {}],
  ['a model that reserves slots', { isReserved: true }],
  ['a model of a group', { groupId: 'gpu' }],
])('a claim for %s counts the slots that nodes still hold for their runs', async (_name, terms) => {
  const { groupId = null } = terms as { groupId?: string };
  await tables.rows(
    `UPDATE model SET concurrency = $1, group_id = $2::text, group_concurrency = CASE WHEN $2 IS NOT NULL THEN 1 END,
                      group_stay_ms = CASE WHEN $2 IS NOT NULL THEN 0 END`,
    [groupId === null ? 1 : 2, groupId],
  );
  const [id] = await submitSome(here, 1);
  const node = await tables.node(here);
  await tables.rows('INSERT INTO slot_grant (model_id, node_id, slots) VALUES ($1, $2, 1)', [modelId, node]);
  expect(await claimOne(here, true, terms)).toEqual([]);
  await tables.rows('UPDATE slot_grant SET slots = 0');
  expect(await claimOne(here, true, terms)).toMatchObject([{ id }]);
  await tables.rows('DELETE FROM slot_grant');
});

test('a lost answer does not release a run that a repeated claim has returned', async () => {
  const [id] = await submitSome(here, 1);
  const [run] = await claimOne(here);
  const unread = {
    requestId: id!,
    token: run!.token,
    attemptOutcome: 'returned',
    delayMs: 0,
    handed: 1,
  } as const;
  await tables.rows('UPDATE lease SET handed = 2');
  expect(await requeue(here, unread)).toBeUndefined();
  expect(await tables.rows('SELECT request_id FROM lease')).toEqual([{ request_id: id }]);
  expect(await requeue(here, { ...unread, handed: 2 })).toMatchObject({ id });
});
