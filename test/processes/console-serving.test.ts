import { gunzipSync } from 'node:zlib';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "media-src 'self' data: blob:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

test.each([
  ['/console', '/queue/console/'],
  ['/console/', '/queue/console/'],
  ['/console/requests', '/queue/console/'],
  ['/console/models/acme/image/upscale', '/queue/console/'],
])('%s is the page, whose addresses begin at /console/ below any prefix of a proxy', async (path, base) => {
  const response = await service.get(path);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(response.headers.get('content-security-policy')).toBe(policy);
  expect(response.headers.get('cache-control')).toBe('no-cache');
  const [, href] = /<base href="([^"]*)"/.exec(page)!;
  expect(new URL(href!, `https://example.org/queue${path}`).pathname).toBe(base);
  expect(page).not.toMatch(/(?:src|href)="\//);
});

test('what the page loads is kept for ever, packed for those who can unpack it', async () => {
  const page = await (await service.get('/console')).text();
  const script = /assets\/[\w-]+\.js/.exec(page)![0];
  const plain = await service.get(`/console/${script}`, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(plain.headers.get('content-encoding')).toBeNull();
  const packed = await service.get(`/console/${script}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('vary')).toContain('Accept-Encoding');
  // fetch may or may not have unpacked the body; the script is the same in both cases.
  const bytes = Buffer.from(await packed.arrayBuffer());
  const text = bytes[0] === 0x1f ? gunzipSync(bytes).toString() : bytes.toString();
  expect(text).toBe(await plain.text());
});

test.each(['/console/assets/none-1234.js', '/console/assets/..%2findex.html', '/console/assets/index.html'])(
  '%s is no file of the console',
  async (path) => {
    const response = await service.get(path);
    expect([response.status, await response.text()]).toEqual([404, 'The console has no such file.\n']);
  },
);

test('the root leads browsers to the console, and everybody else to the description', async () => {
  const to = async (accept: string) => {
    const { status, headers } = await service.get('/', { headers: { accept }, redirect: 'manual' });
    return [status, headers.get('location')];
  };
  expect(await to('text/html,application/xhtml+xml,*/*;q=0.8')).toEqual([302, 'console']);
  expect(await to('*/*')).toEqual([302, 'docs']);
  expect(await to('application/json')).toEqual([302, 'docs']);
});

describe('with CONSOLE=off', () => {
  let off: TestService;
  beforeAll(async () => {
    off = await startTestService({ config: { console: false } });
  });
  afterAll(() => off.stop());

  test.each(['/console', '/console/requests', '/console/assets/a-1.js'])('%s is not served', async (path) => {
    const response = await off.get(path);
    await response.text();
    expect(response.status).toBe(404);
  });

  test('the root leads everybody to the description', async () => {
    const root = await off.get('/', { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect(root.headers.get('location')).toBe('docs');
  });
});
