import type { Database } from '../../src/database/database.js';
import { divideSlots, type SlotGrant } from '../../src/queue/cluster/queries/divide-slots.js';
import { claimSome, QueueTables, rescueSome, submitSome } from '../support/queue-tables.js';

const modelId = 'test/model';

let tables: QueueTables;
let here: Database;
let there: Database;
let nodes: [string, string];

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  there = tables.session();
  await tables.rows(
    `INSERT INTO model (id, runner, concurrency, timeout_ms, attempts) VALUES ($1, 'demo', 4, 1000, 1)`,
    [modelId],
  );
});
beforeEach(async () => {
  await tables.clear();
  await tables.rows('DELETE FROM slot_grant');
  nodes = [await tables.node(here), await tables.node(here)];
});
afterAll(() => tables.drop());

async function divide(database: Database, node: string, retained = 0): Promise<SlotGrant> {
  return (await divideSlots(database, node, [{ modelId, retained }]))!.grants[0]!;
}

const granted = async (): Promise<number[]> =>
  (await tables.rows<{ slots: number }>('SELECT slots FROM slot_grant ORDER BY slots')).map(
    ({ slots }) => slots,
  );

test('a node takes only slots that no other node has, and gives up none that it uses', async () => {
  await divide(here, nodes[0], 3);
  expect(await divide(there, nodes[1])).toMatchObject({ slots: 1, limit: 1, isFair: false });
  expect(await divide(here, nodes[0], 3)).toMatchObject({ slots: 3, limit: 2 });
  expect(await granted()).toEqual([1, 3]);
});

test('after the concurrency is lowered, a node starts no run while the nodes together exceed it', async () => {
  await divide(here, nodes[0], 2);
  await divide(there, nodes[1], 2);
  await tables.rows('UPDATE model SET concurrency_override = 2');
  try {
    expect(await divide(here, nodes[0], 1)).toMatchObject({ slots: 1, limit: 0, isFair: false });
    // The surplus has ended, but what runs is still all that may.
    expect(await divide(there, nodes[1], 1)).toMatchObject({ slots: 1, limit: 1, isFair: true });
    expect(await divide(here, nodes[0], 0)).toMatchObject({ slots: 1, limit: 1, isFair: true });
  } finally {
    await tables.rows('UPDATE model SET concurrency_override = NULL');
  }
});

test('runs that workers have begun count until they end', async () => {
  await tables.rows(
    `INSERT INTO lease (request_id, token, model_id, worker_id, expires_at, attempt, deadline_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), now(), 1, now() + interval '1 hour'
     FROM generate_series(1, 3)`,
    [modelId],
  );
  expect(await divide(here, nodes[0])).toMatchObject({ slots: 1, limit: 1, isFair: false });
  expect(await divide(there, nodes[1])).toMatchObject({ slots: 0, isFair: false });
  await tables.rows('DELETE FROM lease');
  expect(await divide(here, nodes[0], 1)).toMatchObject({ slots: 2, isFair: true });
  expect(await divide(there, nodes[1])).toMatchObject({ slots: 2, isFair: true });
});

test('two divisions at once never grant a slot twice', async () => {
  // As if the first node had been alone, and now divides while the other does.
  await here.execute('BEGIN');
  await here.execute(`SELECT FROM model WHERE id = '${modelId}' FOR UPDATE`);
  const other = divide(there, nodes[1]);
  await tables.blocked(1);
  await here.execute(
    `INSERT INTO slot_grant (model_id, node_id, slots) VALUES ('${modelId}', '${nodes[0]}', 4)`,
  );
  await here.execute('COMMIT');
  expect(await other).toMatchObject({ slots: 0 });
});

test('the slots of a lost node become free only after all its leases are taken over', async () => {
  await divide(here, nodes[0]);
  await submitSome(here, 501);
  await claimSome(here, nodes[0], 501);
  await tables.rows(`UPDATE node SET heartbeat_at = now() - interval '1 minute' WHERE id = '${nodes[0]}'`);
  // A round takes at most 500 leases.
  await rescueSome(there, nodes[1], 9, 6_000);
  expect(await granted()).toEqual([2]);
  await rescueSome(there, nodes[1], 9, 6_000);
  expect(await granted()).toEqual([]);
});

test('a group keeps its slots while another node lacks it, and models that left a group do not count', async () => {
  await tables.rows(
    `INSERT INTO model (id, runner, concurrency, timeout_ms, attempts, group_id, group_concurrency, group_stay_ms, removed_at)
     VALUES ('group/a', 'demo', 4, 1000, 1, 'gpu', 2, 0, now()), ('group/b', 'demo', 4, 1000, 1, 'gpu', 3, 0, now())`,
  );
  await tables.rows('DELETE FROM node WHERE id = $1', [nodes[1]]);
  const limitOfGroup = async (): Promise<number> => {
    const requested = [{ modelId: 'group/a', retained: 0, groupId: 'gpu' }];
    return (await divideSlots(here, nodes[0], requested))!.grants[0]!.groupLimit;
  };
  try {
    expect(await limitOfGroup()).toBe(3);
    await tables.rows(`UPDATE model SET removed_at = NULL WHERE id = 'group/a'`);
    expect(await limitOfGroup()).toBe(2);
  } finally {
    await tables.rows(`DELETE FROM slot_grant`);
    await tables.rows(`DELETE FROM model WHERE group_id = 'gpu'`);
  }
});
