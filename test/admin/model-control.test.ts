import { ModelAdminCalls, type AdminModel } from '../support/model-admin-calls.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const id = 'acme/text/up';
const { service, calls, model } = testQueue({
  models: { [id]: { concurrency: 2, attempts: 2, retry: { base: '1ms', cap: '1ms' } }, other: {} },
  limits: 'off',
});
let admin: ModelAdminCalls;
beforeAll(() => (admin = new ModelAdminCalls(service)));
afterEach(async () => {
  model.release();
  await admin.change(id, { paused: null, concurrency: null });
});

const nothing = { override: null, overridden_at: null, overridden_by: null };
const listed = async (): Promise<Record<string, unknown>> => {
  const response = await service.get(`/v1/models/${id}`, { headers: keyHeader(service.key) });
  return (await response.json()) as Record<string, unknown>;
};

test('a model has the values of its file until an operator overrides one; an override names its time and author', async () => {
  const paused = { current: false, base: false, ...nothing };
  expect(await admin.model(id)).toMatchObject({
    id,
    kind: 'http',
    order: 'fair',
    concurrency: { current: 2, base: 2, ...nothing },
    paused,
  });
  const changed = await admin.change('acme%2Ftext%2Fup', { concurrency: 5, reason: 'a second GPU' });
  const set = { overridden_at: expect.stringMatching(/^\d{4}-.*Z$/), overridden_by: 'bootstrap' };
  expect(changed.concurrency).toEqual({ current: 5, base: 2, override: 5, ...set });
  expect(changed.paused).toEqual(paused);
  const list = await admin.call('GET', 'models');
  const { data, ...rest } = (await list.json()) as { data: AdminModel[] };
  expect(rest).toEqual({ next_cursor: null });
  expect(data.map((one) => [one.id, one.concurrency.current])).toEqual([
    [id, 5],
    ['other', 4],
  ]);
  expect((await listed())['concurrency']).toBe(5);
  expect((await admin.change(id, { concurrency: null })).concurrency).toEqual({
    current: 2,
    base: 2,
    ...nothing,
  });
});

test('a paused model accepts submissions, reports the pause, and starts them when it is resumed', async () => {
  expect(await admin.change(id, { paused: 'hold' })).toMatchObject({
    paused: { current: 'hold', override: 'hold', overridden_by: 'bootstrap' },
    availability: 'paused',
  });
  const ids = await calls.submitAll(3, id);
  const status = await calls.status(ids[1]!);
  expect(status).toMatchObject({ status: 'IN_QUEUE', reason: 'paused', queue_position: 1 });
  expect(status).not.toHaveProperty('estimated_start');
  expect(await listed()).toMatchObject({ availability: 'paused', waiting: 3, running: 0 });
  expect(ids.map((one) => model.times(one))).toEqual([0, 0, 0]);
  expect((await admin.change(id, { paused: false })).paused).toEqual({
    current: false,
    base: false,
    ...nothing,
  });
  for (const one of ids)
    expect(await calls.reached(one, 'COMPLETED')).toMatchObject({ success: true, attempt: 1 });
});

test('a run continues when its model is paused, and another attempt waits', async () => {
  model.hold();
  const running = await calls.submit(id, { attempts: [{ hold: true }, {}] });
  await calls.reached(running, 'IN_PROGRESS');
  const call = await model.arrived(running);
  await admin.change(id, { paused: 'hold' });
  call.response.writeHead(500).end();
  await until(async () => (await calls.status(running)).reason === 'paused');
  expect(model.times(running)).toBe(1);
  await admin.change(id, { paused: null });
  model.release();
  expect(await calls.reached(running, 'COMPLETED')).toMatchObject({ success: true, attempt: 2 });
});

test('a request expires while its model is paused', async () => {
  await admin.change(id, { paused: 'hold' });
  const response = await service.submit(`${id}?expires=200ms`, {});
  const { request_id: waiting } = (await response.json()) as { request_id: string };
  expect(await calls.reached(waiting, 'COMPLETED')).toMatchObject({ error: { code: 'expired' } });
  expect(model.times(waiting)).toBe(0);
});

test('a model paused with reject answers submissions, batches and retries 503, and retains waiting requests', async () => {
  const done = await calls.run(id);
  await admin.change(id, { paused: 'hold' });
  const waiting = await calls.submit(id);
  await admin.change(id, { paused: 'reject' });
  const refused = await service.submit(id, {});
  expect(refused.headers.get('retry-after')).toBe('30');
  expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'model_paused' });
  const again = { method: 'POST', headers: keyHeader(service.key) };
  expect(await verdict(service.get(`${calls.path(done)}/retry`, again))).toEqual([503, 'model_paused']);
  const batch = await service.get('/v1/queue/requests', {
    ...again,
    body: JSON.stringify({
      requests: [
        { model_id: id, input: {} },
        { model_id: 'other', input: {} },
      ],
    }),
  });
  const { results } = (await batch.json()) as { results: object[] };
  expect(results).toMatchObject([{ status: 503, code: 'model_paused' }, { status: 202 }]);
  await admin.change(id, { paused: false });
  expect(await calls.reached(waiting, 'COMPLETED')).toMatchObject({ success: true });
});

test('lowering the concurrency stops no run, and no run starts until enough have ended', async () => {
  model.hold();
  await admin.change(id, { concurrency: 4 });
  const ids = await calls.submitAll(8, id);
  await until(() => model.running === 4);
  await admin.change(id, { concurrency: 1 });
  for (const one of ids.slice(0, 3)) await model.answer(one);
  await until(() => model.running === 1);
  await calls.status(ids[4]!);
  expect(ids.slice(4).map((one) => model.times(one))).toEqual([0, 0, 0, 0]);
  await model.answer(ids[3]!);
  for (const one of ids.slice(4)) {
    await model.answer(one);
    await calls.reached(one, 'COMPLETED');
  }
  expect(ids.map((one) => model.times(one))).toEqual(ids.map(() => 1));
  expect(model.maxAtOnce).toBe(4);
});

test('a change with If-Match is refused if the model has changed meanwhile', async () => {
  const read = await admin.call('GET', `models/${id}`);
  const version = read.headers.get('etag')!;
  expect(version).toMatch(/^"[\w-]{22}"$/);
  const first = await admin.call('PATCH', `models/${id}`, { concurrency: 3 }, { 'if-match': version });
  expect(first.status).toBe(200);
  expect(first.headers.get('etag')).not.toBe(version);
  const second = admin.call('PATCH', `models/${id}`, { concurrency: 9 }, { 'if-match': version });
  expect(await verdict(second)).toEqual([412, 'changed_meanwhile']);
  expect((await admin.model(id)).concurrency.current).toBe(3);
  const any = await admin.call('PATCH', `models/${id}`, { concurrency: 4 }, { 'if-match': '*' });
  expect(any.status).toBe(200);
});

test('each change is audited with its old value and reason; a change without effect is not', async () => {
  const before = await calls.count('audit_entry');
  await admin.change(id, { paused: 'hold', concurrency: 7, reason: 'new weights' });
  await admin.change(id, { paused: 'hold', concurrency: 7 });
  await admin.change(id, { paused: false });
  const written = 'SELECT action, target, actor_name, before, after, reason FROM audit_entry';
  expect(await service.query(`${written} ORDER BY id OFFSET $1`, [before])).toEqual([
    {
      action: 'model.pause',
      target: id,
      actor_name: 'bootstrap',
      reason: 'new weights',
      before: { paused: false },
      after: { paused: 'hold' },
    },
    {
      action: 'model.concurrency',
      target: id,
      actor_name: 'bootstrap',
      reason: 'new weights',
      before: { concurrency: { current: 2, base: 2, override: null } },
      after: { concurrency: { current: 7, base: 2, override: 7 } },
    },
    {
      action: 'model.resume',
      target: id,
      actor_name: 'bootstrap',
      reason: null,
      before: { paused: 'hold' },
      after: { paused: false },
    },
  ]);
});

test.each([
  [{ concurrency: 0 }, 400, 'bad_request'],
  [{ concurrency: 1.5 }, 400, 'bad_request'],
  [{ concurrency: 10_001 }, 400, 'bad_request'],
  [{ concurrency: '2' }, 400, 'bad_request'],
  [{ paused: true }, 400, 'bad_request'],
  [{ paused: 'stop' }, 400, 'bad_request'],
  [{ reason: 'x'.repeat(501) }, 400, 'bad_request'],
  [{ reason: 'a\0b' }, 422, 'invalid_input'],
  [{ pause: 'hold' }, 400, 'invalid_query'],
])('the change %j is refused', async (body, status, code) => {
  expect(await verdict(admin.call('PATCH', `models/${id}`, body))).toEqual([status, code]);
});

test('a model that is not there cannot be read or changed', async () => {
  expect(await verdict(admin.call('GET', 'models/nobody'))).toEqual([404, 'unknown_model']);
  expect(await verdict(admin.call('PATCH', 'models/nobody', {}))).toEqual([404, 'unknown_model']);
});

test('the scope observe reads a model but cannot change it; caller scopes can do neither', async () => {
  const may = async (scopes: ['observe'] | ['submit', 'read', 'cancel']): Promise<number[]> => {
    const by = new ModelAdminCalls({ url: service.url, key: await calls.newKey({ scopes }) });
    const asked = [by.call('GET', `models/${id}`), by.call('PATCH', `models/${id}`, {})];
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  expect(await may(['observe'])).toEqual([200, 403]);
  expect(await may(['submit', 'read', 'cancel'])).toEqual([403, 403]);
});

test('a drained node starts no run, still answers, and starts waiting requests when the drain ends', async () => {
  const [node] = await service.query<{ id: string }>('SELECT id FROM node');
  const path = `nodes/${node!.id}/drain`;
  const drained = (await (await admin.call('POST', path)).json()) as { draining_since: string };
  expect(drained).toMatchObject({ id: node!.id, role: 'all', draining_since: expect.stringMatching(/Z$/) });
  expect(await (await admin.call('POST', path)).json()).toEqual(drained);
  const waiting = await calls.submit(id);
  await until(async () => {
    const [granted] = await service.query<{ slots: number }>(
      'SELECT sum(slots)::int AS slots FROM slot_grant',
    );
    return granted!.slots === 0;
  });
  expect(await calls.status(waiting)).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
  expect(model.times(waiting)).toBe(0);
  expect(await (await admin.call('DELETE', path)).json()).toMatchObject({ draining_since: null });
  const said = await service.query(`SELECT action FROM audit_entry WHERE action LIKE 'node.%' ORDER BY id`);
  expect(said).toEqual([{ action: 'node.drain' }, { action: 'node.undrain' }]);
  expect(await calls.reached(waiting, 'COMPLETED')).toMatchObject({ success: true });
  expect(await verdict(admin.call('POST', 'nodes/nobody/drain'))).toEqual([404, 'unknown_id']);
});
