import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import type { Database } from '../../src/database/database.js';
import { cancel } from '../../src/queue/completion/queries/cancel.js';
import { expire } from '../../src/queue/completion/queries/expire.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { registerHook } from '../../src/queue/transition-hooks.js';
import { outbox } from '../../src/webhooks/outbox.js';
import { addBatchDeliveries } from '../../src/webhooks/queries/add-batch-deliveries.js';
import { addRunDeliveries } from '../../src/webhooks/queries/add-run-deliveries.js';
import { releaseDelivery } from '../../src/webhooks/queries/record-tries.js';
import {
  ending,
  keyId,
  QueueTables,
  rescueSome,
  returning,
  claimSome,
  submitSome,
} from '../support/queue-tables.js';

const url = 'https://Hooks.Example:8443/a?b=c';
let tables: QueueTables;
let database: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
});
beforeEach(async () => {
  await tables.rows('DELETE FROM webhook_delivery; DELETE FROM webhook_endpoint');
  await tables.clear();
  node = await tables.node(database);
});
afterAll(() => tables.drop());

/** Submits a request with a webhook. */
async function submitHooked(): Promise<string> {
  const [id] = await submitSome(database, 1);
  await tables.rows('UPDATE request SET webhook_url = $1', [url]);
  return id!;
}

async function run() {
  await submitHooked();
  return (await claimSome(database, node, 1))[0]!;
}

const ways: [how: string, complete: () => Promise<unknown>][] = [
  ['a success', async () => finish(database, [ending(await run())])],
  ['a failure', async () => finish(database, [ending(await run(), 'failed')])],
  ['a timeout', async () => finish(database, [ending(await run(), 'timed_out')])],
  ['a cancel while it waits', async () => cancel(database, await submitHooked(), requestErrors.cancelled(0))],
  ['a cancel while it runs', async () => finish(database, [ending(await run(), 'cancelled')])],
  [
    'an expiry',
    async () => {
      await submitHooked();
      await tables.rows(`UPDATE queue_entry SET expires_at = now() - interval '1 s'`);
      await expire(database, requestErrors.expired(0));
    },
  ],
  [
    'a rescue that gives up',
    async () => {
      await run();
      await rescueSome(database, await tables.node(database), 1);
    },
  ],
];

test.each(ways)(
  '%s writes one delivery, in the commit that completes the request',
  async (_how, complete) => {
    await complete();
    const rows = await tables.rows(
      `SELECT event, delivery.url, host, delivery.state, delivery.api_key_id, delivery.endpoint_id,
            delivery.xmin::text = request.xmin::text AS same_commit
     FROM webhook_delivery AS delivery JOIN request ON request.id = delivery.request_id`,
    );
    const host = 'hooks.example:8443';
    const event = 'request.completed';
    expect(rows).toEqual([
      { event, url, host, state: 'pending', api_key_id: keyId, endpoint_id: null, same_commit: true },
    ]);
  },
);

test('a delivery is written for each endpoint of the key that wants the event and is not disabled', async () => {
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url, disabled_at)
     VALUES (gen_random_uuid(), $1, 'https://one.example/', NULL), (gen_random_uuid(), $1, 'https://two.example/', now()),
            (gen_random_uuid(), $1, $3, NULL), (gen_random_uuid(), $2, 'https://three.example/', NULL)`,
    [keyId, randomUUID(), url],
  );
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url, events)
     VALUES (gen_random_uuid(), $1, 'https://four.example/', '{other.event}'),
            (gen_random_uuid(), $1, 'https://five.example/', '{other.event,request.completed}')`,
    [keyId],
  );
  await finish(database, [ending(await run())]);
  const rows = await tables.rows<{ url: string }>('SELECT url FROM webhook_delivery ORDER BY url');
  expect(rows.map((row) => row.url)).toEqual([url, 'https://five.example/', 'https://one.example/']);
});

test.each([
  ['https://a.example?b', 'a.example'],
  ['http://a.example#/b', 'a.example'],
  ['https:/dead.example/a.example', ''],
  ['https:dead.example//a.example/', ''],
  ['https:dead.example/?b=://a.example/', ''],
])('deliveries to %s take the turns of the host "%s"', async (endpoint, host) => {
  await tables.rows('INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, $2)', [
    keyId,
    endpoint,
  ]);
  await finish(database, [ending(await run())]);
  const rows = await tables.rows('SELECT host FROM webhook_delivery WHERE url = $1', [endpoint]);
  expect(rows).toEqual([{ host }]);
});

test('a long host of many different characters does not keep a request from its end', async () => {
  const characters = Array.from({ length: 2_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
  const [id] = await submitSome(database, 1);
  await tables.rows('UPDATE request SET webhook_url = $1', [`https://${characters}/`]);
  expect(await cancel(database, id!, requestErrors.cancelled(0))).toBeDefined();
  const rows = await tables.rows<{ host: string }>('SELECT host FROM webhook_delivery');
  expect(rows).toEqual([{ host: characters.slice(0, 255) }]);
});

test('a batch of finishes writes deliveries only for the runs that still hold their lease', async () => {
  const [lost, ...kept] = [await run(), await run(), await run()];
  for (const [i, how] of (['succeeded', 'failed'] as const).entries()) {
    const stranger = { ...lost, token: randomUUID() };
    const batch = [ending(stranger, how), ending(kept[i]!, how)];
    expect(await finish(database, batch)).toEqual([false, true]);
  }
  const told = await tables.rows<{ id: string }>('SELECT request_id AS id FROM webhook_delivery ORDER BY 1');
  expect(told.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
});

test('an expiry of many requests writes the deliveries of at most 200 in one commit', async () => {
  const ids = await submitSome(database, 250);
  await tables.rows('UPDATE request SET webhook_url = $1', [url]);
  await tables.rows(`UPDATE queue_entry SET expires_at = now() - interval '1 s'`);
  const commits = await untilNone(() => expire(database, requestErrors.expired(0)));
  expect(commits.map(({ length }) => length)).toEqual([200, 50]);
  const rows = await tables.rows<{ id: string }>('SELECT request_id AS id FROM webhook_delivery ORDER BY 1');
  expect(rows.map(({ id }) => id)).toEqual(ids.toSorted());
});

/** Calls until a call returns nothing. */
async function untilNone<Row>(call: () => Promise<Row[]>): Promise<Row[][]> {
  const found: Row[][] = [];
  for (let rows = await call(); rows.length > 0; rows = await call()) found.push(rows);
  return found;
}

test('a hook is refused after the statements are built, unless it is already registered', async () => {
  await finish(database, [ending(await run())]);
  const [hook] = outbox;
  expect(() => registerHook(hook!)).not.toThrow();
  expect(() => registerHook({ ...hook!, name: 'other' })).toThrow('too late');
});

describe('nothing is written', () => {
  afterEach(async () => expect(await tables.rows('SELECT FROM webhook_delivery')).toEqual([]));

  test('for a request that goes back to its queue', async () => {
    await requeue(database, returning(await run()));
  });

  test('for a run that is asked to stop', async () => {
    await cancel(database, (await run()).id, requestErrors.cancelled(0));
  });

  test('for a run that is rescued', async () => {
    await run();
    await rescueSome(database, await tables.node(database), 9);
  });

  test('when a finish comes without the lease', async () => {
    const claimed = await run();
    expect(await finish(database, [ending({ ...claimed, token: randomUUID() })])).toEqual([false]);
  });

  test('when the completion is rolled back', async () => {
    const ended = ending(await run());
    await database.execute('BEGIN');
    await finish(database, [ended]);
    await database.execute('ROLLBACK');
  });
});

test('a request that completes again after a restore has the same webhook ids', async () => {
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES ($1, $2, 'https://endpoint.example/')`,
    [randomUUID(), keyId],
  );
  const id = await submitHooked();
  const ended = async (): Promise<string[]> => {
    await cancel(database, id, requestErrors.cancelled(0));
    const rows = await tables.rows<{ id: string }>('SELECT id FROM webhook_delivery ORDER BY url');
    return rows.map((row) => row.id);
  };
  const before = await ended();
  expect(new Set(before).size).toBe(2);
  expect(before.every((one) => isUuid(one))).toBe(true);
  await tables.rows(
    `DELETE FROM webhook_delivery;
     UPDATE request SET state = 'IN_QUEUE', outcome = NULL, completed_at = NULL, error = NULL;
     INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id)
     SELECT model_id, priority, virtual_start, seq, id, api_key_id FROM request`,
  );
  expect(await ended()).toEqual(before);
});

test('a batch that ends again after a restore has the same webhook ids', async () => {
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url, events)
     VALUES ($1, $2, 'https://endpoint.example/', '{batch.completed}')`,
    [randomUUID(), keyId],
  );
  const batchId = randomUUID();
  const ended = async (): Promise<string[]> => {
    await addBatchDeliveries(database, { batchId, keyId, webhookUrl: url });
    const rows = await tables.rows<{ id: string }>('DELETE FROM webhook_delivery RETURNING id');
    return rows.map(({ id }) => id).sort();
  };
  const before = await ended();
  expect(new Set(before).size).toBe(2);
  expect(await ended()).toEqual(before);
});

test('newer progress has a new webhook id, also if a node that stopped may have sent the older progress', async () => {
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url, events) VALUES ($1, $2, $3, '{request.progress}')`,
    [randomUUID(), keyId, url],
  );
  const [requestId] = (await submitSome(database, 1)) as [string];
  const idOf = async (value: number): Promise<string> => {
    const content = { at: new Date().toISOString(), progress: { value, message: null } };
    await addRunDeliveries(database, [{ requestId, event: 'request.progress', content }]);
    const rows = await tables.rows<{ id: string; value: number }>(
      `SELECT id, (content -> 'progress' ->> 'value')::float8 AS value FROM webhook_delivery`,
    );
    expect(rows).toEqual([{ id: expect.any(String) as string, value }]);
    return rows[0]!.id;
  };
  const deliveryId = await idOf(0.5);
  const sender = randomUUID();
  await tables.rows('UPDATE webhook_delivery SET claimed_by = $1', [sender]);
  await releaseDelivery(database, sender, { requestId, deliveryId });
  expect(await idOf(1)).not.toBe(deliveryId);
});
