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

/** A submission with the fields as they are, and `Connection: close`. */
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
  'Key',
  'Key ',
  'Key  ',
  'Key a',
  'Key \u00e9',
  'Key \x80\xff',
  'Key null',
  "Key ' OR 1=1 --",
  'Key $1',
  'Key *',
  `Key ${'k'.repeat(8_000)}`,
  'Key ns_',
  `Key ns_${'A'.repeat(43)}`,
  'Bearer',
  'Bearer null',
  'Bearer eyJhbGciOiJub25lIn0.e30.',
  'Bearer a b',
  'Basic',
  'Basic Og==',
  'Basic YTpi',
  'Digest username="a"',
  'Negotiate x',
  'Key,Bearer',
  'Key=x',
  '"Key" x',
  '__proto__ x',
  ',',
  '=',
  '{}',
];

test.each(credentials.map((text) => [text.slice(0, 40), text] as const))(
  'Authorization: %s is an invalid key, on every route',
  async (_name, text) => {
    const field = `Authorization: ${text}`;
    for (const answer of [await submit(['Host: a', length, field]), await status([field])]) {
      expectRefusal(answer, 401, 'invalid_key', text.trim());
      expect(answer.fields).toMatch(/^www-authenticate: Key\r?$/im);
    }
  },
);

test('an empty Authorization is no key, or an invalid one', async () => {
  expectRefusal(await submit(['Host: a', length, 'Authorization:']), 401, ['missing_key', 'invalid_key']);
});

test('two keys at once never open more than the first', async () => {
  const good = `Authorization: Key ${service.key}`;
  const bad = 'Authorization: Key ns_unknown';
  expectRefusal(await submit(['Host: a', length, bad, good]), 401, 'invalid_key');
  expectRefusal(
    await submit(['Host: a', length, `Authorization: Key ns_unknown, Key ${service.key}`]),
    401,
    'invalid_key',
  );
});

describe('fields that do not matter do no harm', () => {
  test.each(
    [
      'Accept: nothing/at-all',
      'Accept: */*;q=0',
      'Accept: \xff',
      'Accept-Encoding: gzip;q=nonsense, *',
      'Accept-Language: \u00e9',
      'Accept-Charset: none',
      'Content-Type: ;;;',
      'Content-Type: \xff',
      'Content-Type: application/json; charset=utf-7',
      `Content-Type: ${'a/'.repeat(2_000)}`,
      'Cookie: a=b; __proto__=c',
      `Cookie: ${'c=d; '.repeat(1_500)}`,
      'Range: bytes=0-0',
      'Range: bytes=-',
      'If-Modified-Since: nonsense',
      'If-Match: "x"',
      'Last-Event-ID: \xff',
      'Origin: null',
      'Origin: https://evil.example',
      'Referer: \x80',
      'User-Agent: ',
      'X-Forwarded-For: 127.0.0.1, \xff',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: javascript',
      'Forwarded: for="_x";host=evil.example',
      'X-Real-IP: 1',
      'X-Original-URL: /admin',
      'X-Rewrite-URL: /admin',
      'Via: 1.1 x',
      'Upgrade: websocket',
      'Upgrade: h2c',
      'HTTP2-Settings: AAA',
      'TE: trailers',
      'Max-Forwards: -1',
      'Pragma: x',
      'Cache-Control: max-age=-1',
      'traceparent: nonsense',
      '__proto__: x',
      'constructor: x',
      'X-Request-Id: ../../x',
      'X-Request-Id: ${jndi:ldap://127.0.0.1/a}',
      `X-Request-Id: ${'x'.repeat(5_000)}`,
      'X-Request-Id: <script>',
      'Expect: nothing',
      'Date: never',
      'From: \xff',
      'Sec-Fetch-Site: cross-site',
      'X: \t ',
    ].map((field) => [field.slice(0, 40), field] as const),
  )('%s', async (_name, field) => {
    const answer = await status([field]);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ request_id: id, status: 'COMPLETED' });
    expect(answer.body).not.toMatch(/evil|javascript/);
    expect(answer.fields).toMatch(/^x-request-id: [A-Za-z0-9._-]{1,128}\r?$/im);
    expect(answer.fields).not.toMatch(/evil|jndi|script>/);
  });
});

describe('a host', () => {
  test.each([
    'evil.example/path',
    'a b',
    'a@b',
    '<script>',
    '"',
    "a'b",
    '[::1',
    '\xff',
    'a:b',
    'a:1:2',
    '..',
    'h'.repeat(300),
  ])('%j never gets into our URLs unless it is one', async (host) => {
    const answer = await send(
      service,
      `GET ${calls.path(id)}/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    if (answer.status === 200) {
      const { response_url: url } = JSON.parse(answer.body) as { response_url: string };
      expect(url).toMatch(/^http:\/\/[A-Za-z0-9._-]+(:\d{1,5})?\/v1\/queue\/requests\//);
    } else expectRefusal(answer, 400, 'bad_request');
  });

  test.each([
    ['none', ['Connection: close']],
    ['two', ['Host: a', 'Host: b', 'Connection: close']],
  ])('%s is answered without failing', async (_name, fields) => {
    const answer = await send(
      service,
      `GET ${calls.path(id)}/status HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`,
    );
    expect([200, 400]).toContain(answer.status);
  });
});

describe('a framing', () => {
  const key = (): string => `Authorization: Key ${service.key}`;

  test.each<[string, string[]]>([
    ['lengths that differ', ['Content-Length: 7', 'Content-Length: 8']],
    ['a length and chunks', ['Content-Length: 7', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 7']],
    ['a negative length', ['Content-Length: -7']],
    ['a length with a sign', ['Content-Length: +7']],
    ['a length in hex', ['Content-Length: 0x7']],
    ['a length with a fraction', ['Content-Length: 7.0']],
    ['a length that is a list', ['Content-Length: 7, 7']],
    ['a length that is a word', ['Content-Length: seven']],
    ['a length beyond all numbers', [`Content-Length: ${'9'.repeat(40)}`]],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, identity']],
    ['a coding that nobody knows', ['Transfer-Encoding: nonsense']],
    ['chunks that are not last', ['Transfer-Encoding: chunked, gzip']],
    ['a space before the colon', ['Content-Length : 7']],
    ['a folded field', ['X: a\r\n b', 'Content-Length: 7']],
    ['a field without a name', [': x', 'Content-Length: 7']],
    ['a NUL in a field', ['X: a\0b', 'Content-Length: 7']],
    ['a bare carriage return', ['X: a\rb', 'Content-Length: 7']],
    ['a name with a control character', ['X\x01: b', 'Content-Length: 7']],
    ['a name that is not ASCII', ['\xe9: b', 'Content-Length: 7']],
  ])('with %s is refused', async (_name, fields) => {
    const answer = await submit(['Host: a', key(), ...fields]);
    expectRefusal(answer, 400, ['bad_request', 'invalid_json']);
  });

  test.each([
    'zz\r\n',
    '-1\r\n{}\r\n',
    '5\r\n{"a":1}\r\n0\r\n\r\n',
    `${'f'.repeat(20)}\r\n`,
    '7;x=\0\r\n{"a":1}\r\n0\r\n\r\n',
    '\r\n\r\n',
  ])('with the chunks %j is refused', async (chunks) => {
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
    const before = await calls.count('request_event');
    const inner = `${body}\r\nPUT ${calls.path(id)}/cancel HTTP/1.1\r\nHost: a\r\n\r\n`;
    expectRefusal(
      await send(service, head(service, [`Content-Length: ${inner.length}`]), inner),
      400,
      'invalid_json',
    );
    expect(await calls.count('request_event')).toBe(before);
  });

  test('with two requests at once is answered twice, in their order', async () => {
    const first = `GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`;
    const answer = await send(service, first + head(service, [length]), body);
    accepted++;
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/^[^]*HTTP\/1\.1 202 Accepted\r\n/);
  });

  test.each([
    '\0',
    'hello',
    'GET\r\n\r\n',
    'GET / HTTP/0.9\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x00\xa5\x01',
    'SSH-2.0-x\r\n',
    '*1\r\n$4\r\nPING\r\n',
    '\x00\x00\x00\x08\x04\xd2\x16\x2f',
  ])('that is not HTTP (%j) is refused or hung up on', async (bytes) => {
    const answer = await send(service, bytes, '\r\n\r\n');
    if (Number.isNaN(answer.status)) return;
    expectRefusal(answer, [400, 404, 405, 505], ['bad_request', 'not_found', 'method_not_allowed']);
  });
});

describe('an Idempotency-Key', () => {
  test.each(
    [
      '',
      '""',
      '"',
      'a b',
      'a,b',
      '"a',
      'a"',
      '"a"b"',
      '\\',
      '"\\"',
      '"\\n"',
      '\x80',
      '\xff',
      'k'.repeat(256),
      `"${'k'.repeat(256)}"`,
      '"\x7f"',
      'a\tb',
    ].map((key) => [key.slice(0, 20), key] as const),
  )('%j is malformed, or taken as it is, and makes no half request', async (_name, key) => {
    const answer = await submit([
      'Host: a',
      `Authorization: Key ${service.key}`,
      length,
      `Idempotency-Key: ${key}`,
    ]);
    if (answer.status === 202) accepted++;
    else expectRefusal(answer, 400, ['invalid_idempotency_key', 'bad_request']);
  });
});
