import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { Database } from '../../src/database/database.js';
import { leaseBatch, LeaseLost, renewBatch, startBatch } from '../../src/batches/queries/drive.js';
import { recordLines, recordSegment } from '../../src/batches/queries/lines.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { startS3, type TestS3 } from '../support/s3-server.js';
import { testNodes } from '../support/test-nodes.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { webhookAllow } from '../support/test-webhooks.js';

const { model, start } = testNodes({ 'test/wide': { concurrency: 20 } });
let folder: string;
let s3: TestS3;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nowserving-batches-'));
  s3 = await startS3(folder, 'bucket');
});
afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a driver whose lease was taken over changes nothing any more', async () => {
  const { service } = await start({ role: 'api' });
  const batches = new BatchCalls(service);
  const database = service.app.get(Database);
  const { batch_id: id } = await batches.send(inputLines(3), '?model_id=test/wide');
  const old = (await leaseBatch(database, randomUUID()))!;
  expect(await leaseBatch(database, randomUUID())).toBeUndefined();
  await service.query(`UPDATE batch SET leased_until = now() - interval '1 second' WHERE id = $1`, [id]);
  const next = (await leaseBatch(database, randomUUID()))!;
  const line = { line: 1, customId: 'a', requestId: randomUUID(), refused: null };
  const segment = { kind: 'output', fileId: randomUUID(), bytes: 1, lines: [] } as const;
  for (const change of [
    () => renewBatch(database, old),
    () => startBatch(database, old, 3),
    () => recordLines(database, old, [line], { from: 0, to: 10 }),
    () => recordSegment(database, old, { ...segment, lines: [{ line: 1, outcome: 'completed' }] }),
  ])
    await expect(change()).rejects.toThrow(LeaseLost);
  await startBatch(database, next, 3);
  await recordLines(database, next, [line], { from: 0, to: 10 });
  // The same lines cannot be recorded twice, and none after a cancel.
  await expect(recordLines(database, next, [line], { from: 0, to: 10 })).rejects.toThrow(LeaseLost);
  await batches.cancel(id);
  await expect(recordLines(database, next, [line], { from: 10, to: 20 })).rejects.toThrow(LeaseLost);
});

test('a batch on S3 goes on on another node, and its end is a webhook', async () => {
  const receiver = await new WebhookReceiver().start();
  const files = {
    files: { kind: 's3', bucket: 'bucket', prefix: 'batches' },
    s3Endpoint: s3.url,
    environment: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey },
    webhookAllow,
  } as const;
  const { service: api } = await start({ ...files, role: 'api' });
  const first = await start({ ...files, role: 'scheduler' });
  const batches = new BatchCalls(api);
  const text = inputLines(30, (i) => ({ hold: i >= 20 }));
  const { batch_id: id } = await batches.send(
    text,
    `?model_id=test/wide&webhook=${encodeURIComponent(receiver.url())}`,
  );
  await batches.until(id, ({ counts }) => counts.completed === 20);
  // A call that arrives after the release would be held for ever.
  await until(() => model.running === 10, { message: 'the other calls reach the model' });
  const stopped = first.service.stop();
  model.release();
  await stopped;
  await start({ ...files, role: 'scheduler' });
  const batch = await batches.ended(id, { timeoutMs: 60_000 });
  expect(batch).toMatchObject({ status: 'completed', counts: { total: 30, completed: 30 } });
  const { output } = await batches.results(batch);
  expect(new Set(output.map(({ request_id }) => request_id)).size).toBe(30);
  const [hook] = await receiver.arrived('/hook');
  expect(JSON.parse(hook!.body)).toMatchObject({
    type: 'batch.completed',
    batch_id: id,
    status: 'completed',
    counts: batch.counts,
  });
  await receiver.stop();
}, 90_000);
