import { AdminCalls, type Page } from '../support/admin-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { QueueCalls, keyHeader, problemOf, unknownId, verdict } from '../support/queue-calls.js';

let service: TestService;
let admin: AdminCalls;
beforeAll(async () => {
  service = await startTestService({ limits: '100000/h' });
  admin = new AdminCalls(service);
});
afterAll(() => service.stop());

interface Key {
  id: string;
  name: string;
  state: string;
  key?: string;
  [member: string]: unknown;
}

const create = (body: object): Promise<Key> => admin.json('POST', '/keys', { body });
const audited = (target: string): Promise<Record<string, unknown>[]> =>
  service.query(`SELECT action, before, after, actor_name FROM audit_entry WHERE target = $1 ORDER BY id`, [
    target,
  ]);

test('creating a key shows its secret once; the key works, and the audit omits the secret', async () => {
  const { key, ...made } = await create({
    name: ' web shop ',
    scopes: ['submit', 'read', 'read'],
    models: ['demo/*'],
    limits: { submit: '50/S,1000/m', other: 'off', batch: '7/s' },
    max_priority: 'normal',
    max_waiting: 100,
    max_running: 3,
    weight: 2.5,
    expires: '2100-01-01T00:00:00Z',
  });
  expect(key).toMatch(/^ns_[\w-]{43}$/);
  expect(made).toMatchObject({
    name: 'web shop',
    prefix: key!.slice(0, 10),
    state: 'valid',
    subject: null,
    scopes: ['submit', 'read'],
    models: ['demo/*'],
    limits: { submit: '50/s,1000/m', other: 'off', batch: '7/s' },
    quota: { submit: [{ limit: 50, remaining: 50 }, { limit: 1_000 }], other: [], batch: [{ limit: 7 }] },
    max_priority: 'normal',
    max_waiting: 100,
    max_running: 3,
    weight: 2.5,
    waiting: 0,
    running: 0,
    requests_today: 0,
    requests_last_30_days: 0,
    expires_at: '2100-01-01T00:00:00.000Z',
    revoked_at: null,
    last_used_at: null,
  });
  expect(await admin.json('GET', `/keys/${made.id.toUpperCase()}`)).toEqual(made);
  const calls = new QueueCalls(service);
  await calls.reached(await calls.submit('demo/text/echo', {}, keyHeader(key!)), 'COMPLETED');
  expect(await admin.json('GET', `/keys/${made.id}`)).toMatchObject({
    requests_today: 1,
    requests_last_30_days: 1,
    running: 0,
    quota: { submit: [{}, { remaining: 999 }] },
  });
  expect(await audited(made.id)).toMatchObject([
    { action: 'key.create', actor_name: 'bootstrap', after: { name: 'web shop', max_running: 3 } },
  ]);
  expect(JSON.stringify(await service.query('SELECT * FROM audit_entry'))).not.toContain(key);
});

test('an update without changes returns the key as it is and writes no audit entry', async () => {
  const { key: _, ...made } = await create({ name: 'unchanged', weight: 2 });
  for (const body of [{}, { limits: {} }, { reason: 'none' }])
    expect(await admin.json('PATCH', `/keys/${made.id}`, { body })).toEqual(made);
  expect(await audited(made.id)).toHaveLength(1);
  await admin.json('PATCH', `/keys/${made.id}`, { body: { weight: 3 } });
  expect(await audited(made.id)).toMatchObject([{}, { before: { weight: 2 }, after: { weight: 3 } }]);
  expect(await verdict(admin.call('PATCH', `/keys/${unknownId()}`, { body: {} }))).toEqual([
    404,
    'unknown_id',
  ]);
});

test('omitted options of a new key have the defaults of the command line', async () => {
  expect(await create({ name: 'plain' })).toMatchObject({
    scopes: ['submit', 'read', 'cancel'],
    models: null,
    limits: { submit: null, other: null, batch: null },
    max_priority: 'high',
    max_waiting: null,
    max_running: null,
    weight: 1,
    expires_at: null,
  });
});

test.each([
  [{}, '"name": expected 1 to 100 printable characters'],
  [{ name: 'a\nb' }, '"name": expected 1 to 100 printable characters'],
  [{ name: 'a', scope: ['read'] }, 'no option "scope", did you mean "scopes"?'],
  [{ name: 'a', scopes: ['root'] }, '"scopes[0]": expected one of submit, read'],
  [{ name: 'a', scopes: [] }, '"scopes": expected a list of 1 to 100'],
  [{ name: 'a', models: ['*'] }, '"models[0]": expected a model id such as'],
  [{ name: 'a', limits: { submit: 'fast' } }, '"limits.submit": expected limits such as 10/s,100/m'],
  [{ name: 'a', limits: { submits: 'off' } }, 'There is no option "submits"'],
  [{ name: 'a', max_running: 0 }, '"max_running": expected a whole number from 1'],
  [{ name: 'a', weight: '2' }, '"weight": expected a number from 0.01 to 1000'],
  [{ name: 'a', expires: '2001-01-01T00:00:00Z' }, '"expires": expected a time in the future'],
  [{ name: 'a', expires: 'soon' }, '"expires": expected a duration such as'],
])('a key from %j is refused with an explanation', async (body, said) => {
  const response = await admin.call('POST', '/keys', { body });
  expect(await problemOf(response)).toMatchObject({
    code: 'bad_request',
    detail: expect.stringContaining(said) as string,
  });
});

test('an update applies at once, is audited with old and new values, and null restores a default', async () => {
  const { id, key } = await create({ name: 'changed', models: ['demo/*'], weight: 2 });
  const headers = keyHeader(key!);
  await new QueueCalls(service).submit('demo/text/echo', {}, headers);
  const changes = { name: 'mended', scopes: ['read'], models: null, limits: { other: '7/h' } };
  expect(await admin.json('PATCH', `/keys/${id}`, { body: changes })).toMatchObject({
    ...changes,
    limits: { submit: null, other: '7/h', batch: null },
    weight: 2,
  });
  expect(await verdict(service.submit('demo/text/echo', {}, headers))).toEqual([403, 'forbidden']);
  const [, change] = await audited(id);
  expect(change).toEqual({
    action: 'key.update',
    actor_name: 'bootstrap',
    before: {
      name: 'changed',
      scopes: ['submit', 'read', 'cancel'],
      models: ['demo/*'],
      limits: { submit: null, other: null, batch: null },
    },
    after: { ...changes, limits: { submit: null, other: '7/h', batch: null } },
  });
  const nothing = { limits: null, weight: null };
  const back = { limits: { submit: null, other: null, batch: null }, weight: 1 };
  expect(await admin.json('PATCH', `/keys/${id}`, { body: nothing })).toMatchObject(back);
  expect((await audited(id)).at(-1)).toMatchObject({ after: back });
  expect(await create({ name: 'as left out', ...nothing })).toMatchObject(back);
});

test('revoking a key is idempotent and permanent', async () => {
  const { id, key } = await create({ name: 'brief' });
  expect((await service.submit('demo/text/echo', {}, keyHeader(key!))).status).toBe(202);
  for (let i = 0; i < 2; i++) expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(204);
  expect(await verdict(service.submit('demo/text/echo', {}, keyHeader(key!)))).toEqual([401, 'invalid_key']);
  expect(await admin.json('GET', `/keys/${id}`)).toMatchObject({ state: 'revoked' });
  const change = admin.call('PATCH', `/keys/${id}`, { body: { weight: 2 } });
  expect(await verdict(change)).toEqual([409, 'conflict']);
  expect((await audited(id)).map(({ action }) => action)).toEqual(['key.create', 'key.revoke']);
});

test('an unknown or malformed key id is answered 404', async () => {
  for (const id of ['nothing', '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', `'; DROP TABLE api_key`]) {
    const path = `/keys/${encodeURIComponent(id)}`;
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const answer = admin.call(method, path, method === 'PATCH' ? { body: { weight: 2 } } : {});
      expect(await verdict(answer)).toEqual([404, 'unknown_id']);
    }
  }
});

test('the last admin key cannot be revoked or demoted without allow_no_admin', async () => {
  const own = (await admin.all<Key>('/keys?state=valid')).find(({ name }) => name === 'bootstrap')!;
  const path = `/keys/${own.id}`;
  expect(await verdict(admin.call('DELETE', path))).toEqual([409, 'conflict']);
  const demoted = { body: { scopes: ['observe'] } };
  expect(await verdict(admin.call('PATCH', path, demoted))).toEqual([409, 'conflict']);
  expect(await verdict(admin.call('PATCH', path, { body: { expires: '1d' } }))).toEqual([409, 'conflict']);
  await create({ name: 'expired', scopes: ['admin'], expires: '1ms' });
  expect(await verdict(admin.call('DELETE', path))).toEqual([409, 'conflict']);

  const second = await create({ name: 'second', scopes: ['admin'] });
  const both = await Promise.all([
    admin.call('DELETE', path),
    admin.call('DELETE', `/keys/${second.id}`, { key: second.key! }),
  ]);
  expect(both.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, 409]);
  const [left] = (await service.query<{ id: string }>(
    `SELECT id FROM api_key WHERE revoked_at IS NULL AND expires_at IS NULL AND 'admin' = ANY (scopes)`,
  )) as [Key];
  const holder = left.id === own.id ? service.key : second.key!;
  const meant = await admin.call('DELETE', `/keys/${left.id}?allow_no_admin=true`, { key: holder });
  expect(meant.status).toBe(204);
  await service.query(`UPDATE api_key SET revoked_at = NULL WHERE id = $1`, [own.id]);
  await until(async () => (await admin.call('GET', '/keys')).ok, { message: 'the key is known again' });
});

describe('the list', () => {
  test('has all keys, the newest first, in pages that neither skip nor repeat', async () => {
    const all = await admin.all<Key>('/keys?limit=100');
    const paged = await admin.all<Key>('/keys?limit=2');
    expect(paged.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(JSON.stringify(all)).not.toContain('hash');
  });

  test('retains its filter on the next page, which the Link header names', async () => {
    const response = await admin.call('GET', '/keys?state=valid&limit=1');
    const next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link')!)![1]!;
    const second = await fetch(next, { headers: keyHeader(service.key) });
    const { data } = (await second.json()) as Page<Key>;
    expect(data).toEqual([expect.objectContaining({ state: 'valid' })]);
    expect((await admin.all<Key>('/keys?state=revoked')).every(({ state }) => state === 'revoked')).toBe(
      true,
    );
  });

  test('refuses a cursor of another list, a changed one, and one with other filters', async () => {
    const cursorOf = async (path: string): Promise<string> =>
      (await admin.json<Page<Key>>('GET', path)).next_cursor!;
    const [keys, audit] = [await cursorOf('/keys?limit=1'), await cursorOf('/audit?limit=1')];
    for (const query of [`cursor=${audit}`, `cursor=${keys.slice(0, -2)}`, `cursor=${keys}&state=valid`])
      expect(await verdict(admin.call('GET', `/keys?${query}`))).toEqual([400, 'invalid_query']);
    expect(
      (await admin.json<Page<Key>>('GET', `/keys?cursor=${keys}&limit=5000`)).data.length,
    ).toBeGreaterThan(1);
  });
});

test('the webhook secret of a key is read and rotated, and both are audited', async () => {
  const { id } = await create({ name: 'signed', scopes: ['submit'] });
  const secret = `/keys/${id}/webhook-secret`;
  const { secrets } = await admin.json<{ secrets: string[] }>('GET', secret);
  expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  const rotated = await admin.json<{ secrets: string[] }>('POST', `${secret}/rotate`, {
    body: { reason: 'it was in a log' },
  });
  expect(rotated.secrets).toEqual([expect.stringMatching(/^whsec_/), ...secrets]);
  expect(await admin.json('GET', secret)).toEqual(rotated);
  const entries = await service.query(
    `SELECT action, reason FROM audit_entry WHERE target = $1 AND action LIKE 'secret.%' ORDER BY id`,
    [id],
  );
  expect(entries).toEqual([
    { action: 'secret.read', reason: null },
    { action: 'secret.rotate', reason: 'it was in a log' },
    { action: 'secret.read', reason: null },
  ]);
  const written = await service.query('SELECT before, after FROM audit_entry WHERE target = $1', [id]);
  expect(JSON.stringify(written)).not.toContain('whsec_');
  expect(await verdict(admin.call('GET', `/keys/${unknownId()}/webhook-secret`))).toEqual([
    404,
    'unknown_id',
  ]);
});
