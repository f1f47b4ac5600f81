import { KeysService } from '../../src/auth/keys.service.js';
import { SignInLinks } from '../../src/auth/sign-in-links.js';
import { AdminCalls, cookieIn, fromConsole } from '../support/admin-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

let service: TestService;
let admin: AdminCalls;
beforeAll(async () => {
  service = await startTestService({ limits: '100000/h' });
  admin = new AdminCalls(service);
});
afterAll(() => service.stop());

interface Session {
  signed_in: { key_id: string; name: string; scopes: string[]; session_id: string | null } | null;
  oidc: unknown;
}
const whoAmI = (cookie: string): Promise<Session> => admin.json('GET', '/session', { cookie });
const lines = (action: string): Promise<Record<string, unknown>[]> =>
  service.query(`SELECT * FROM audit_entry WHERE action = $1 ORDER BY id`, [action]);
const makeLink = (keyId: string): Promise<string> => service.app.get(SignInLinks).make(keyId);
const ownId = async (): Promise<string> => (await service.app.get(KeysService).list())[0]!.id;

test('a call without a key is not signed in, and one with a key sees its rights', async () => {
  expect(await admin.json('GET', '/session', { key: null })).toEqual({ signed_in: null, oidc: null });
  expect(await admin.json('GET', '/session')).toEqual({
    signed_in: {
      key_id: await ownId(),
      name: 'bootstrap',
      scopes: ['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin'],
      session_id: null,
      expires_at: null,
    },
    oidc: null,
  });
});

test('signing in with a key starts a session; its cookie is accepted in place of the key', async () => {
  const response = await admin.signIn({ key: service.key });
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^nowserving_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  const cookie = cookieIn(response);
  const { signed_in } = await whoAmI(cookie);
  expect(await response.json()).toEqual({ signed_in, oidc: null });
  expect(signed_in).toMatchObject({ name: 'bootstrap', session_id: expect.any(String) as string });
  const submitted = await fetch(`${service.url}/v1/queue/demo/text/echo`, {
    method: 'POST',
    headers: { cookie, ...fromConsole },
    body: '{}',
  });
  expect(submitted.status).toBe(202);
  const [row] = await service.query<{ hash: Buffer }>(`SELECT hash FROM session WHERE id = $1`, [
    signed_in!.session_id,
  ]);
  expect(row!.hash.toString()).not.toContain(cookie.split('=')[1]);
});

test('under TLS the cookie is Secure and bound to its host', async () => {
  const other = await startTestService({ config: { publicBaseUrl: 'https://queue.example.org' } });
  try {
    const response = await new AdminCalls(other).signIn({ key: other.key });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-nowserving_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
  } finally {
    await other.stop();
  }
});

test('a key without an operator scope cannot sign in', async () => {
  const { key } = await admin.newKey();
  expect(await verdict(admin.signIn({ key }))).toEqual([403, 'forbidden']);
});

test('an unknown key or link cannot sign in, and the audit does not repeat it', async () => {
  const before = (await lines('session.refuse')).length;
  expect(await verdict(admin.signIn({ key: 'ns_hunter2hunter2' }))).toEqual([401, 'invalid_key']);
  expect(await verdict(admin.signIn({ link: 'hunter2hunter2' }))).toEqual([401, 'sign_in_refused']);
  const refused = (await lines('session.refuse')).slice(before);
  expect(refused).toMatchObject([
    {
      actor_name: 'unknown',
      actor_key_id: null,
      address: '127.0.0.1',
      after: { by: 'key', code: 'invalid_key' },
    },
    { after: { by: 'link', code: 'sign_in_refused' } },
  ]);
  expect(JSON.stringify(refused)).not.toContain('hunter2');
});

test.each([
  ['nothing', '{}'],
  ['both', '{"key": "a", "link": "b"}'],
  ['a number', '{"key": 7}'],
])('signing in with %s is refused', async (_, body) => {
  expect(await verdict(admin.signIn(JSON.parse(body) as object))).toEqual([400, 'bad_request']);
});

test('failed sign-ins write at most 60 audit rows a minute', async () => {
  const before = (await lines('session.refuse')).length;
  await Promise.all(Array.from({ length: 130 }, () => admin.signIn({ key: 'ns_wrong' })));
  expect((await lines('session.refuse')).length - before).toBeLessThanOrEqual(120);
});

test('signing out ends the session at once, however busy it is', async () => {
  const cookie = await admin.cookie();
  let isEnded = false;
  const busy = Array.from({ length: 8 }, async () => {
    while (!isEnded) await whoAmI(cookie);
  });
  const response = await admin.call('DELETE', '/session', { cookie });
  isEnded = true;
  expect([response.status, response.headers.getSetCookie()]).toEqual([
    204,
    [expect.stringContaining('Max-Age=0')],
  ]);
  expect((await whoAmI(cookie)).signed_in).toBeNull();
  await Promise.all(busy);
  expect((await whoAmI(cookie)).signed_in).toBeNull();
  expect(await verdict(admin.call('GET', '/keys', { cookie }))).toEqual([401, 'missing_key']);
  expect(await verdict(admin.call('DELETE', '/session', { cookie }))).toEqual([401, 'missing_key']);
});

test('each sign-in has a token of its own, and ends the session that the browser had', async () => {
  const first = await admin.cookie();
  const id = (await whoAmI(first)).signed_in!.session_id;
  const second = cookieIn(await admin.signIn({ key: service.key }, { cookie: first }));
  expect(second).not.toBe(first);
  const replaced_by = (await whoAmI(second)).signed_in!.session_id;
  expect((await lines('session.end')).filter(({ target }) => target === id)).toMatchObject([
    { actor_name: 'bootstrap', session_id: replaced_by, after: { replaced_by } },
  ]);
  expect((await whoAmI(first)).signed_in).toBeNull();
  expect((await whoAmI(second)).signed_in).not.toBeNull();
  // A token that somebody else chose is not used.
  const chosen = `nowserving_session=${'a'.repeat(43)}`;
  expect(cookieIn(await admin.signIn({ key: service.key }, { cookie: chosen }))).not.toBe(chosen);
  expect((await whoAmI(chosen)).signed_in).toBeNull();
});

test('a session token is not accepted as a key, nor a key as a session token', async () => {
  const token = (await admin.cookie()).split('=')[1]!;
  expect(await verdict(admin.call('GET', '/keys', { key: token }))).toEqual([401, 'invalid_key']);
  expect(await verdict(admin.signIn({ key: token }))).toEqual([401, 'invalid_key']);
  expect(await verdict(admin.signIn({ key: `session\n${token}` }))).toEqual([401, 'invalid_key']);
  expect((await whoAmI(`nowserving_session=${service.key}`)).signed_in).toBeNull();
});

test('a session ends when its key is revoked, on this node at once', async () => {
  const { id, key } = await admin.newKey({ scopes: ['observe'] });
  const cookie = await admin.cookie(key);
  expect((await whoAmI(cookie)).signed_in).toMatchObject({ key_id: id, scopes: ['observe'] });
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(204);
  expect((await whoAmI(cookie)).signed_in).toBeNull();
  expect(await verdict(admin.call('GET', '/keys', { key }))).toEqual([401, 'invalid_key']);
});

test('an expired session is not accepted', async () => {
  const { key, id } = await admin.newKey({ scopes: ['admin'] });
  const cookie = await admin.cookie(key);
  await service.query(`UPDATE session SET expires_at = now() WHERE api_key_id = $1`, [id]);
  expect((await whoAmI(cookie)).signed_in).toBeNull();
});

test('a link signs in once, also if it is used many times at once', async () => {
  const link = await makeLink(await ownId());
  const answers = await Promise.all(Array.from({ length: 20 }, () => admin.signIn({ link })));
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array<number>(19).fill(401)]);
  expect(await verdict(admin.signIn({ link }))).toEqual([401, 'sign_in_refused']);
});

test('a sign-in link ends when it expires, when its key is revoked, and when another is made', async () => {
  const first = await makeLink(await ownId());
  const second = await makeLink(await ownId());
  expect((await admin.signIn({ link: first })).status).toBe(401);
  await service.query(`UPDATE sign_in_link SET expires_at = now() - interval '1 second'`);
  expect((await admin.signIn({ link: second })).status).toBe(401);
  const { id } = await admin.newKey({ scopes: ['admin'] });
  const third = await makeLink(id);
  await admin.call('DELETE', `/keys/${id}`);
  expect((await admin.signIn({ link: third })).status).toBe(401);
});

test('the scope observe lists sessions, and ending a session of the list needs the scope admin', async () => {
  const { key, id } = await admin.newKey({ name: 'watcher', scopes: ['observe'] });
  const cookie = await admin.cookie(key);
  const { data } = await admin.json<{ data: { id: string; name: string; is_current: boolean }[] }>(
    'GET',
    '/sessions?limit=1',
    { cookie },
  );
  expect(data).toEqual([
    expect.objectContaining({ key_id: id, name: 'watcher', address: '127.0.0.1', is_current: true }),
  ]);
  const path = `/sessions/${data[0]!.id}`;
  expect(await verdict(admin.call('DELETE', path, { cookie }))).toEqual([403, 'forbidden']);
  expect((await admin.call('DELETE', path)).status).toBe(204);
  expect((await whoAmI(cookie)).signed_in).toBeNull();
  expect(await verdict(admin.call('DELETE', path))).toEqual([404, 'unknown_id']);
  expect(await lines('session.end')).toContainEqual(
    expect.objectContaining({ target: data[0]!.id, actor_name: 'bootstrap' }),
  );
});
