import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import type { AdminWorkerDto } from '../../src/admin/workers/workers.dto.js';
import { AdminCalls, type Page } from '../support/admin-calls.js';
import { verdict } from '../support/queue-calls.js';
import { routesOf } from '../support/routes.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  models: { 'test/model': { concurrency: 2 }, 'test/pulled': pulled },
  limits: 'off',
});
const admin = new AdminCalls(service);

interface Call {
  path: string;
  body?: object;
  cookie?: string;
}

let key: string;
let worker: string;
const node = async (): Promise<string> => (await admin.all<{ id: string }>('/nodes'))[0]!.id;
const completed = async (): Promise<string> => {
  const id = await calls.submit('test/model');
  await calls.reached(id, 'COMPLETED');
  return id;
};
const insert = async (sql: string, values: unknown[] = []): Promise<string> =>
  (await service.query<{ id: string }>(`INSERT INTO ${sql} RETURNING id`, values))[0]!.id;
const delivery = async (): Promise<string> => {
  const id = await completed();
  await insert(
    `webhook_delivery (request_id, id, api_key_id, url, host, state)
     VALUES ($1, gen_random_uuid(), $2, 'http://example.com/', 'example.com', 'ended')`,
    [id, key],
  );
  return (await admin.all<{ id: string }>(`/requests/${id}/deliveries`))[0]!.id;
};

/** Every route that changes something, in an order in which each has something to change. */
const changes: Record<string, () => Promise<Call> | Call> = {
  'POST /v1/admin/keys': () => ({ path: '/keys', body: { name: 'shop' } }),
  'PATCH /v1/admin/keys/:key_id': () => ({ path: `/keys/${key}`, body: { weight: 2 } }),
  'POST /v1/admin/keys/:key_id/webhook-secret/rotate': () => ({
    path: `/keys/${key}/webhook-secret/rotate`,
  }),
  'DELETE /v1/admin/keys/:key_id': () => ({ path: `/keys/${key}` }),
  'DELETE /v1/admin/session': async () => ({ path: '/session', cookie: await admin.cookie() }),
  'DELETE /v1/admin/sessions/:session_id': async () => {
    await admin.cookie();
    return { path: `/sessions/${(await admin.all<{ id: string }>('/sessions'))[0]!.id}` };
  },
  'PATCH /v1/admin/models/*model_id': () => ({ path: '/models/test/model', body: { concurrency: 3 } }),
  'POST /v1/admin/models/*model_id/probe': () => ({ path: '/models/test/model/probe' }),
  'POST /v1/admin/models/reload': () => ({ path: '/models/reload' }),
  'POST /v1/admin/nodes/:node_id/drain': async () => ({ path: `/nodes/${await node()}/drain` }),
  'DELETE /v1/admin/nodes/:node_id/drain': async () => ({ path: `/nodes/${await node()}/drain` }),
  'POST /v1/admin/workers/:worker_uid/drain': () => ({ path: `/workers/${worker}/drain` }),
  'DELETE /v1/admin/workers/:worker_uid/drain': () => ({ path: `/workers/${worker}/drain` }),
  'POST /v1/admin/workers/:worker_uid/stop': () => ({ path: `/workers/${worker}/stop` }),
  'POST /v1/admin/requests/:request_id/cancel': async () => ({
    path: `/requests/${await calls.submit('test/model', { hold: true })}/cancel`,
  }),
  'POST /v1/admin/requests/:request_id/retry': async () => ({ path: `/requests/${await completed()}/retry` }),
  'POST /v1/admin/requests/:request_id/erase': async () => ({ path: `/requests/${await completed()}/erase` }),
  'PUT /v1/admin/batches/:batch_id/cancel': async () => {
    const lines = [{ custom_id: 'a', model_id: 'test/model', input: { hold: true } }];
    const made = await fetch(`${service.url}/v1/batches`, {
      method: 'POST',
      headers: keyHeader(service.key),
      body: JSON.stringify({ requests: lines }),
    });
    const { batch_id } = (await made.json()) as { batch_id: string };
    return { path: `/batches/${batch_id}/cancel` };
  },
  'POST /v1/admin/operations': () => ({
    path: '/operations',
    body: { action: 'cancel', filter: { tag: 'no:such' } },
  }),
  'POST /v1/admin/operations/:operation_id/stop': async () => ({
    path: `/operations/${await insert(
      // Another node works on it.
      `operation (id, action, filter, actor_name, claimed_by, claimed_until)
       VALUES (gen_random_uuid(), 'cancel', '{}', 'other', gen_random_uuid(), now() + interval '1 hour')`,
    )}/stop`,
  }),
  'POST /v1/admin/deliveries/:delivery_id/redeliver': async () => ({
    path: `/deliveries/${await delivery()}/redeliver`,
  }),
  'PATCH /v1/admin/webhooks/:webhook_id': async () => ({
    path: `/webhooks/${await insert(
      `webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, 'http://example.com/')`,
      [key],
    )}`,
    body: { disabled: true },
  }),
};
/** A sign-in has a key, but no reason. */
const others = ['POST /v1/admin/session'];

beforeAll(async () => {
  key = (await admin.newKey()).id;
  await new WorkerCalls(service, 'gpu-1').claim();
  await service.app.get(WorkerKeeper).runOnce();
  worker = (await admin.json<Page<AdminWorkerDto>>('GET', '/workers')).data[0]!.uid;
});

test('every route of the admin API that changes something is in the table', () => {
  const changing = routesOf(service).filter((route) => /^(?!GET|HEAD)\w+ \/v1\/admin\//.test(route));
  expect([...new Set(changing)].sort()).toEqual([...Object.keys(changes), ...others].sort());
});

test.each(Object.entries(changes))('%s takes a reason, and it is in the audit', async (route, prepare) => {
  const { path, body = {}, cookie } = await prepare();
  const reason = `why ${route}`;
  const via = cookie === undefined ? {} : { cookie };
  const answer = await admin.call(route.split(' ')[0]!, path, { ...via, body: { ...body, reason } });
  const said = await answer.text();
  expect([answer.ok, said]).toEqual([true, said]);
  const written =
    'SELECT actor_name, actor_key_id, address, http_request_id FROM audit_entry WHERE reason = $1';
  expect(await service.query(written, [reason])).toEqual([
    {
      actor_name: 'bootstrap',
      actor_key_id: expect.any(String),
      address: expect.any(String),
      http_request_id: answer.headers.get('x-request-id'),
    },
  ]);
});

test.each(Object.keys(changes))(
  '%s refuses a reason in the query, where nobody would see it',
  async (route) => {
    const [method, template] = route.split(' ') as [string, string];
    const path = template.replace('/v1/admin', '').replace('*model_id', 'test/model');
    const body = method === 'DELETE' ? {} : { body: {} };
    const answer = admin.call(method, `${path.replace(/:\w+/, key)}?reason=why`, body);
    expect(await verdict(answer)).toEqual([400, 'invalid_query']);
  },
);

const wrong = [400, 'bad_request'];
const unstorable = [422, 'invalid_input'];

test.each<[string, unknown, unknown[]]>([
  ['is too long', 'a'.repeat(501), wrong],
  ['has a NUL', 'a\0b', unstorable],
  ['has half a character', '\ud800', unstorable],
  ['is a number', 7, wrong],
  ['is a list', ['why'], wrong],
])('a reason that %s is refused', async (_, reason, refused) => {
  expect(await verdict(admin.call('POST', '/models/reload', { body: { reason } }))).toEqual(refused);
  expect(await verdict(admin.call('POST', '/keys', { body: { name: 'a', reason } }))).toEqual(refused);
});
