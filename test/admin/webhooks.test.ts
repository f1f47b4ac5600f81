import { Handles } from '../../src/auth/handles.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { until } from '../support/index.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, receiver, hooks } = testWebhooks();

interface Delivery {
  id: string;
  message_id: string;
  event: string;
  request_id: string;
  state: string;
  url: string;
  key: { id: string; name: string };
  webhook_id: string | null;
  next_try_at: string | null;
  tries: { status: number | null; body: string | null }[];
}

interface Receiver {
  id: string | null;
  url: string | null;
  host: string;
  pending: number;
  disabled_at: string | null;
  delivered_last_day: number;
  failed_last_day: number;
  failed_tries_last_day: number;
  last_status: number | null;
}

interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

let observer: string;
beforeAll(async () => {
  observer = await calls.newKey({ name: 'observer', scopes: ['observe'] });
});

const call = (method: string, path: string, body?: object, key = service.key): Promise<Response> =>
  fetch(`${service.url}/v1/admin/${path}`, {
    method,
    headers: keyHeader(key),
    ...(body && { body: JSON.stringify(body) }),
  });
const read = async <T>(path: string, key?: string): Promise<T> => {
  const answer = await call('GET', path, undefined, key);
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
};
const list = (query: string, key?: string) => read<Page<Delivery>>(`deliveries?${query}`, key);
const audited = (action: string, target: string) =>
  service.query('SELECT before, after, reason FROM audit_entry WHERE action = $1 AND target = $2', [
    action,
    target,
  ]);
const endpointOf = async (keyId: string, url: string): Promise<string> => {
  const [row] = await service.query<{ id: string }>(
    `INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, $2) RETURNING id`,
    [keyId, url],
  );
  return row!.id;
};

test('the deliveries of all keys, newest first, page by page, by state, endpoint, host, key and request', async () => {
  const shop = await calls.newKey({ name: 'web shop' });
  const [{ id: keyId }] = (await service.query<{ id: string }>(
    `SELECT id FROM api_key WHERE name = 'web shop'`,
  )) as [{ id: string }];
  const endpoint = await endpointOf(keyId, receiver.url('/shop?token=secret'));
  const own: string[] = [];
  for (let i = 0; i < 3; i++) {
    const id = await calls.submit('test/hook', {}, keyHeader(shop));
    own.push(id);
    await calls.reached(id, 'COMPLETED');
  }
  await until(async () => (await list('state=delivered')).data.length === 3);
  receiver.answer = ({ response }) => void response.writeHead(410).end('no more');
  const ended = await hooks.submit();
  await hooks.only(ended.id, 'ended');

  const all = await list('limit=2');
  expect(all.data.map(({ request_id: id }) => id)).toEqual([ended.id, own[2]]);
  const rest = await list(`cursor=${all.next_cursor}`);
  expect(rest.data.map(({ request_id: id }) => id)).toEqual([own[1], own[0]]);
  expect(rest.next_cursor).toBeNull();
  const found = async (query: string): Promise<string[]> =>
    (await list(query)).data.map(({ request_id: id }) => id);
  const host = new URL(receiver.url('/')).host;
  expect(await found('state=ended')).toEqual([ended.id]);
  expect(await found('state=failed')).toEqual([]);
  expect(await found('state=pending')).toEqual([]);
  expect(await found(`webhook_id=${endpoint}`)).toEqual([...own].reverse());
  expect(await found(`key_id=${keyId}&limit=1`)).toEqual([own[2]]);
  expect(await found(`host=${host.toUpperCase()}&state=ended`)).toEqual([ended.id]);
  expect(await found('host=example.org')).toEqual([]);
  expect(await found(`request_id=${own[1]}`)).toEqual([own[1]]);
  expect(await found('request_id=nonsense')).toEqual([]);
  const [delivery] = (await read<Page<Delivery>>(`requests/${ended.id}/deliveries`)).data;
  expect(delivery).toMatchObject({
    state: 'ended',
    key: { name: 'bootstrap' },
    webhook_id: null,
    event: 'request.completed',
    next_try_at: null,
    tries: [{ status: 410, body: 'no more' }],
  });
  expect(await verdict(call('GET', 'requests/nonsense/deliveries'))).toEqual([404, 'unknown_request']);
});

test('the deliveries of a key and of an endpoint have those of its batches', async () => {
  const shop = await calls.newKey({ name: 'batch shop' });
  const [{ id: keyId }] = (await service.query<{ id: string }>(
    `SELECT id FROM api_key WHERE name = 'batch shop'`,
  )) as [{ id: string }];
  const endpoint = await endpointOf(keyId, receiver.url('/batches'));
  await service.query(
    `UPDATE webhook_endpoint SET events = '{request.completed,batch.completed}' WHERE id = $1`,
    [endpoint],
  );
  const before = await calls.submit('test/hook', {}, keyHeader(shop));
  await calls.reached(before, 'COMPLETED');
  const batches = new BatchCalls({ url: service.url, key: shop });
  const { batch_id: batchId } = await batches.send(inputLines(1), '?model_id=test/hook');
  await batches.ended(batchId);
  for (const filter of [`key_id=${keyId}`, `webhook_id=${endpoint}`]) {
    const events = (await list(filter)).data.map(({ event, request_id: id }) => [event, id]);
    expect(events).toContainEqual(['batch.completed', batchId]);
    expect(events.at(-1)).toEqual(['request.completed', before]);
  }
});

test('observers see handles, but no query of a URL and no answer body of a receiver', async () => {
  receiver.answer = ({ response }) => void response.writeHead(200).end('the secret');
  const { id } = await hooks.submit({}, '');
  await hooks.only(id, 'delivered');
  const handle = service.app.get(Handles).handleOf(id);
  for (const page of [
    await list(`request_id=${handle}`, observer),
    await read<Page<Delivery>>(`requests/${handle}/deliveries`, observer),
  ]) {
    expect(page.data).toMatchObject([{ request_id: handle, tries: [{ status: 200, body: null }] }]);
    expect(JSON.stringify(page)).not.toContain(id);
  }
  const { data, next_cursor: cursor } = await list('limit=1', observer);
  expect(Buffer.from(cursor!.slice(16), 'base64url').toString()).not.toContain(id);
  const shops = await list('state=delivered', observer);
  expect(shops.data.map(({ url }) => new URL(url).pathname)).toContain('/shop');
  expect(JSON.stringify([data, shops, await read('webhooks', observer)])).not.toContain('token');
  expect(JSON.stringify(await read('webhooks'))).toContain('token');
  const target = `deliveries/${data[0]!.id}/redeliver`;
  expect(await verdict(call('POST', target, undefined, observer))).toEqual([403, 'forbidden']);
});

test('an admin requests another try of an ended delivery, and the action is audited', async () => {
  receiver.answer = ({ response }) => void response.writeHead(410).end();
  const { id } = await hooks.submit();
  const ended = await hooks.only(id, 'ended');
  receiver.answer = ({ response }) => void response.writeHead(204).end();
  const [{ id: target, message_id: message }] = (await list(`request_id=${id}`)).data as [Delivery];
  expect(message).toBe(ended.id);
  const answer = await call('POST', `deliveries/${target}/redeliver`, { reason: 'it is up again' });
  expect(answer.status).toBe(202);
  expect(await answer.json()).toMatchObject({ id: target, request_id: id });
  await hooks.only(id, 'delivered', 2);
  expect(await audited('delivery.redeliver', target)).toEqual([
    { before: { state: 'ended' }, after: { state: 'pending' }, reason: 'it is up again' },
  ]);
  const none = target.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const wrong of [none, ended.id, 'nonsense'])
    expect(await verdict(call('POST', `deliveries/${wrong}/redeliver`))).toEqual([404, 'unknown_id']);
});

test('failures are listed by endpoint and by host, and a disabled endpoint gets no new delivery', async () => {
  const shop = await calls.newKey({ name: 'second shop' });
  const [{ id: secondId }] = (await service.query<{ id: string }>(
    `SELECT id FROM api_key WHERE name = 'second shop'`,
  )) as [{ id: string }];
  const endpoint = await endpointOf(secondId, receiver.url('/second'));
  receiver.answer = ({ response }) => void response.writeHead(503).end();
  const id = await calls.submit('test/hook', {}, keyHeader(shop));
  await calls.reached(id, 'COMPLETED');
  const receivers = async (): Promise<Receiver[]> => (await read<Page<Receiver>>('webhooks')).data;
  const second = async (): Promise<Receiver> => (await receivers()).find((one) => one.id === endpoint)!;
  await until(async () => (await second()).last_status === 503);
  expect(await second()).toMatchObject({
    url: receiver.url('/second'),
    key: { id: secondId, name: 'second shop' },
    events: ['request.completed'],
    pending: 1,
    is_pending_exact: true,
    delivered_last_day: 0,
    failed_last_day: 0,
    failed_tries_last_day: 1,
    last_error: null,
    disabled_at: null,
    next_try_at: expect.any(String) as string,
  });
  const [pending] = (await list(`webhook_id=${endpoint}&state=pending`)).data;
  expect(pending).toMatchObject({ state: 'pending', next_try_at: expect.any(String) as string });
  const host = (await receivers()).find(({ id: of }) => of === null);
  const none = { key: null, url: null, events: null };
  expect(host).toMatchObject({ host: new URL(receiver.url('/')).host, ...none, pending: 0 });
  expect(host!.delivered_last_day).toBeGreaterThan(0);
  expect(host!.failed_last_day).toBeGreaterThan(0);

  const change = (body: object): Promise<Response> => call('PATCH', `webhooks/${endpoint}`, body);
  const disabled = await change({ disabled: true, reason: 'it is down' });
  expect([disabled.status, await disabled.json()]).toMatchObject([
    200,
    { id: endpoint, disabled_at: expect.any(String) as string },
  ]);
  await change({ disabled: true });
  expect(await audited('endpoint.disable', endpoint)).toMatchObject([{ reason: 'it is down' }]);
  await calls.reached(await calls.submit('test/hook', {}, keyHeader(shop)), 'COMPLETED');
  expect(await (await change({ disabled: false })).json()).toMatchObject({ disabled_at: null, pending: 1 });
  expect(await audited('endpoint.enable', endpoint)).toHaveLength(1);
  expect((await list(`webhook_id=${endpoint}`)).data).toHaveLength(1);

  const pages: (string | null)[] = [];
  for (let query = 'limit=1'; ;) {
    const page = await read<Page<Receiver>>(`webhooks?${query}`);
    pages.push(...page.data.map(({ id: of }) => of));
    if (page.next_cursor === null) break;
    query = `cursor=${page.next_cursor}`;
  }
  expect(pages).toEqual((await receivers()).map(({ id: of }) => of));
});

test.each([
  ['GET', 'deliveries?state=lost', undefined, [400, 'invalid_query']],
  ['GET', 'deliveries?webhook_id=none', undefined, [400, 'invalid_query']],
  ['GET', 'deliveries?host=a/b', undefined, [400, 'invalid_query']],
  ['GET', 'deliveries?cursor=none', undefined, [400, 'invalid_query']],
  ['GET', 'deliveries?colour=red', undefined, [400, 'invalid_query']],
  ['GET', 'webhooks?cursor=none', undefined, [400, 'invalid_query']],
  ['PATCH', 'webhooks/none', { disabled: true }, [404, 'unknown_id']],
  ['PATCH', 'webhooks/none', { disabled: 'yes' }, [400, 'bad_request']],
  ['PATCH', 'webhooks/none', { enabled: true }, [400, 'invalid_query']],
])('%s %s with %j is refused', async (method, path, body, expected) =>
  expect(await verdict(call(method, path, body))).toEqual(expected),
);
