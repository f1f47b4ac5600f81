import type { Database } from '../../src/database/database.js';
import { cancel } from '../../src/queue/queries/cancel.js';
import { cancelMany } from '../../src/queue/queries/cancel-many.js';
import { findWeights, move } from '../../src/queue/queries/move.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { orderKeyOf } from '../../src/queue/waiting/fair-queue.js';
import { claimSome, keyId, QueueTables, submitSome } from '../support/queue-tables.js';

const modelId = 'test/model';
const cancelled = requestErrors.cancelled(0);

let tables: QueueTables;
let here: Database;
let there: Database;
let node: string;
let ids: string[];

beforeAll(async () => {
  tables = await QueueTables.create();
  [here, there] = [tables.session(), tables.session()];
});
beforeEach(async () => {
  await tables.clear();
  node = await tables.node(here);
  ids = await submitSome(here, 3);
  await tables.rows('UPDATE request SET virtual_start = 5000');
  await tables.rows('UPDATE queue_entry SET virtual_start = 5000');
});
afterAll(() => tables.drop());

const execute = (session: Database, text: string): Promise<object[]> => session.query({ name: '', text });

/** Gives every submitted request another virtual start. */
async function moveAll(session: Database, start = 1_000): Promise<string[]> {
  const seqs = await tables.rows<{ seq: string }>('SELECT seq FROM request ORDER BY seq');
  const advances = seqs.map(({ seq }, i) => ({
    seq: Number(seq),
    from: 5_000,
    start: start * (i + 1),
    key: 0,
  }));
  const moved = await move(session, modelId, 0, advances);
  return moved.map(({ id }) => id).sort();
}

const startsOf = async (table: string): Promise<number[]> =>
  (
    await tables.rows<{ start: number }>(`SELECT virtual_start::integer AS start FROM ${table} ORDER BY seq`)
  ).map(({ start }) => start);

test('entry and row have the new place, and what moved is published with both', async () => {
  const rows = await tables.rows<{ seq: string }>('SELECT seq FROM request ORDER BY seq');
  const seq = Number(rows[1]!.seq);
  expect(await move(here, modelId, 0, [{ seq, from: 5_000, start: 2_000, key: 0 }])).toEqual([
    {
      ...{ id: ids[1], modelId, priority: 0, seq, attempt: 0, orderKey: orderKeyOf(keyId) },
      ...{ start: 2_000, from: 5_000 },
    },
  ]);
  expect([await startsOf('request'), await startsOf('queue_entry')]).toEqual([
    [5_000, 2_000, 5_000],
    [5_000, 2_000, 5_000],
  ]);
});

test('a claim passes over what is being moved, takes what is behind it, and afterwards what has moved', async () => {
  const [behind] = await submitSome(there, 1);
  await tables.rows('UPDATE queue_entry SET virtual_start = 9000 WHERE request_id = $1', [behind]);
  await execute(here, 'BEGIN');
  expect(await moveAll(here)).toEqual(ids.toSorted());
  expect((await claimSome(there, node, 4)).map(({ id }) => id)).toEqual([behind]);
  await execute(here, 'COMMIT');
  const claimed = await claimSome(there, node, 4);
  expect(claimed.map(({ id, start }) => [id, start])).toEqual(ids.map((id, i) => [id, (i + 1) * 1_000]));
});

test('a move leaves alone what a claim takes, and moves the rest', async () => {
  await execute(there, 'BEGIN');
  await claimSome(there, node, 1);
  expect(await moveAll(here)).toEqual(ids.slice(1).sort());
  await execute(there, 'COMMIT');
  expect(await startsOf('request')).toEqual([5_000, 2_000, 3_000]);
});

test('a cancel that waits for a move finds nothing where it looked, and the request where it is now', async () => {
  await execute(here, 'BEGIN');
  await moveAll(here);
  const waiting = cancel(there, ids[0]!, cancelled);
  await tables.blocked(1);
  await execute(here, 'COMMIT');
  expect((await waiting)!.result).toBe('moved');
  expect(await cancel(there, ids[0]!, cancelled)).toMatchObject({ result: 'cancelled', start: 1_000 });
  const found = await cancelMany(there, { keyId }, ids, cancelled);
  expect(found.cancelled.toSorted()).toEqual(ids.slice(1).sort());
});

test('of two moves at once each request takes part in one', async () => {
  await execute(here, 'BEGIN');
  expect(await moveAll(here)).toHaveLength(3);
  expect(await moveAll(there, 500)).toEqual([]);
  await execute(here, 'COMMIT');
  expect(await moveAll(there, 500)).toEqual([]);
  expect(await startsOf('queue_entry')).toEqual([1_000, 2_000, 3_000]);
});

test('the weights of keys are found by their order keys', async () => {
  await tables.rows(
    `INSERT INTO api_key (id, name, prefix, hash, scopes, weight)
     VALUES ($1, 'heavy', '', sha256('heavy'), '{}', 2), (gen_random_uuid(), 'one', '', sha256('one'), '{}', 1)`,
    [keyId],
  );
  expect(await findWeights(here)).toEqual(new Map([[orderKeyOf(keyId), 2]]));
});
