import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseScopeMap } from '../../src/config/scopes.js';
import { AdminCalls, fromConsole } from '../support/admin-calls.js';
import { CookieBrowser, passProvider } from '../support/cookie-browser.js';
import { client, startProvider, type TestProvider } from '../support/oidc-provider.js';
import { startTestService, type TestService } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

let provider: TestProvider;
let service: TestService;
let admin: AdminCalls;

const settings = (issuer: string): object => ({
  oidcIssuer: issuer,
  oidcClientId: client.id,
  oidcClientSecret: client.secret,
  oidcScopes: parseScopeMap('ops=admin; support=observe'),
});

beforeAll(async () => {
  provider = await startProvider();
  service = await startTestService({ limits: 'off', config: settings(provider.issuer) });
  admin = new AdminCalls(service);
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const start = (): string => `${service.url}/v1/admin/session/oidc`;

/** Returns the address to which the provider sends the browser back. */
async function callback(browser: CookieBrowser, login: string): Promise<string> {
  const begun = await browser.fetch(start());
  return passProvider(browser, begun.headers.get('location')!, login);
}

/** Signs in, and returns the address at which the browser ends. */
async function signIn(login: string, browser = new CookieBrowser()): Promise<string> {
  const answer = await browser.fetch(await callback(browser, login));
  return answer.headers.get('location')!.slice(service.url.length);
}

async function whoIs(browser: CookieBrowser) {
  const response = await browser.fetch(`${service.url}/v1/admin/session`, { headers: fromConsole });
  return ((await response.json()) as { signed_in: { name: string; scopes: string[]; key_id: string } | null })
    .signed_in;
}

const refusals = (): Promise<{ reason: string; actor_name: string }[]> =>
  service.query(`SELECT reason, actor_name FROM audit_entry WHERE action = 'session.refuse' ORDER BY id`);

test('the session of the console names the provider for signing in', async () => {
  const { host } = new URL(provider.issuer);
  expect(await admin.json('GET', '/session', { key: null })).toEqual({
    signed_in: null,
    oidc: { name: host, url: start() },
  });
});

test('a member of a group with scopes signs in, and gets an audited key with these scopes', async () => {
  provider.groups.set('ada', ['staff', 'ops']);
  const browser = new CookieBrowser();
  const begun = await browser.fetch(start());
  expect(begun.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^nowserving_oidc=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
  ]);
  const sent = new URL(begun.headers.get('location')!).searchParams;
  expect(Object.fromEntries(sent)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `${start()}/callback`,
    nonce: expect.any(String) as string,
    state: expect.any(String) as string,
  });
  expect(await signIn('ada', browser)).toBe('/console');
  const { key_id: id, ...who } = (await whoIs(browser))!;
  expect(who).toMatchObject({
    name: 'ada',
    scopes: ['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin'],
  });
  expect(browser.jar(service.url).has('nowserving_oidc')).toBe(false);
  expect(await admin.json('GET', `/keys/${id}`)).toMatchObject({
    name: 'ada',
    subject: `${provider.issuer} ada`,
    scopes: ['admin'],
  });
  const entries = await service.query(
    `SELECT action, actor_name, target FROM audit_entry WHERE actor_key_id = $1 ORDER BY id`,
    [id],
  );
  expect(entries).toMatchObject([
    { action: 'key.create', actor_name: 'ada', target: id },
    { action: 'session.begin', actor_name: 'ada' },
  ]);
});

test('other users are refused, and the audit names them', async () => {
  provider.groups.set('eve', ['staff']);
  for (const login of ['eve', 'nobody']) {
    const browser = new CookieBrowser();
    expect(await signIn(login, browser)).toBe('/console#sign-in=refused');
    expect(await whoIs(browser)).toBeNull();
    expect((await refusals()).at(-1)!.reason).toContain(`"groups" of ${login}`);
  }
});

test('a subject with a NUL character is refused', async () => {
  provider.groups.set('ada\0', ['ops']);
  const browser = new CookieBrowser();
  expect(await signIn('ada\0', browser)).toBe('/console#sign-in=refused');
  expect(await whoIs(browser)).toBeNull();
  expect((await refusals()).at(-1)!.reason).toContain('"sub" of ada contains NUL');
});

test('the scopes of a user follow the provider at each sign-in', async () => {
  provider.groups.set('bob', ['ops']);
  const [first, second] = [new CookieBrowser(), new CookieBrowser()];
  await signIn('bob', first);
  provider.groups.set('bob', ['support']);
  await signIn('bob', second);
  const { key_id: id } = (await whoIs(second))!;
  // The earlier session has the same key.
  expect(await whoIs(first)).toMatchObject({ key_id: id, scopes: ['observe'] });
  const changed = admin.call('PATCH', `/keys/${id}`, { body: { scopes: ['admin'] } });
  expect(await verdict(changed)).toEqual([409, 'conflict']);
  provider.groups.set('bob', []);
  expect(await signIn('bob')).toBe('/console#sign-in=refused');
});

test('a user whose key was revoked cannot sign in again, regardless of the provider', async () => {
  provider.groups.set('carol', ['ops']);
  const browser = new CookieBrowser();
  await signIn('carol', browser);
  await admin.call('DELETE', `/keys/${(await whoIs(browser))!.key_id}`);
  expect(await whoIs(browser)).toBeNull();
  expect(await signIn('carol', browser)).toBe('/console#sign-in=refused');
});

test('simultaneous first sign-ins of a user share one key', async () => {
  provider.groups.set('dan', ['ops']);
  const browsers = Array.from({ length: 4 }, () => new CookieBrowser());
  await Promise.all(browsers.map((browser) => signIn('dan', browser)));
  const ids = await Promise.all(browsers.map(async (browser) => (await whoIs(browser))!.key_id));
  expect(new Set(ids).size).toBe(1);
});

describe('the callback from the provider', () => {
  const refused = `#sign-in=refused`;
  const end = async (browser: CookieBrowser, url: string): Promise<[string, boolean]> => {
    const answer = await browser.fetch(url);
    const isSignedIn = answer.headers.getSetCookie().some((set) => set.startsWith('nowserving_session='));
    return [new URL(answer.headers.get('location')!).hash, isSignedIn];
  };

  beforeAll(() => provider.groups.set('mallory', ['ops']));

  test('signs in only the browser that began', async () => {
    const url = await callback(new CookieBrowser(), 'mallory');
    // As with a link that mallory sends to somebody, who would then work in her name.
    expect(await end(new CookieBrowser(), url)).toEqual([refused, false]);
    const other = new CookieBrowser();
    await other.fetch(start());
    expect(await end(other, url)).toEqual([refused, false]);
  });

  test('signs in only once', async () => {
    const browser = new CookieBrowser();
    const url = await callback(browser, 'mallory');
    const state = new Map(browser.jar(service.url));
    expect(await end(browser, url)).toEqual(['', true]);
    expect(await end(browser, url)).toEqual([refused, false]);
    const replayed = new CookieBrowser();
    replayed.cookies.set(new URL(service.url).origin, state);
    expect(await end(replayed, url)).toEqual([refused, false]);
  });

  test.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'made-up')],
    ['another code', (url: URL) => url.searchParams.set('code', 'made-up')],
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'http://evil.example')],
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['a refusal', (url: URL) => (url.search = `?error=access_denied&state=${url.searchParams.get('state')}`)],
  ])('is refused with %s', async (_, change) => {
    const browser = new CookieBrowser();
    const url = new URL(await callback(browser, 'mallory'));
    change(url);
    expect(await end(browser, url.href)).toEqual([refused, false]);
  });

  test('is refused with a cookie that was altered', async () => {
    const browser = new CookieBrowser();
    const url = await callback(browser, 'mallory');
    const jar = browser.jar(service.url);
    const sealed = jar.get('nowserving_oidc')!;
    jar.set('nowserving_oidc', `${sealed.slice(0, -4)}${sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`);
    expect(await end(browser, url)).toEqual([refused, false]);
  });
});

describe('a provider that is away', () => {
  let other: TestService;
  let silent: Server;
  beforeAll(async () => {
    // It accepts connections and never answers.
    silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    other = await startTestService({ config: settings(issuer) });
  });
  afterAll(() => other.stop());

  test('does not prevent a sign-in with a key, and is used again once it is back', async () => {
    const start = `${other.url}/v1/admin/session/oidc`;
    const [answer, health] = await Promise.all([
      fetch(start, { redirect: 'manual' }),
      fetch(`${other.url}/health/ready`),
    ]);
    expect(health.status).toBe(200);
    expect(answer.headers.get('location')).toBe(`${other.url}/console#sign-in=failed`);
    const { port } = silent.address() as AddressInfo;
    silent.closeAllConnections();
    await new Promise((done) => silent.close(done));
    expect((await fetch(start, { redirect: 'manual' })).headers.get('location')).toContain('failed');
    expect((await new AdminCalls(other).signIn({ key: other.key })).status).toBe(200);
    const back = await startProvider(port);
    const begun = await fetch(start, { redirect: 'manual' });
    expect(begun.headers.get('location')).toContain(`${back.issuer}/auth?`);
    await back.stop();
  });
});

test('without a configured provider its routes are answered 404', async () => {
  const plain = await startTestService();
  const calls = new AdminCalls(plain);
  try {
    for (const path of ['/session/oidc', '/session/oidc/callback?code=a&state=b'])
      expect(await verdict(calls.call('GET', path, { key: null }))).toEqual([404, 'unknown_id']);
  } finally {
    await plain.stop();
  }
});
