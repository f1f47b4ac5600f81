import { readdirSync, readlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Allowances } from '../../src/allowances/allowances.js';
import { Files } from '../../src/files/files.js';
import { startTestService, until, type TestService } from '../support/index.js';
import { FileCalls, fileId, sha256, someBytes } from '../support/file-calls.js';
import { verdict } from '../support/queue-calls.js';

let service: TestService;
let files: FileCalls;
let url: string;
const bytes = someBytes(100_000);
const etag = `"${sha256(bytes)}"`;

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  files = new FileCalls(service);
  url = await files.store(bytes);
});
afterAll(() => service.stop());

const get = (headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(url, { method, headers });

test('a file is sent whole, with its type, length and SHA-256, and in a sandbox', async () => {
  const answer = await get();
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '100000',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': 'inline; filename="cat.png"',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    etag,
  });
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*; sandbox$/);
  expect(answer.headers.get('x-request-id')).toBeTruthy();
});

test('a download is charged for what it has in memory: a chunk that is sent, and one that is read ahead', async () => {
  const large = await files.store(someBytes(500_000));
  const charged = jest.spyOn(service.app.get(Allowances), 'take');
  expect(await files.bytes(large)).toHaveLength(500_000);
  const ofDownload = charged.mock.calls.map(([, resource, amount]) => ({ resource, amount }));
  charged.mockRestore();
  expect(ofDownload).toEqual([{ resource: 'bytes', amount: expect.any(Number) }]);
  const lengths: number[] = [];
  for await (const chunk of await (await service.app.get(Files).named(large))!.read())
    lengths.push((chunk as Buffer).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(ofDownload[0]!.amount / 2);
});

test('a small download is charged for its length, and one below 16 KiB for nothing', async () => {
  const [small, smallest] = [await files.store(someBytes(20_000)), await files.store(someBytes(3_000))];
  const charged = jest.spyOn(service.app.get(Allowances), 'take');
  for (const url of [small, smallest]) await files.bytes(url);
  const ofDownloads = charged.mock.calls.map(([, resource, amount]) => [resource, amount]);
  charged.mockRestore();
  expect(ofDownloads).toEqual([['bytes', 20_000]]);
});

test('HEAD returns the same headers, without the bytes', async () => {
  const answer = await get({ range: 'bytes=0-9' }, 'HEAD');
  expect([answer.status, answer.headers.get('content-length'), answer.headers.get('etag')]).toEqual([
    200,
    '100000',
    etag,
  ]);
  expect(await answer.text()).toBe('');
});

test.each([
  ['the first', 'bytes=0-99', 0, 99],
  ['one', 'bytes=5-5', 5, 5],
  ['all from one on', 'bytes=99990-', 99_990, 99_999],
  ['the last', 'bytes=-10', 99_990, 99_999],
  ['more than there are', 'bytes=99990-999999', 99_990, 99_999],
  ['more of the last than there are', 'bytes=-999999', 0, 99_999],
])('a range is sent: %s', async (_, range, start, end) => {
  const answer = await get({ range });
  expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes ${start}-${end}/100000`]);
  expect(answer.headers.get('content-length')).toBe(String(end - start + 1));
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(start, end + 1))).toBe(true);
});

test.each(['bytes=100000-', 'bytes=100000-100001', 'bytes=-0'])(
  'the range %s is answered 416',
  async (range) => {
    const answer = await get({ range });
    expect(answer.headers.get('content-range')).toBe('bytes */100000');
    expect(await verdict(answer)).toEqual([416, 'range_not_satisfiable']);
  },
);

test.each(['bytes=0-1,5-6', 'lines=0-1', 'bytes=5-1', 'bytes=a-b', 'bytes=-'])(
  'the range %s is ignored, and the whole file is sent',
  async (range) => {
    const answer = await get({ range });
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 100_000]);
  },
);

test('a file that a client already has is answered 304, and If-Range sends a range only of the same file', async () => {
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await get({ 'if-none-match': known });
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, etag, '']);
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
  const range = 'bytes=0-9';
  expect((await get({ range, 'if-range': etag })).status).toBe(206);
  for (const other of ['"other"', `W/${etag}`, 'Sat, 29 Oct 1994 19:43:31 GMT'])
    expect((await get({ range, 'if-range': other })).status).toBe(200);
});

test('an If-Match of another file is answered 412', async () => {
  expect((await get({ 'if-match': etag })).status).toBe(200);
  expect(await verdict(get({ 'if-match': '"other"', range: 'bytes=0-9' }))).toEqual([
    412,
    'changed_meanwhile',
  ]);
});

test('an empty file has no range', async () => {
  const empty = await files.store('');
  const answer = await fetch(empty, { headers: { range: 'bytes=0-' } });
  expect(await verdict(answer)).toEqual([416, 'range_not_satisfiable']);
  expect((await fetch(empty)).headers.get('content-length')).toBe('0');
});

test('a file is served under one name only', async () => {
  const root = url.slice(0, url.lastIndexOf('/'));
  for (const name of ['dog.png', 'cat.PNG', 'cat.png%00', '..%2fcat.png', '%252e%252e'])
    expect(await verdict(fetch(`${root}/${name}`))).toEqual([404, 'unknown_file']);
  for (const path of [root, `${root}/`, `${url}/more`, `${service.url}/v1/files`])
    expect((await verdict(fetch(path)))[0]).toBe(404);
  expect((await fetch(`${service.url}/v1/files/not-an-id/cat.png`)).status).toBe(404);
  expect(await verdict(fetch(url, { method: 'PUT', body: 'x' }))).toEqual([405, 'method_not_allowed']);
});

describe('content that a browser could run is sent as a download', () => {
  test.each([
    ['image/svg+xml', 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['text/html', 'a.html', '<script>alert(1)</script>'],
    ['application/xhtml+xml', 'a.xhtml', '<html/>'],
    ['application/javascript', 'a.js', 'alert(1)'],
    ['application/pdf', 'a.pdf', '%PDF'],
    ['text/plain', 'a.png', 'x'],
    ['image/x-xml', 'a.xml', '<a/>'],
    ['IMAGE/SVG+XML; a=b', 'b.svg', '<svg/>'],
  ])('%s', async (type, name, body) => {
    const { headers } = await fetch(await files.store(body, type, name));
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain('sandbox');
  });

  test.each(['audio/mpeg', 'video/mp4', 'image/webp'])('%s is displayed inline', async (type) => {
    const { headers } = await fetch(await files.store('x', type, 'a'));
    expect(headers.get('content-disposition')).toMatch(/^inline/);
  });
});

describe('a name', () => {
  test.each([
    ['of a path', '../../etc/passwd', 'passwd'],
    ['of a path on Windows', 'C:\\temp\\a.png', 'a.png'],
    ['with lines', 'a\r\nSet-Cookie: a=b.png', 'aSet-Cookie: a=b.png'],
    ['with quotes', 'a"; filename="b.exe', 'a"; filename="b.exe'],
    ['with a percent sign', '%2e%2e%2fa?b#c.png', '%2e%2e%2fa?b#c.png'],
    ['in any script', 'кот 猫 🐈.png', 'кот 猫 🐈.png'],
    ['that turns the writing direction', 'a\u202egnp.exe', 'agnp.exe'],
    ['of dots', '..', 'file'],
    ['of nothing', '', 'file'],
    ['of a folder', 'a/b/', 'file'],
    ['of 300 characters', `${'x'.repeat(300)}.png`, `${'x'.repeat(196)}.png`],
  ])('%s stays within its URL and its field', async (_, given, kept) => {
    const stored = await files.store('x', 'application/octet-stream', given);
    expect(decodeURIComponent(new URL(stored).pathname.split('/').at(-1)!)).toBe(kept);
    const answer = await fetch(stored);
    expect([answer.status, await answer.text()]).toEqual([200, 'x']);
    const disposition = answer.headers.get('content-disposition')!;
    expect(disposition).toMatch(/^attachment; filename="[^"\\%]*"(; filename\*=UTF-8''[\w.~%!-]*)?$/);
    expect(answer.headers.has('set-cookie')).toBe(false);
    const extended = /filename\*=UTF-8''(.*)$/.exec(disposition)?.[1];
    if (extended !== undefined) expect(decodeURIComponent(extended)).toBe(kept);
  });
});

test('a download of a truncated stored file breaks off, and the next download is whole', async () => {
  const large = await files.store(someBytes(1_000_000));
  const folder = join(service.config.dataDir, 'files');
  const stored = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.includes(`${fileId(large)}-`),
  )!;
  truncateSync(join(folder, stored), 700_000);
  const answer = await fetch(large);
  expect(answer.headers.get('content-length')).toBe('1000000');
  await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
  expect((await files.bytes(url)).equals(bytes)).toBe(true);
  // A range beyond its end has no bytes either.
  const beyond = await fetch(large, { headers: { range: 'bytes=800000-' } }).then(
    (response) => response.arrayBuffer(),
    (error: unknown) => error,
  );
  expect(beyond).toBeInstanceOf(TypeError);
});

test('a client that disconnects leaves no open file', async () => {
  const large = await files.store(someBytes(8_000_000));
  const open = (): string[] =>
    readdirSync('/proc/self/fd')
      .map((descriptor) => targetOf(join('/proc/self/fd', descriptor)))
      .filter((target) => target.startsWith(service.config.dataDir));
  for (let i = 0; i < 20; i++) {
    const answer = await fetch(large);
    await until(() => open().length > 0, { message: 'the file is open' });
    await answer.body!.cancel();
  }
  expect((await files.bytes(large)).length).toBe(8_000_000);
  await until(() => open().length === 0, { message: 'no file is open', explain: open });
});

/** Returns the target of a descriptor; empty if the descriptor is closed by now. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
