import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { keyHeader, QueueCalls, verdict } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
beforeAll(async () => {
  service = await startTestService();
  calls = new QueueCalls(service);
});
afterAll(() => service.stop());

interface Limit {
  limit: number;
  window_s: number;
  remaining: number;
  reset_s: number;
}

interface Key {
  id: string;
  webhook_secret?: string;
  limits: { submit: Limit[]; other: Limit[] };
}

const get = (key: string): Promise<Response> => service.get('/v1/key', { headers: keyHeader(key) });
async function read(key: string): Promise<Key> {
  const response = await get(key);
  expect(response.status).toBe(200);
  return (await response.json()) as Key;
}
const limit = (size: number, seconds: number, remaining = size, reset: unknown = 0): unknown => ({
  limit: size,
  window_s: seconds,
  remaining,
  reset_s: reset,
});

test('a key reads its own scopes, limits and allowances', async () => {
  const expires = new Date('2100-01-01T00:00:00Z');
  const key = await calls.newKey({
    name: 'web shop',
    scopes: ['submit'],
    models: ['demo/*', 'acme/image'],
    rateLimitSubmit: '5/s,50/h',
    rateLimitOther: 'off',
    rateLimitBatch: '9/s',
    maxPriority: 'normal',
    maxWaiting: 100,
    maxRunning: 3,
    weight: 2.5,
    expires: { at: expires },
  });
  const [{ id }] = (await service.query<{ id: string }>(
    `SELECT id FROM api_key WHERE name = 'web shop'`,
  )) as [{ id: string }];
  expect(await read(key)).toEqual({
    id,
    name: 'web shop',
    scopes: ['submit'],
    models: ['demo/*', 'acme/image'],
    limits: { submit: [limit(5, 1), limit(50, 3_600)], other: [], batch: [limit(9, 1)] },
    allowances: {
      bytes: { used: 0, max: 64 * 1024 ** 2 },
      streams: { used: 0, max: 1_000 },
      stored: { bytes: 0, files: 0, max_bytes: 20 * 1024 ** 3, max_files: 100_000 },
    },
    max_priority: 'normal',
    max_waiting: 100,
    max_running: 3,
    weight: 2.5,
    expires_at: expires.toISOString(),
    webhook_secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) as string,
  });
});

test('a key without the scope submit is not shown a webhook secret, but an admin key is', async () => {
  expect(await read(await calls.newKey({ scopes: ['read'] }))).not.toHaveProperty('webhook_secret');
  expect(await read(await calls.newKey({ scopes: ['admin'] }))).toHaveProperty('webhook_secret');
});

test('a key without its own limits has those of the service', async () => {
  const key = await calls.newKey({ name: 'plain' });
  expect(await read(key)).toMatchObject({
    name: 'plain',
    scopes: ['submit', 'read', 'cancel'],
    models: null,
    limits: {
      submit: [limit(10, 1), limit(100, 60)],
      other: [limit(100, 1, 99, 1), limit(1_800, 60, 1_799, 60)],
      batch: [limit(2_000, 1), limit(50_000, 60)],
    },
    max_priority: 'high',
    max_waiting: null,
    max_running: null,
    weight: 1,
    expires_at: null,
  });
});

test('each call counts against the limit of its route class, and reading the limits is a call', async () => {
  const key = await calls.newKey({ rateLimitSubmit: '4/h', rateLimitOther: '10/h' });
  for (let i = 0; i < 3; i++) await calls.submit('demo/text/echo', {}, keyHeader(key));
  await read(key);
  const { limits } = await read(key);
  expect(limits).toMatchObject({
    submit: [{ limit: 4, window_s: 3_600, remaining: 1 }],
    other: [{ limit: 10, window_s: 3_600, remaining: 8 }],
  });
  for (const { reset_s } of [...limits.submit, ...limits.other]) expect(reset_s).toBeGreaterThan(3_000);
  await calls.submit('demo/text/echo', {}, keyHeader(key));
  expect((await read(key)).limits).toMatchObject({ submit: [{ remaining: 0 }], other: [{ remaining: 7 }] });
});

test('a read without a valid key or beyond the limit is refused', async () => {
  const anonymous = await service.get('/v1/key');
  expect(anonymous.headers.get('www-authenticate')).toBe('Key');
  expect(await verdict(anonymous)).toEqual([401, 'missing_key']);
  expect(await verdict(get('ns_unknown'))).toEqual([401, 'invalid_key']);
  const key = await calls.newKey({ rateLimitOther: '1/h' });
  const response = await get(key);
  expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(await verdict(get(key))).toEqual([403, 'rate_limited']);
});

test('/v1/key accepts only GET and HEAD', async () => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await fetch(`${service.url}/v1/key`, { method, headers: keyHeader(service.key) });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
});

test('a key that may submit reads its webhook secret, always the same; other keys do not', async () => {
  const key = await calls.newKey({ name: 'signed' });
  const first = await read(key);
  expect(first.webhook_secret).toBe(await service.app.get(WebhookSecrets).secretOf(first.id));
  expect((await read(key)).webhook_secret).toBe(first.webhook_secret);
  expect(await read(await calls.newKey({ scopes: ['read', 'cancel'] }))).not.toHaveProperty('webhook_secret');
});

test('the key itself is not shown', async () => {
  const key = await calls.newKey();
  expect(await (await get(key)).text()).not.toContain(key.slice(3));
});
