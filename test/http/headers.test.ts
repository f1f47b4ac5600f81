import { type ProbeApp, startProbeApp } from '../support/http-probe-app.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp()));
afterAll(() => probe.app.close());

const call = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${probe.url}${path}`, { method, headers });

test('a valid request id of the caller is returned', async () => {
  for (const id of ['abc', 'A.b_c-1', 'x'.repeat(128)]) {
    expect((await call('/nowhere', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
  }
});

test('any other request id is replaced', async () => {
  for (const id of ['', 'a b', 'x'.repeat(129), 'ä', 'a;b', '"quoted"']) {
    const { headers } = await call('/nowhere', { 'x-request-id': id });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  }
});

test('answers restrict the browser, and do not name the software of the server', async () => {
  const { headers } = await call('/nowhere');
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  expect(headers.get('strict-transport-security')).toBeNull();
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('etag')).toBeNull();
});

test('CORS is off by default', async () => {
  const { headers } = await call('/nowhere', { origin: 'https://app.example' });
  expect(headers.get('access-control-allow-origin')).toBeNull();
});

describe('with CORS_ORIGINS', () => {
  let shared: ProbeApp;
  beforeAll(async () => (shared = await startProbeApp({ corsOrigins: ['https://app.example'] })));
  afterAll(() => shared.app.close());

  const from = (origin: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${shared.url}/probe/body`, { ...init, headers: { origin, ...(init.headers as object) } });

  test('a preflight is answered before any guard', async () => {
    const response = await from('https://app.example', {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type, idempotency-key, last-event-id',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(response.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PUT,PATCH,DELETE');
    expect(response.headers.get('access-control-allow-headers')).toMatch(
      /Authorization.*Last-Event-ID.*Lease-Token/,
    );
  });

  test('a page of that origin may read an answer, even an error, with the fields that the page needs', async () => {
    const { headers, status } = await from('https://app.example', { method: 'POST' });
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(headers.get('access-control-expose-headers')).toMatch(
      /X-Request-Id.*Retry-After.*Location.*Allow.*WWW-Authenticate/,
    );
    expect(headers.get('vary')).toContain('Origin');
  });

  test('a page of another origin may not read an answer', async () => {
    const { headers } = await from('https://evil.example', { method: 'POST' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('a star lets every origin in', async () => {
  const open = await startProbeApp({ corsOrigins: ['*'] });
  const response = await fetch(`${open.url}/nowhere`, { headers: { origin: 'https://any.example' } });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  await open.app.close();
});

test('/docs loads nothing from other machines, under a policy without exceptions', async () => {
  const response = await call('/docs');
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(await response.text()).not.toMatch(/(src|href)=["']https?:/);
});
