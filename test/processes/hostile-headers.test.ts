import { expectRefusal, expectWholeRequests, head, type RawAnswer, send } from '../support/hostile-client.js';
import { QueueCalls } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
let id: string;
let accepted = 0;

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  calls = new QueueCalls(service);
  id = await calls.run('demo/text/echo');
  accepted++;
});

afterAll(() => service.stop());
afterEach(() => expectWholeRequests(calls, accepted));

const body = '{"a":1}';

/** Submits with exactly these fields and `Connection: close`. */
const submit = (fields: string[]): Promise<RawAnswer> =>
  send(
    service,
    `POST /v1/queue/demo/text/echo HTTP/1.1\r\n${[...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`,
    body,
  );

const length = `Content-Length: ${body.length}`;
const status = (fields: string[]): Promise<RawAnswer> =>
  send(
    service,
    `GET ${calls.path(id)}/status HTTP/1.1\r\n${['Host: a', 'Connection: close', ...fields].join('\r\n')}\r\n\r\n`,
  );

const credentials = [
  [
    '',
    'Key',
    'Key ',
    'Key  ',
    'Key a',
    'Key a b',
    'Key \u00e9',
    'Key \x80\xff',
    'Key null',
    'Key $1',
    'Key *',
  ],
  ["Key ' OR 1=1 --", `Key ${'x'.repeat(600)}`, `Key ${'k'.repeat(8_000)}`],
  [
    'Key ns_',
    `Key ns_${'A'.repeat(43)}`,
    'Bearer',
    'Bearer null',
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Bearer a b',
  ],
  ['Basic', 'Basic abc', 'Basic Og==', 'Basic YTpi', 'Digest username="a"', 'Negotiate x', 'abc'],
  ['Key,abc', 'Key,Bearer', 'Key=x', '"Key" x', '__proto__ x', ',', '=', '{}'],
].flat();

test.each(credentials.map((text) => [text.slice(0, 40), text] as const))(
  'Authorization: %s is an invalid key for a submission and for a status',
  async (_name, text) => {
    const field = `Authorization: ${text}`;
    for (const answer of [await submit(['Host: a', length, field]), await status([field])]) {
      expectRefusal(answer, 401, 'invalid_key', text.trim());
      expect(answer.fields).toMatch(/^www-authenticate: Key\r?$/im);
    }
  },
);

test('a valid key after an invalid one does not authenticate the call', async () => {
  const good = `Authorization: Key ${service.key}`;
  const bad = 'Authorization: Key ns_unknown';
  for (const fields of [[bad, good], [`${bad}, Key ${service.key}`]])
    expectRefusal(await submit(['Host: a', length, ...fields]), 401, 'invalid_key');
});

const harmless = [
  ['Accept: nothing/at-all', 'Accept: */*;q=0', 'Accept: \xff', 'Accept-Encoding: gzip;q=nonsense, *'],
  ['Accept-Language: \u00e9', 'Accept-Charset: none', 'Content-Type: ;;;', 'Content-Type: \xff'],
  ['Content-Type: application/json; charset=utf-7', `Content-Type: ${'a/'.repeat(2_000)}`],
  ['Cookie: a=b; __proto__=c', `Cookie: ${'c=d; '.repeat(1_500)}`, 'Range: bytes=0-0', 'Range: bytes=-'],
  ['If-Modified-Since: nonsense', 'If-Match: "x"', 'Last-Event-ID: \xff', 'Origin: null'],
  ['Origin: https://evil.example', 'Referer: \x80', 'User-Agent: ', 'X-Forwarded-For: 127.0.0.1, \xff'],
  [
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: javascript',
    'Sec-Fetch-Site: cross-site',
    'X-Real-IP: 1',
  ],
  ['Forwarded: for="_x";host=evil.example', 'X-Original-URL: /admin', 'X-Rewrite-URL: /admin', 'Via: 1.1 x'],
  ['Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: AAA', 'TE: trailers', 'Max-Forwards: -1'],
  ['Cache-Control: max-age=-1', 'traceparent: nonsense', '__proto__: x', 'constructor: x', 'Expect: nothing'],
  ['X-Request-Id: ../../x', 'X-Request-Id: ${jndi:ldap://127.0.0.1/a}', 'X-Request-Id: <script>'],
  [`X-Request-Id: ${'x'.repeat(5_000)}`, 'Date: never', 'From: \xff', 'Pragma: x', 'X: \t '],
].flat();

test.each(harmless.map((field) => [field.slice(0, 40), field] as const))(
  'a call with the field %s succeeds, and its answer is not affected',
  async (_name, field) => {
    const answer = await status([field]);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ request_id: id, status: 'COMPLETED' });
    expect(answer.body).not.toMatch(/evil|javascript/);
    expect(answer.fields).toMatch(/^x-request-id: [A-Za-z0-9._-]{1,128}\r?$/im);
    expect(answer.fields).not.toMatch(/evil|jndi|script>/);
  },
);

describe('a message', () => {
  const key = (): string => `Authorization: Key ${service.key}`;

  const framings = [
    ['Content-Length: 7\r\nContent-Length: 8', 'Content-Length: 7\r\nTransfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked\r\nContent-Length: 7', 'Transfer-Encoding: nonsense'],
    [
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked, identity',
      'Transfer-Encoding: chunked, gzip',
    ],
    ['-7', '+7', '0x7', '7.0', '7, 7', 'seven', '9'.repeat(40)].map((length) => `Content-Length: ${length}`),
    ['X: a\r\n b', 'nonsense', ': x', 'X: a\0b', 'X: a\rb', 'X: \x01', 'X\x01: b', '\xe9: b'].map(
      (field) => `${field}\r\nContent-Length: 7`,
    ),
    ['Content-Length : 7'],
  ].flat();

  test.each(framings)('with %j is refused', async (fields) => {
    const answer = await submit(['Host: a', key(), fields]);
    expectRefusal(answer, 400, ['bad_request', 'invalid_json']);
  });

  test.each(
    [
      ['zz\r\n', '-1\r\n{}\r\n', '5\r\n{"a":1}\r\n0\r\n\r\n', '5\r\nhello\r\nXYZ\r\n'],
      [`${'f'.repeat(20)}\r\n`, '7;x=\0\r\n{"a":1}\r\n0\r\n\r\n', '\r\n\r\n'],
    ].flat(),
  )('with the chunks %j is refused', async (chunks) => {
    const answer = await send(service, head(service, ['Transfer-Encoding: chunked']), chunks);
    expectRefusal(answer, [400, 413], ['bad_request', 'body_too_large']);
  });

  test.each<[string, string[]]>([
    ['5,000 fields', Array.from({ length: 5_000 }, (_, i) => `X${i}: y`)],
    ['a field of 20 KB', [`X: ${'y'.repeat(20_000)}`]],
    ['a name of 20 KB', [`${'X'.repeat(20_000)}: y`]],
  ])('with %s is refused', async (_name, fields) => {
    expectRefusal(await submit(['Host: a', key(), length, ...fields]), 431, 'bad_request');
  });

  test('with a request inside its body is one request', async () => {
    const before = await calls.count('request_timeline');
    const inner = `${body}\r\nPUT ${calls.path(id)}/cancel HTTP/1.1\r\nHost: a\r\n\r\n`;
    const answer = await send(service, head(service, [`Content-Length: ${inner.length}`]), inner);
    expectRefusal(answer, 400, 'invalid_json');
    expect(await calls.count('request_timeline')).toBe(before);
  });

  test('with two requests at once is answered twice, in their order', async () => {
    const first = `GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`;
    const answer = await send(service, first + head(service, [length]), body);
    accepted++;
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/^[^]*HTTP\/1\.1 202 Accepted\r\n/);
  });

  test('with a target of 20 KB is refused', async () => {
    const target = `/${'x'.repeat(20_000)}`;
    expectRefusal(await send(service, head(service, [length], target)), 431, 'bad_request');
  });

  test('for a tunnel is refused', async () => {
    const answer = await send(service, 'CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expectRefusal(answer, 405, 'method_not_allowed');
  });

  test.each(['', '/status'])('without a host is refused (%j)', async (path) => {
    const target = `${calls.path(id)}${path}`;
    const answer = await send(service, `GET ${target} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expectRefusal(answer, 400, 'bad_request');
    expect(answer.body).toContain('"Host\\" is missing');
  });

  test.each(['', '/status'])('with two hosts is refused (%j)', async (path) => {
    const hosts = 'Host: a\r\nHOST: a\r\n';
    const target = `${calls.path(id)}${path}`;
    const answer = await send(service, `GET ${target} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
    expectRefusal(answer, 400, 'bad_request');
    expect(answer.body).toContain('more than once');
  });

  const notHttp = [
    ['\0', 'hello', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\nHost: a', 'GET /a b HTTP/1.1', 'BREW / HTTP/1.1'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-x\r\n', '*1\r\n$4\r\nPING\r\n', '\x16\x03\x01\x00\xa5\x01'],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '\x00\x00\x00\x08\x04\xd2\x16\x2f'],
  ].flat();

  test.each(notHttp)('that is not HTTP (%j) is refused', async (bytes) =>
    expectRefusal(await send(service, bytes, '\r\n\r\n'), 400, 'bad_request'),
  );

  test('for an unknown path over HTTP/0.9 is answered 404', async () =>
    expectRefusal(await send(service, 'GET /nowhere HTTP/0.9\r\n\r\n'), 404, 'not_found'));
});

const idempotencyKeys = [
  ['', '""', '"', 'a b', 'a,b', '"a', 'a"', '"a"b"', '\\', '"\\"', '"\\n"', '\x80', '\xff', '"\x7f"', 'a\tb'],
  ['k'.repeat(256), `"${'k'.repeat(256)}"`],
].flat();

test.each(idempotencyKeys.map((key) => [key.slice(0, 20), key] as const))(
  'the Idempotency-Key %j is either refused or accepted, and leaves no partial request',
  async (_name, key) => {
    const authorization = `Authorization: Key ${service.key}`;
    const answer = await submit(['Host: a', authorization, length, `Idempotency-Key: ${key}`]);
    if (answer.status === 202) accepted++;
    else expectRefusal(answer, 400, ['invalid_idempotency_key', 'bad_request']);
  },
);
