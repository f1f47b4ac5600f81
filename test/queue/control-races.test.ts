import type { Database } from '../../src/database/database.js';
import { claimSome, QueueTables, submitSome, submitStartedFor } from '../support/queue-tables.js';

let tables: QueueTables;
let here: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  await tables.rows(
    `INSERT INTO model (id, runner, concurrency, timeout_ms, attempts) VALUES ('test/model', 'demo', 4, 1000, 1)`,
  );
});
beforeEach(async () => {
  await tables.clear();
  await tables.rows('UPDATE model SET paused = NULL, slot_round = 0');
  node = await tables.node(here);
});
afterAll(() => tables.drop());

const pause = `UPDATE model SET paused = 'hold'`;

async function nothingStarts(more: { slotRound?: number } = {}): Promise<void> {
  expect(await submitStartedFor(here, node, more)).toBeUndefined();
  await submitSome(here, 2);
  expect(await claimSome(here, node, 2, more)).toEqual([]);
  expect(await tables.rows('SELECT FROM lease')).toEqual([]);
  expect(await tables.rows('SELECT FROM queue_entry')).toHaveLength(2);
}

test('after a pause is committed, neither a claim nor an immediate start succeeds, even on a node with stale state', async () => {
  await tables.rows(pause);
  await nothingStarts();
  await tables.rows('UPDATE model SET paused = NULL');
  expect(await claimSome(here, node, 2)).toHaveLength(2);
});

test('a claim and a pause that is not committed yet do not wait for each other', async () => {
  await submitSome(here, 2);
  await tables.rows(`BEGIN; ${pause}`);
  expect(await claimSome(here, node, 1)).toHaveLength(1);
  await tables.rows('COMMIT');
  expect(await claimSome(here, node, 1)).toEqual([]);
  await tables.rows('UPDATE model SET paused = NULL');
  await here.execute('BEGIN');
  expect(await claimSome(here, node, 1)).toHaveLength(1);
  await tables.rows(pause);
  await here.execute('COMMIT');
});

test('slots from an outdated grant round start nothing', async () => {
  await tables.rows('UPDATE model SET slot_round = 1');
  await nothingStarts({ slotRound: 0 });
  expect(await claimSome(here, node, 2, { slotRound: 1 })).toHaveLength(2);
});

test('a draining node starts nothing, and another node does', async () => {
  await tables.rows('UPDATE node SET draining_since = now()');
  await nothingStarts();
  expect(await claimSome(here, await tables.node(here), 2)).toHaveLength(2);
});
