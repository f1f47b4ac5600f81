import { keyHeader, verdict } from '../support/queue-calls.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/one': { concurrency: 1 }, 'test/wide': { concurrency: 50 } },
  limits: '10000/s',
});

interface Operation {
  id: string;
  state: string;
  total: number;
  done: number;
  skipped: number;
  failed: number;
}

const send = (path: string, body: object = {}, key = service.key): Promise<Response> =>
  fetch(`${service.url}/v1/admin/operations${path}`, {
    method: 'POST',
    headers: keyHeader(key),
    body: JSON.stringify(body),
  });
const start = async (body: object): Promise<Operation> => {
  const answer = await send('', body);
  expect(answer.status).toBe(202);
  return (await answer.json()) as Operation;
};
const read = async (id: string): Promise<Operation> =>
  (
    await service.get(`/v1/admin/operations/${id}`, { headers: keyHeader(service.key) })
  ).json() as Promise<Operation>;
const ended = (id: string): Promise<Operation> =>
  until(async () => {
    const operation = await read(id);
    return (operation.state === 'done' || operation.state === 'stopped') && operation;
  });

test('cancels all that a filter finds, counts every one, and leaves the others', async () => {
  const blocker = await calls.submit('test/one', { hold: true });
  await calls.reached(blocker, 'IN_PROGRESS');
  const requests = Array.from({ length: 1_000 }, () => ({ model_id: 'test/one', input: {}, tag: 'job:1' }));
  const batch = await fetch(`${service.url}/v1/queue/requests`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: JSON.stringify({ requests }),
  });
  expect(batch.status).toBe(200);
  await batch.text();
  const kept = await calls.submit('test/one?tag=job:2', {});
  const body = { action: 'cancel', filter: { tag: 'job:1' } };
  const preview = await send('', { ...body, validate_only: true });
  expect(preview.status).toBe(200);
  expect(await preview.json()).toMatchObject({
    count: { value: 1_000, is_exact: true },
    sample: [{ tags: ['job:1'] }, {}, {}],
  });
  const { id, total } = await start({ ...body, reason: 'a mistake' });
  expect(total).toBe(1_000);
  expect(await ended(id)).toMatchObject({ state: 'done', done: 1_000, skipped: 0, failed: 0 });
  const [row] = await service.query(`SELECT count(*)::integer AS left FROM queue_entry`);
  expect(row).toEqual({ left: 1 });
  expect((await calls.status(kept)).queue_position).toBe(0);
  expect(await service.query(`SELECT FROM operation_member`)).toEqual([]);
  const audits = await service.query(
    `SELECT reason FROM audit_entry WHERE action = 'operation.start' AND target = $1`,
    [id],
  );
  expect(audits).toEqual([{ reason: 'a mistake' }]);
  await model.answer(blocker);
  await calls.reached(kept, 'COMPLETED');
});

test('retries for their keys once each, and erases', async () => {
  const owner = await calls.newKey({ name: 'owner' });
  for (let i = 0; i < 3; i++) {
    const id = await calls.submit('test/wide?tag=again:1', { status: 418 }, keyHeader(owner));
    await calls.reached(id, 'COMPLETED');
  }
  const retried = await start({ action: 'retry', filter: { tag: 'again:1', outcome: 'failed' } });
  expect(await ended(retried.id)).toMatchObject({ state: 'done', total: 3, done: 3 });
  const rows = await service.query<{ id: string }>(
    `SELECT request.id FROM request JOIN api_key ON api_key.id = api_key_id WHERE name = 'owner' AND retry_of IS NOT NULL`,
  );
  expect(rows).toHaveLength(3);
  for (const { id } of rows) await calls.reached(id, 'COMPLETED');
  const ids = rows.map(({ id }) => id);
  const erased = await start({ action: 'erase', filter: { ids } });
  expect(await ended(erased.id)).toMatchObject({ total: 3, done: 3 });
  const again = await start({ action: 'erase', filter: { ids } });
  expect(await ended(again.id)).toMatchObject({ state: 'done', total: 0 });
});

test('what no longer qualifies when its turn comes is skipped and counted', async () => {
  const running = await calls.submit('test/one?tag=late:1', { hold: true });
  await calls.reached(running, 'IN_PROGRESS');
  const waiting = await calls.submit('test/one?tag=late:1', {});
  // As if it had been told of one that ends before its turn.
  const { id } = await start({ action: 'cancel', filter: { tag: 'late:1' } });
  expect(await ended(id)).toMatchObject({ total: 2, done: 2 });
  const late = await start({ action: 'cancel', filter: { ids: [waiting] } });
  expect(await ended(late.id)).toMatchObject({ total: 0 });
  await calls.reached(running, 'COMPLETED');
});

test.each([
  [{ action: 'cancel' }, 'bad_request'],
  [{ action: 'cancel', filter: {} }, 'bad_request'],
  [{ action: 'explode', all: true }, 'bad_request'],
  [{ action: 'cancel', filter: { colour: 'red' } }, 'invalid_query'],
  [{ action: 'cancel', filter: { ids: [] } }, 'bad_request'],
  [{ action: 'cancel', filter: { ids: [1] } }, 'invalid_query'],
  [{ action: 'cancel', everything: true }, 'invalid_query'],
])('refuses %j', async (body, code) => expect(await verdict(send('', body))).toEqual([400, code]));

test('is for admins, can be listed, and one that is not there cannot be stopped', async () => {
  const observer = await calls.newKey({ scopes: ['payloads'] });
  expect(await verdict(send('', { action: 'cancel', all: true }, observer))).toEqual([403, 'forbidden']);
  const { id } = await start({ action: 'cancel', filter: { tag: 'none:1' } });
  await ended(id);
  const list = await service.get('/v1/admin/operations?limit=1', { headers: keyHeader(observer) });
  const page = (await list.json()) as { data: object[]; next_cursor: string };
  expect(page.data).toMatchObject([{ id, by: 'bootstrap' }]);
  expect(list.headers.get('link')).toContain(`cursor=${page.next_cursor}>; rel="next"`);
  const next = await service.get(`/v1/admin/operations?cursor=${page.next_cursor}`, {
    headers: keyHeader(observer),
  });
  expect(JSON.stringify(await next.json())).not.toContain(id);
  expect((await send(`/${id}/stop`)).status).toBe(200);
  expect(await verdict(send('/nothing/stop'))).toEqual([404, 'unknown_operation']);
});
