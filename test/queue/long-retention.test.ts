import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { DeliveryPruner } from '../../src/webhooks/duties/delivery-pruner.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({
  models: { 'test/model': {}, 'test/brief': { retention_payload: '3650d' } },
  config: { retentionMs: 36_500 * 86_400_000, retentionPayloadMs: 30_000 * 86_400_000 },
});

/** It begins before 1970, the time of the smallest id. */
test('the longest retention drops no day, not even a day without requests', async () => {
  const days = (): Promise<object[]> =>
    service.query(`SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^request_[0-9]{8}$'
                   ORDER BY relname`);
  const before = await days();
  expect(before.length).toBeGreaterThan(1);
  await service.app.get(Pruner).runOnce();
  expect(await days()).toEqual(before);
  const ids = [await calls.run('test/model'), await calls.run('test/brief')];
  await service.app.get(Pruner).runOnce();
  await service.app.get(DeliveryPruner).runOnce();
  for (const id of ids) expect((await service.get(calls.path(id))).status).toBe(200);
});
