import { KeysService } from '../../src/auth/keys.service.js';
import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { AdminCalls } from '../support/admin-calls.js';
import { BatchCalls, type BatchView, inputLines, type ResultLine } from '../support/batch-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, model } = testQueue({ models: { 'test/one': { concurrency: 1 } }, limits: '100000/s' });
const admin = new AdminCalls(service);

const ends = {
  'is revoked': (id: string): Promise<unknown> => service.app.get(KeysService).revoke(id),
  expires: (id: string): Promise<unknown> =>
    service.query(`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]),
};

/** The key cannot look at its batch any more, but an operator can. */
function endedBatch(id: string): Promise<BatchView> {
  return until(async () => {
    const batch = await admin.json<BatchView>('GET', `/batches/${id}`);
    return batch.ended_at !== null && batch;
  });
}

async function errorsOf(id: string): Promise<ResultLine[]> {
  const answer = await admin.call('GET', `/batches/${id}/errors`);
  const lines = (await answer.text()).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as ResultLine);
}

test('a batch whose key is revoked after its last line was done is completed', async () => {
  const { id: keyId, key } = await admin.newKey();
  const batches = new BatchCalls({ url: service.url, key });
  const { batch_id: id } = await batches.send(
    inputLines(1, () => ({ hold: true })),
    '?model_id=test/one',
  );
  await batches.until(id, ({ counts }) => counts.running === 1);
  const driver = service.app.get(BatchDriver);
  await driver.stop();
  const [line] = await service.query<{ id: string }>('SELECT id FROM request WHERE $1 = ANY (tags)', [
    `batch:${id}`,
  ]);
  await model.answer(line!.id);
  await batches.until(id, ({ counts }) => counts.completed === 1);
  await service.app.get(KeysService).revoke(keyId);
  driver.start();
  expect(await endedBatch(id)).toMatchObject({ status: 'completed', counts: { total: 1, completed: 1 } });
});

test.each(Object.entries(ends))('a batch whose key %s while it runs is cancelled', async (_, end) => {
  const { id: keyId, key } = await admin.newKey();
  const batches = new BatchCalls({ url: service.url, key });
  const text = inputLines(5, (i) => ({ hold: i === 1 }));
  const { batch_id: id } = await batches.send(text, '?model_id=test/one');
  await batches.until(id, ({ counts }) => counts.completed === 1 && counts.running === 1);
  await end(keyId);
  expect(await endedBatch(id)).toMatchObject({
    status: 'cancelled',
    counts: { total: 5, waiting: 0, running: 0, completed: 1, failed: 0, cancelled: 4 },
  });
  const errors = await errorsOf(id);
  expect(errors.map(({ custom_id }) => custom_id).sort()).toEqual(['line-1', 'line-2', 'line-3', 'line-4']);
  expect(new Set(errors.map(({ error }) => error!.code))).toEqual(new Set(['batch_cancelled']));
});

test.each(Object.entries(ends))(
  'a batch whose key %s before it is validated submits nothing',
  async (_, end) => {
    const { id: keyId, key } = await admin.newKey();
    const driver = service.app.get(BatchDriver);
    await driver.stop();
    const { batch_id: id } = await new BatchCalls({ url: service.url, key }).send(
      inputLines(3),
      '?model_id=test/one',
    );
    await end(keyId);
    driver.start();
    expect(await endedBatch(id)).toMatchObject({ status: 'cancelled', counts: { total: null }, errors: [] });
    expect(await service.query('SELECT FROM request WHERE $1 = ANY (tags)', [`batch:${id}`])).toEqual([]);
  },
);
