import { AdminCalls } from '../support/admin-calls.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/wide': { concurrency: 20 }, 'test/one': { concurrency: 1 } },
  limits: '100000/s',
});
const admin = new AdminCalls(service);

interface AdminBatch {
  batch_id: string;
  status: string;
  key: { id: string; name: string };
  counts: { total: number | null; completed: number; failed: number };
  errors: { line: number; code: string; message: string | null }[];
  output_bytes: number;
}

let shop: BatchCalls;
let observer: string;
beforeAll(async () => {
  shop = new BatchCalls({ url: service.url, key: await calls.newKey({ name: 'web shop' }) });
  observer = await calls.newKey({ name: 'observer', scopes: ['observe'] });
});

const idsOf = (batches: AdminBatch[]): string[] => batches.map(({ batch_id: id }) => id);

test('operators see the batches of all keys, by status, key and tag, page by page', async () => {
  const own = new BatchCalls(service);
  const first = await own.send(inputLines(3), '?model_id=test/wide&tag=admin:1');
  const second = await shop.send(inputLines(5), '?model_id=test/wide&tag=admin:1');
  await own.ended(first.batch_id);
  await shop.ended(second.batch_id);
  const both = [second.batch_id, first.batch_id];
  expect(idsOf(await admin.all<AdminBatch>('/batches?tag=admin:1&limit=1', { key: observer }))).toEqual(both);
  const [found] = await admin.all<AdminBatch>('/batches?tag=admin:1&status=completed', { key: observer });
  expect(found).toMatchObject({
    batch_id: second.batch_id,
    status: 'completed',
    key: { name: 'web shop' },
    counts: { total: 5, completed: 5, failed: 0 },
  });
  expect(found!.output_bytes).toBeGreaterThan(0);
  const ofKey = await admin.all<AdminBatch>(`/batches?tag=admin:1&key_id=${found!.key.id}`);
  expect(idsOf(ofKey)).toEqual([second.batch_id]);
  expect(await admin.json<AdminBatch>('GET', `/batches/${second.batch_id}`, { key: observer })).toEqual(
    found,
  );
  expect((await admin.call('GET', `/batches/${first.batch_id.replace(/.$/, 'x')}`)).status).toBe(404);
});

test('the files and error messages of a batch need the scope payloads, and reads of the files are audited', async () => {
  const made = await shop.send(inputLines(2), '?model_id=test/wide');
  await shop.ended(made.batch_id);
  const path = `/batches/${made.batch_id}/output`;
  expect((await admin.call('GET', path, { key: observer })).status).toBe(403);
  const answer = await admin.call('GET', path);
  expect((await answer.text()).trim().split('\n')).toHaveLength(2);
  expect(await (await admin.call('GET', `/batches/${made.batch_id}/errors`)).text()).toBe('');
  const read = await service.query<{ after: object }>(
    `SELECT after FROM audit_entry WHERE action = 'payload.read' AND target = $1 ORDER BY id`,
    [`batch ${made.batch_id}`],
  );
  expect(read).toEqual([{ after: { part: 'output' } }, { after: { part: 'errors' } }]);

  const faulty = await shop.send('{"custom_id": "a"}\nnonsense', '?model_id=test/wide');
  await shop.ended(faulty.batch_id);
  const seen = await admin.json<AdminBatch>('GET', `/batches/${faulty.batch_id}`);
  const masked = await admin.json<AdminBatch>('GET', `/batches/${faulty.batch_id}`, { key: observer });
  expect(seen.errors.map(({ message }) => message)).toEqual(
    seen.errors.map(() => expect.any(String) as string),
  );
  expect(masked.errors).toEqual(seen.errors.map((fault) => ({ ...fault, message: null })));
});

test('an operator cancels a batch once, with one entry in the audit', async () => {
  model.hold();
  const made = await shop.send(inputLines(10), '?model_id=test/one');
  await shop.until(made.batch_id, ({ counts }) => counts.running === 1);
  const path = `/batches/${made.batch_id}/cancel`;
  expect((await admin.call('PUT', path, { key: observer })).status).toBe(403);
  const answer = await admin.json<AdminBatch>('PUT', path, { body: { reason: 'asked for' } });
  expect(answer.status).toBe('cancelling');
  expect((await admin.call('PUT', path)).status).toBe(202);
  model.release();
  const ended = await shop.ended(made.batch_id);
  expect(ended.status).toBe('cancelled');
  const { output, errors } = await shop.results(ended);
  expect(output.length + errors.length).toBe(10);
  const entries = await service.query<object>(
    `SELECT before, after, reason FROM audit_entry WHERE action = 'batch.cancel' AND target = $1`,
    [made.batch_id],
  );
  expect(entries).toEqual([
    { before: { status: 'in_progress' }, after: { status: 'cancelling' }, reason: 'asked for' },
  ]);
  const late = await shop.send(inputLines(1), '?model_id=test/wide');
  await shop.ended(late.batch_id);
  const refused = await admin.call('PUT', `/batches/${late.batch_id}/cancel`);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([409, 'batch_ended']);
});
