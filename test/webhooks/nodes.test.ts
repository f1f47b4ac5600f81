import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { Database } from '../../src/database/database.js';
import { claimDeliveries } from '../../src/webhooks/queries/claim-deliveries.js';
import { DeliveryPruner } from '../../src/webhooks/duties/delivery-pruner.js';
import { SendingTerms } from '../../src/webhooks/sending-terms.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { testWebhooks, webhookAllow } from '../support/test-webhooks.js';
import type { Hook } from '../support/webhook-receiver.js';

const { service, calls, receiver, hooks } = testWebhooks();

/** Another node on the same database. */
function anotherNode(role: 'all' | 'api' | 'scheduler' = 'all'): Promise<TestService> {
  const { databaseUrl, modelsFile, bootstrapApiKey } = service.config;
  return startTestService({ config: { databaseUrl, modelsFile, bootstrapApiKey, role, webhookAllow } });
}

async function insertDelivery(requestId: string, path: string): Promise<string> {
  const [row] = await service.query<{ id: string }>(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host)
     SELECT gen_random_uuid(), id, api_key_id, $2, 'x' FROM request WHERE id = $1 RETURNING id`,
    [requestId, receiver.url(path)],
  );
  return row!.id;
}

const claimAll = async (claimMs: number) => {
  const { deliveries } = await claimDeliveries(service.app.get(Database), {
    claimedBy: randomUUID(),
    claimMs,
    maxOutputBytes: 10,
    limit: 100,
    limitUnproven: 100,
    roomOfOthers: 100,
    hosts: [],
    keys: [],
    after: null,
  });
  return deliveries;
};

test('a delivery that a killed node had claimed is delivered by another node after the claim expires', async () => {
  hooks.terms.maxTries = 0; // until the other was killed, this node sends nothing
  const id = await calls.run('test/hook');
  const delivery = await insertDelivery(id, '/orphan');
  expect((await claimAll(600_000)).map((one) => one.deliveryId)).toEqual([delivery]);
  expect(await claimAll(600_000)).toEqual([]);
  await service.query(`UPDATE webhook_delivery SET next_try_at = now() WHERE id = $1`, [delivery]);
  hooks.terms.maxTries = 64;
  await calls.run('test/hook');
  await receiver.arrived('/orphan');
  expect(await hooks.only(id, 'delivered')).toMatchObject({ id: delivery });
});

test('a delivery of a request that is older than the recent days is claimed with its request', async () => {
  hooks.terms.maxTries = 0;
  const id = v7({ msecs: Date.now() - 40 * 86_400_000 });
  await service.query(`SELECT ensure_partitions((uuid_time($1::uuid) AT TIME ZONE 'UTC')::date, 1)`, [id]);
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, output, completed_at)
     SELECT $1, 'test/hook', id, 'COMPLETED', 'succeeded', 0, '"old"', now() FROM api_key LIMIT 1`,
    [id],
  );
  const deliveryId = await insertDelivery(id, '/older');
  expect(await claimAll(600_000)).toMatchObject([
    { deliveryId, requestId: id, id, isGone: false, outcome: 'succeeded', output: '"old"', outputBytes: 6 },
  ]);
  await service.query(`DELETE FROM request WHERE id = $1`, [id]);
  await service.query(`UPDATE webhook_delivery SET next_try_at = now() WHERE id = $1`, [deliveryId]);
  expect(await claimAll(600_000)).toMatchObject([{ deliveryId, isGone: true, outcome: null }]);
  await service.query(`DELETE FROM webhook_delivery WHERE id = $1`, [deliveryId]);
});

test('a delivery that a killed node had committed but not claimed is delivered by another node', async () => {
  hooks.terms.maxTries = 0; // as if this node were killed
  const id = await calls.run('test/hook');
  await insertDelivery(id, '/unseen');
  const other = await anotherNode('scheduler');
  await receiver.arrived('/unseen');
  await hooks.only(id, 'delivered');
  await other.stop();
});

test('a stopping node releases the deliveries that it is trying, and another node delivers them', async () => {
  receiver.answer = () => undefined;
  hooks.terms.maxTries = 0; // for now this node sends nothing
  const { id, path } = await hooks.submit();
  await calls.reached(id, 'COMPLETED');
  const other = await anotherNode();
  other.app.get(SendingTerms).stopGraceMs = 1;
  await receiver.arrived(path);
  receiver.answer = ({ response }: Hook) => void response.writeHead(204).end();
  await other.stop();
  const [row] = await service.query(
    'SELECT claimed_by, state, tries FROM webhook_delivery WHERE request_id = $1',
    [id],
  );
  expect(row).toEqual({ claimed_by: null, state: 'pending', tries: [] });
  hooks.terms.maxTries = 64;
  await calls.run('test/hook');
  await hooks.only(id, 'delivered');
  expect(receiver.at(path)).toHaveLength(2);
});

test('a result that comes after its lease was lost changes nothing', async () => {
  let answer = (): void => undefined;
  receiver.answer = ({ response }) => (answer = () => void response.writeHead(500).end());
  const { id, path } = await hooks.submit();
  await receiver.arrived(path);
  const other = randomUUID();
  await service.query('UPDATE webhook_delivery SET claimed_by = $2 WHERE request_id = $1', [id, other]);
  answer();
  receiver.answer = ({ response }: Hook) => void response.writeHead(204).end();
  const next = await hooks.submit();
  await hooks.only(next.id, 'delivered');
  expect(await hooks.list(id)).toMatchObject([{ state: 'pending', tries: [] }]);
});

test('deliveries are deleted with their requests', async () => {
  const { id } = await hooks.submit();
  const { id: delivery } = await hooks.only(id, 'delivered');
  const kept = await hooks.submit();
  await hooks.only(kept.id, 'delivered');
  const old = `'01900000-0000-7000-8000-000000000000'::uuid`;
  await service.query(`UPDATE webhook_delivery SET request_id = ${old} WHERE id = $1`, [delivery]);
  await service.app.get(DeliveryPruner).runOnce();
  expect(await service.query('SELECT FROM webhook_delivery WHERE id = $1', [delivery])).toEqual([]);
  await until(async () => (await hooks.list(kept.id)).length === 1);
});
