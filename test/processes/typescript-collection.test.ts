import {
  createClient,
  type Status,
  verifyWebhook,
  type WebhookEvent,
} from '../../clients/typescript/src/index.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, model, receiver } = testWebhooks();
const clientWith = (options: object = {}) => createClient({ url: service.url, key: service.key, ...options });

async function idsOf(statuses: AsyncIterable<Status>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { request_id: id } of statuses) ids.push(id);
  return ids;
}

it('runs a request in one long poll', async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    asked.push(url as string);
    return globalThis.fetch(url, init);
  };
  const { output, requestId } = await clientWith({ fetch }).run('test/hook', { input: { a: 1 } });
  expect(output).toEqual({ done: requestId, attempt: 1 });
  expect(asked).toHaveLength(1);
  const failed = clientWith({ fetch }).run('test/hook', { input: { status: 400 } });
  await expect(failed).rejects.toMatchObject({ code: 'model_error', requestId: expect.any(String) });
  expect(asked).toHaveLength(2);
});

it('waits for a status and a response by long poll', async () => {
  const queue = clientWith();
  const { request_id: id } = await queue.submit('test/hook', { input: { hold: true } });
  const [status, response, result] = [
    queue.status(id, { waitS: 20 }),
    queue.response(id, { waitS: 20 }),
    queue.result(id),
  ];
  await model.answer(id, '[1]');
  expect(await status).toMatchObject({ status: 'COMPLETED', success: true });
  expect(await response).toEqual([1]);
  expect((await result).output).toEqual([1]);
});

it('submits many requests, lists them in pages, and reads their statuses', async () => {
  const queue = clientWith();
  const results = await queue.submitMany([
    { model: 'test/hook', input: { n: 1 }, tags: ['lot:1'] },
    { model: 'test/none', input: {} },
    { model: 'test/hook', input: { n: 2 }, tags: ['lot:1', 'size:xl'], priority: 'low' },
    { model: 'test/hook', input: { n: 3 }, tags: ['lot:1'], timeoutS: 5 },
  ]);
  expect(results.map(({ status }) => status)).toEqual([202, 404, 202, 202]);
  expect(results[1]).toMatchObject({ code: 'unknown_model', detail: expect.any(String) });
  const ids = results.flatMap(({ request_id: id }) => id ?? []);
  await Promise.all(ids.map((id) => queue.result(id)));
  const newestFirst = ids.toSorted().reverse();
  expect(await idsOf(queue.list({ tags: ['lot:1'], limit: 1 }))).toEqual(newestFirst);
  expect(await idsOf(queue.list({ tags: ['lot:1', 'size:xl'] }))).toEqual([ids[1]]);
  expect(await idsOf(queue.list({ tags: ['lot:1'], outcome: 'failed' }))).toEqual([]);
  expect(await idsOf(queue.list({ tags: ['lot:1'], createdAfter: new Date(Date.now() + 60_000) }))).toEqual(
    [],
  );
  const page = await queue.page({ model: 'test/hook', tags: ['lot:1'], limit: 2 });
  expect(page.data).toHaveLength(2);
  expect((await queue.page({ cursor: page.next_cursor! })).data.map(({ request_id: id }) => id)).toEqual([
    newestFirst[2],
  ]);
  const statuses = await queue.statuses([ids[2]!, 'none', ids[0]!]);
  expect(statuses.map((status) => status?.request_id ?? null)).toEqual([ids[2], null, ids[0]]);
});

it('submits many requests once, even if the answer is lost', async () => {
  let tries = 0;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    if (++tries < 2) throw new TypeError('terminated');
    return answer;
  };
  const before = await calls.count('request');
  const results = await clientWith({ fetch }).submitMany(
    [1, 2].map((n) => ({ model: 'test/hook', input: { n } })),
  );
  expect(results.map(({ status }) => status)).toEqual([202, 202]);
  expect([tries, (await calls.count('request')) - before]).toEqual([2, 2]);
});

it('cancels many by their ids or by a filter', async () => {
  const queue = clientWith();
  const later = { model: 'test/hook', input: {}, delayS: 3_600, tags: ['late:yes'] };
  const results = await queue.submitMany([later, later, later]);
  const first = results[0]!.request_id!;
  expect(await queue.cancelMany({ requestIds: [first, 'none'] })).toMatchObject({ cancelled: 1, unknown: 1 });
  expect(await queue.cancelMany({ filter: { tags: ['late:yes'] } })).toMatchObject({
    cancelled: 2,
    more: false,
  });
});

it('retries and deletes', async () => {
  const queue = clientWith();
  const { requestId: id } = await queue.run('test/hook', { input: { a: 1 } });
  const { request_id: again } = await queue.retry(id, { idempotencyKey: 'again' });
  expect(await queue.retry(id, { idempotencyKey: 'again' })).toMatchObject({ request_id: again });
  expect((await queue.result(again)).status).toMatchObject({ retry_of: id });
  await queue.delete(id);
  await queue.delete(id);
  await expect(queue.response(id)).rejects.toMatchObject({ code: 'gone', status: 410 });
});

it('shows the models and its key', async () => {
  const queue = clientWith();
  const models = await queue.models();
  expect(models.map(({ id }) => id)).toEqual(['test/hook', 'test/twice', 'test/one']);
  expect(await queue.model('test/one')).toMatchObject({ id: 'test/one', concurrency: 1, waiting: 0 });
  expect(await queue.key()).toMatchObject({ scopes: expect.arrayContaining(['submit']), models: null });
});

it('receives a webhook, verifies it, and requests its redelivery', async () => {
  const queue = clientWith();
  const { webhook_secret: secret } = await queue.key();
  const { output, requestId } = await queue.run<object>('test/hook', {
    input: { a: 1 },
    webhook: receiver.url('/typescript'),
  });
  const [hook] = await receiver.arrived('/typescript');
  const event: WebhookEvent<object> = await verifyWebhook<object>(hook!.body, hook!.headers, secret!);
  expect(event).toMatchObject({ request_id: requestId, status: 'OK', payload: output });
  await expect(verifyWebhook(`${hook!.body} `, hook!.headers, secret!)).rejects.toMatchObject({
    code: 'invalid_signature',
  });
  const [delivery] = await queue.deliveries(requestId);
  await queue.redeliver(requestId, delivery!.id);
  await receiver.arrived('/typescript', 2);
});

it('refuses an unknown filter or option', async () => {
  const queue = clientWith();
  const filter = { model: 'test/hook', tag: 'late:yes' } as object;
  const message = (kind: string, name: string) => `There is no ${kind} "${name}". The known ones are `;
  await expect(queue.cancelMany({ filter })).rejects.toThrow(message('filter', 'tag'));
  await expect(queue.page(filter)).rejects.toThrow(message('filter', 'tag'));
  const options = { input: {}, not_before: '2030-01-31T08:00:00Z' };
  await expect(queue.submit('test/hook', options)).rejects.toThrow(message('option', 'not_before'));
  await expect(queue.submitMany([{ model: 'test/hook', ...options }])).rejects.toThrow(
    message('option', 'not_before'),
  );
});
