import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { erase } from '../../src/queue/retention/queries/erase.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import type { WebhookTry } from '../../src/webhooks/entities/webhook-delivery.entity.js';
import { claimDeliveries } from '../../src/webhooks/queries/claim-deliveries.js';
import { recordTries, type Tried } from '../../src/webhooks/queries/record-tries.js';
import { ending, keyId, QueueTables, runOne } from '../support/queue-tables.js';

const secret = 'what the receiver said of it';
const entry = { at: '2026-03-01T12:00:02.501Z', status: 500, duration_ms: 1, body: secret, error: null };
const claimedBy = randomUUID();
let tables: QueueTables;
let database: Database;
let other: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  other = tables.session();
  await tables.rows(
    `INSERT INTO webhook_endpoint (id, api_key_id, url)
     SELECT gen_random_uuid(), $1, 'https://hooks.example/' || n FROM generate_series(1, 5) AS n`,
    [keyId],
  );
});
afterAll(() => tables.drop());

/** Returns the tries under way, in no order, of a request that has completed. */
async function underWay(): Promise<[requestId: string, tries: Tried[]]> {
  const run = await runOne(database, await tables.node(database));
  await finish(database, [ending(run)]);
  const terms = { claimMs: 60_000, maxOutputBytes: 10, limit: 9, limitUnproven: 9, roomOfOthers: 9 };
  const where = { hosts: [], keys: [], after: null };
  const { deliveries: claimed } = await claimDeliveries(database, { claimedBy, ...terms, ...where });
  const tries = claimed.map(({ requestId, deliveryId }) => {
    return { requestId, deliveryId, state: 'pending' as const, step: 1, nextInMs: 60_000, entry };
  });
  return [run.id, tries.toSorted(() => Math.random() - 0.5)];
}

async function stored(requestId: string): Promise<WebhookTry[]> {
  const rows = await tables.rows<{ tries: WebhookTry[] }>(
    'SELECT tries FROM webhook_delivery WHERE request_id = $1',
    [requestId],
  );
  return rows.flatMap(({ tries }) => tries);
}

const withoutBody = { ...entry, body: null };

test('a try that ends after its request was erased stores no body', async () => {
  const [id, tries] = await underWay();
  expect(await erase(database, id)).toBe(true);
  await recordTries(database, claimedBy, tries);
  expect(await stored(id)).toEqual(tries.map(() => withoutBody));
});

test('a try that ends during the erasure of its request stores no body', async () => {
  const [id, tries] = await underWay();
  await database.execute('BEGIN');
  await erase(database, id);
  const recorded = recordTries(other, claimedBy, tries);
  await tables.blocked(1);
  await database.execute('COMMIT');
  await recorded;
  expect(await stored(id)).toEqual(tries.map(() => withoutBody));
});

test('an erasure that starts while a try is being stored deletes the body of the try too', async () => {
  const [id, tries] = await underWay();
  await database.execute('BEGIN');
  await recordTries(database, claimedBy, tries);
  const erased = erase(other, id);
  await tables.blocked(1);
  await database.execute('COMMIT');
  expect(await erased).toBe(true);
  expect(await stored(id)).toEqual(tries.map(() => withoutBody));
});

test('tries of two requests that end while one operation erases both are stored after it', async () => {
  const both = [await underWay(), await underWay()];
  // The first delivery of the second request has a smaller id than the one of the first request.
  const tries = both.map(([, [tried]], at) => ({
    ...tried!,
    deliveryId: randomUUID().replace(/^./, `${1 - at}`),
  }));
  for (const [at, { requestId, deliveryId }] of tries.entries()) {
    const values = [requestId, both[at]![1][0]!.deliveryId, deliveryId];
    await tables.rows('UPDATE webhook_delivery SET id = $3 WHERE request_id = $1 AND id = $2', values);
  }
  const [first, second] = both.map(([id]) => id);
  await database.execute('BEGIN');
  await erase(database, first!);
  const recorded = recordTries(other, claimedBy, tries);
  await tables.blocked(1);
  await erase(database, second!);
  await database.execute('COMMIT');
  await recorded;
  expect([...(await stored(first!)), ...(await stored(second!))]).toEqual([withoutBody, withoutBody]);
});

test('a delivery retains its last hundred tries', async () => {
  const [id, [tried]] = await underWay();
  const first = { ...entry, status: 501 };
  await tables.rows(`UPDATE webhook_delivery SET tries = array_fill($2::jsonb, ARRAY[100]) WHERE id = $1`, [
    tried!.deliveryId,
    JSON.stringify(first),
  ]);
  await recordTries(database, claimedBy, [tried!]);
  expect(await stored(id)).toEqual([...Array.from({ length: 99 }, () => first), entry]);
});
