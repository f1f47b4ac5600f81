import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type ProbeApp, startProbeApp } from '../support/http-probe-app.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp({ maxBodyBytes: 1_000 })));
afterAll(() => probe.app.close());

const post = (body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${probe.url}/probe/body`, {
    method: 'POST',
    headers: { authorization: 'Key k', ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
  });

const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { code: unknown }).code;

test.each([
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain; charset=klingon',
  'nonsense',
])('the body arrives as it was sent when its type is %s', async (type) => {
  const response = await post('{"a":"ä"}', { 'content-type': type });
  expect(await response.json()).toEqual({ size: 10, text: '{"a":"ä"}' });
});

test('no body is an empty one', async () => {
  expect(await (await post(null)).json()).toEqual({ size: 0, text: '' });
});

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['GZIP', gzipSync],
])('a body encoded with %s is decoded', async (coding, encode) => {
  const response = await post(encode('{"a":1}'), { 'content-encoding': coding });
  expect(await response.json()).toEqual({ size: 7, text: '{"a":1}' });
});

test('a body of the largest size is taken, one byte more is not', async () => {
  expect((await post('x'.repeat(1_000))).status).toBe(200);
  const response = await post('x'.repeat(1_001));
  expect([response.status, await codeOf(response)]).toEqual([413, 'body_too_large']);
});

test('a body that grows too large while it is decoded is refused', async () => {
  const response = await post(gzipSync('x'.repeat(1_000_000)).subarray(), { 'content-encoding': 'gzip' });
  expect([response.status, await codeOf(response)]).toEqual([413, 'body_too_large']);
});

test('a body without a length is refused once it is too large, and the connection can go on', async () => {
  let left = 50;
  const stream = new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(100));
      else controller.close();
    },
  });
  const response = await post(stream);
  expect([response.status, await codeOf(response)]).toEqual([413, 'body_too_large']);
  expect((await post('{}')).status).toBe(200);
});

test('a body that is not what its encoding says is invalid_json', async () => {
  for (const coding of ['gzip', 'deflate', 'br']) {
    const response = await post('{"plain": true}', { 'content-encoding': coding });
    expect([response.status, await codeOf(response)]).toEqual([400, 'invalid_json']);
  }
  const cut = await post(gzipSync('{"a":1}').subarray(0, 15), { 'content-encoding': 'gzip' });
  expect(await codeOf(cut)).toBe('invalid_json');
});

test('an encoding that nobody knows is a 415 that says which are known', async () => {
  const response = await post('{}', { 'content-encoding': 'lzma, gzip' });
  expect(response.headers.get('accept-encoding')).toContain('gzip');
  expect([response.status, await codeOf(response)]).toEqual([415, 'unsupported_encoding']);
});

test.each([
  ['empty', ''],
  ['broken', '{"a":'],
  ['larger than any limit', 'x'.repeat(100_000)],
])('a route without a body ignores one that is %s', async (_name, body) => {
  const response = await fetch(`${probe.url}/probe/put/1/`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(await response.json()).toEqual({ status: 'ok' });
});
