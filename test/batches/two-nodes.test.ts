import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import type { Config } from '../../src/config/config.js';
import { Database } from '../../src/database/database.js';
import { newId } from '../../src/database/new-id.js';
import { NotifyChannel } from '../../src/database/notify-channel.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { leaseBatch, LeaseLost, renewBatch, startBatch } from '../../src/batches/queries/drive.js';
import { insertBatch } from '../../src/batches/queries/write-batches.js';
import { recordLines, recordSegment } from '../../src/batches/queries/lines.js';
import { newBatch } from '../support/batch-rows.js';
import { BatchCalls, type BatchView, inputLines } from '../support/batch-calls.js';
import { startS3, type TestS3 } from '../support/s3-server.js';
import { testNodes } from '../support/test-nodes.js';
import type { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { webhookAllow } from '../support/test-webhooks.js';

const clients: pg.Client[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));
const { model, start, databaseUrl } = testNodes({ 'test/wide': { concurrency: 20 } });
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

const onS3 = (): Partial<Config> => ({
  files: { kind: 's3', bucket: 'bucket', prefix: 'batches' },
  s3Endpoint: s3.url,
  environment: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: s3.secretAccessKey },
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

test('a batch of another key is driven before more batches of a key that has one driven', async () => {
  const { service } = await start({ role: 'api' });
  const database = service.app.get(Database);
  const insert = async (key: string): Promise<string> => {
    const id = newId();
    await insertBatch(database, newBatch(id, key));
    return id;
  };
  const [busy, other] = [randomUUID(), randomUUID()];
  const ofBusy = [await insert(busy), await insert(busy), await insert(busy)];
  const ofOther = [await insert(other), await insert(other)];
  const next = async (): Promise<string | undefined> => (await leaseBatch(database, randomUUID()))?.id;
  const leased = [await next(), await next(), await next(), await next()];
  expect(leased).toEqual([ofBusy[0], ofOther[0], ofBusy[1], ofOther[1]]);
  // A lease that has run out counts no more.
  await service.query(`UPDATE batch SET leased_until = now() - interval '1 second' WHERE api_key_id = $1`, [
    other,
  ]);
  expect(await next()).toBe(ofOther[0]);
  expect([await next(), await next(), await next()]).toEqual([ofOther[1], ofBusy[2], undefined]);
});

test('a batch on S3 continues on another node and ends with a webhook', async () => {
  const receiver = await new WebhookReceiver().start();
  const files = { ...onS3(), webhookAllow };
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

test('a batch that a stopping node still accepts wakes the other nodes', async () => {
  const { service: stopping } = await start({ ...onS3(), role: 'api' });
  const { service: other } = await start({ ...onS3(), role: 'scheduler' });
  const messages: string[] = [];
  const listener = await connect();
  listener.on('notification', ({ payload }) => messages.push(payload!));
  await listener.query('LISTEN nowserving');
  const woken = (): boolean => messages.splice(0).some((message) => message.startsWith('batches '));
  const holder = await connect();
  await holder.query('BEGIN; LOCK TABLE batch IN SHARE MODE');
  const sent = new BatchCalls(stopping).send(inputLines(1), '?model_id=test/wide');
  const waiting = (): Promise<object[]> => other.query('SELECT FROM pg_locks WHERE NOT granted');
  await until(async () => (await waiting()).length === 1, { message: 'the batch is about to be added' });

  const stopped = stopping.stop();
  await until(woken, { message: 'the node leaves its batches to the others' });
  await until(async () => (await other.query('SELECT FROM node')).length === 1, { message: 'it has left' });
  await holder.query('COMMIT');
  const { batch_id: id } = await sent;
  await until(woken, { message: 'the new batch wakes the others' });
  expect(await new BatchCalls((await start({ ...onS3(), role: 'api' })).service).ended(id)).toMatchObject({
    status: 'completed',
  });
  await stopped;
});

test.each(['the answer', 'the rest of the answer'])(
  'a node stops although the file store never sends %s, and another node continues its batch',
  async (what) => {
    let isAsked = false;
    const store = createServer((request, response) => {
      const { method, url, headers } = request;
      if (method !== 'GET') return s3.forward({ method, path: url, headers }, request, response);
      isAsked = true;
      if (what === 'the answer') return;
      response.writeHead(206, { 'content-length': '1000' });
      response.write(inputLines(1));
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    const s3Endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
    try {
      const { service: api } = await start({ ...onS3(), role: 'api' });
      const { service: stopping } = await start({ ...onS3(), s3Endpoint, role: 'scheduler' });
      const { batch_id: id } = await new BatchCalls(api).send(inputLines(3), '?model_id=test/wide');
      await until(() => isAsked, { message: 'the input is read' });
      await stopping.stop();
      await start({ ...onS3(), role: 'scheduler' });
      expect(await new BatchCalls(api).ended(id, { timeoutMs: 30_000 })).toMatchObject({
        status: 'completed',
        counts: { completed: 3 },
      });
    } finally {
      store.closeAllConnections();
      await new Promise((resolve) => store.close(resolve));
    }
  },
  60_000,
);

describe('a batch whose message was lost', () => {
  /** Returns a scheduler that has looked for batches, and then a batch was added that it does not know of. */
  async function unnoticed(
    beforeIt: (scheduler: TestService) => Promise<void>,
  ): Promise<{ scheduler: TestService; ended: () => Promise<BatchView> }> {
    // A node that starts after others looks once more after 3 s.
    const { service: scheduler } = await start({ ...onS3(), role: 'scheduler' });
    const { service: api } = await start({ ...onS3(), role: 'api' });
    const driver = scheduler.app.get(BatchDriver);
    await until(() => driver.succeededAt !== undefined, { message: 'it has looked once' });
    for (const { app } of [api, scheduler]) app.get(NotifyChannel).sendNow = () => undefined;
    await beforeIt(scheduler);
    const { batch_id: id } = await new BatchCalls(api).send(inputLines(1), '?model_id=test/wide');
    return { scheduler, ended: () => new BatchCalls(api).ended(id) };
  }

  test('is found by a node that learns that it may have missed messages', async () => {
    const { scheduler, ended } = await unnoticed(() => Promise.resolve());
    scheduler.app.get(QueueEvents).publish({ missed: true }, 'elsewhere');
    expect(await ended()).toMatchObject({ status: 'completed' });
  });

  test('is found by a node whose last look failed', async () => {
    const { ended } = await unnoticed(async (scheduler) => {
      const driver = scheduler.app.get(BatchDriver);
      await scheduler.query('ALTER TABLE batch RENAME TO away');
      driver.wake();
      await until(() => driver.lastRoundFailed, { message: 'a look fails' });
      await scheduler.query('ALTER TABLE away RENAME TO batch');
    });
    expect(await ended()).toMatchObject({ status: 'completed' });
  });
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl() });
  client.on('error', () => undefined); // a test that failed may leave it open
  await client.connect();
  clients.push(client);
  return client;
}
