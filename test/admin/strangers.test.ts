import { AdminCalls, fromConsole } from '../support/admin-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

let service: TestService;
let admin: AdminCalls;
let cookie: string;
beforeAll(async () => {
  service = await startTestService({ limits: '100000/h', config: { corsOrigins: ['*'] } });
  admin = new AdminCalls(service);
  cookie = await admin.cookie();
});
afterAll(() => service.stop());

const json = 'application/json';
const own = (): string => service.url;

/** The headers that another page could have a browser send with the cookie, if the cookie were sent at all. */
const strangers: [string, () => Record<string, string>][] = [
  ['another site', () => ({ 'content-type': json, 'sec-fetch-site': 'cross-site' })],
  ['another port of this host', () => ({ 'content-type': json, 'sec-fetch-site': 'same-site' })],
  ['an address that was typed', () => ({ 'content-type': json, 'sec-fetch-site': 'none' })],
  ['a sandboxed frame', () => ({ 'content-type': json, 'sec-fetch-site': 'cross-site', origin: 'null' })],
  ['a sandboxed frame without TLS', () => ({ 'content-type': json, origin: 'null' })],
  ['another origin without TLS', () => ({ 'content-type': json, origin: 'http://evil.example' })],
  [
    'our name under another scheme',
    () => ({ 'content-type': json, origin: own().replace('http:', 'https:') }),
  ],
  ['an origin that begins like ours', () => ({ 'content-type': json, origin: `${own()}.evil.example` })],
  ['a page that hides where it is', () => ({ 'content-type': json })],
  ['a form', () => ({ 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' })],
  ['an encoded form', () => ({ 'content-type': 'application/x-www-form-urlencoded', origin: own() })],
  ['a type that begins like JSON', () => ({ 'content-type': 'application/jsonp', origin: own() })],
];

/** Fields that a call omits unless its case sets them: `send` filters empty values out. */
const bare = { 'sec-fetch-site': '', origin: '', 'content-type': '' };

function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Response> {
  const all = Object.entries({ ...bare, ...headers }).filter(([, value]) => value !== '');
  return fetch(`${service.url}${path}`, { method, headers: { cookie, ...Object.fromEntries(all) }, body });
}

describe.each(strangers)('%s', (_, headersOf) => {
  test.each([
    ['POST', '/v1/admin/keys', '{"name": "theirs", "scopes": ["admin"]}'],
    ['PATCH', '/v1/admin/keys/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', '{"weight": 2}'],
    ['DELETE', '/v1/admin/session', undefined],
    ['POST', '/v1/queue/demo/text/echo', '{}'],
  ])('cannot call %s %s with the cookie of a session', async (method, path, body) => {
    expect(await verdict(send(method, path, headersOf(), body))).toEqual([403, 'forbidden']);
  });

  test('cannot sign a browser in', async () => {
    const headers = headersOf();
    // A browser that sends a POST of JSON across origins always names the origin.
    if (headers['origin'] === undefined && headers['sec-fetch-site'] === undefined) return;
    const response = await send('POST', '/v1/admin/session', headers, JSON.stringify({ key: service.key }));
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await verdict(response)).toEqual([403, 'forbidden']);
  });
});

test('a sign-in that another page tried is in the audit', async () => {
  const entries = await service.query(
    `SELECT DISTINCT after FROM audit_entry WHERE action = 'session.refuse'`,
  );
  expect(entries).toEqual([{ after: { by: 'key', code: 'forbidden' } }]);
});

test('a call that another page attempts with the cookie of a session is audited with the reason', async () => {
  const form = { 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' };
  const ofNobody = { ...form, cookie: `nowserving_session=${'a'.repeat(43)}` };
  for (const headers of [ofNobody, form])
    expect(await verdict(send('POST', '/v1/admin/operations', headers, '{}'))).toEqual([403, 'forbidden']);
  const refused = (): Promise<{ target: string }[]> =>
    service.query(
      `SELECT DISTINCT target, actor_name, session_id IS NOT NULL AS by_session FROM audit_entry
       WHERE action = 'access.refuse' AND after ->> 'reason' LIKE '%Content-Type: application/json%' ORDER BY target`,
    );
  await until(async () => (await refused()).some(({ target }) => target.endsWith('/operations')));
  // A call without a session has no name.
  const bySession = { actor_name: 'bootstrap', by_session: true };
  expect(await refused()).toEqual([
    { target: 'DELETE /v1/admin/session', ...bySession },
    { target: 'PATCH /v1/admin/keys/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', ...bySession },
    { target: 'POST /v1/admin/keys', ...bySession },
    { target: 'POST /v1/admin/operations', ...bySession },
  ]);
});

test('calls of the console are accepted with the headers that its browser sends', async () => {
  for (const headers of [fromConsole, { 'content-type': `${json}; charset=utf-8`, origin: own() }]) {
    const response = await send('POST', '/v1/admin/keys', headers, '{"name": "ours"}');
    expect(response.status).toBe(201);
  }
});

test('a read is accepted from any page, but other origins cannot see its answer', async () => {
  const headers = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
  const response = await send('GET', '/v1/admin/keys', headers);
  expect(response.status).toBe(200);
  // A browser gives the answer to a call with cookies to another origin only if both headers are there.
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

test('a cookie does not take away the access that a request id gives', async () => {
  const { key } = await admin.newKey({ scopes: ['submit', 'read', 'cancel', 'observe'] });
  const submitted = await service.submit('demo/text/echo', {}, { authorization: `Key ${key}` });
  const { request_id: id } = (await submitted.json()) as { request_id: string };
  expect((await send('GET', `/v1/queue/requests/${id}/status`, {})).status).toBe(200);
});
