import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  type Bytes,
  expectNoInternals,
  expectRefusal,
  expectWholeRequests,
  head,
  send,
  submitBody,
} from '../support/hostile-client.js';
import { QueueCalls } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

const maxBodyBytes = 200_000;

let service: TestService;
let calls: QueueCalls;
let accepted = 0;

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s', config: { maxBodyBytes } });
  calls = new QueueCalls(service);
});

afterAll(() => service.stop());
afterEach(() => expectWholeRequests(calls, accepted));

const hex = (...bytes: number[]): Buffer => Buffer.from(bytes);
const repeat = (text: string, times: number): string => text.repeat(times);

const notJson: Bytes[] = [
  '',
  ' ',
  '\n',
  '\t\t',
  '\u00a0',
  '\ufeff',
  '{',
  '}',
  '{}{}',
  '{} {}',
  '{},',
  ',{}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{"a":,}',
  '{"a":1,}',
  '{"a":1,,"b":2}',
  '{"a" 1}',
  '{"a"::1}',
  '{a:1}',
  "{'a':1}",
  '{"a":\'b\'}',
  '{"a":1;}',
  '{"a":1',
  '{"a":"b',
  '{"a":"b}',
  '{"a":[}',
  '{"a":[1,]}',
  '{"a":[1 2]}',
  '{"a":{]}',
  '{"a":(1)}',
  '[{}',
  '{"a":tru}',
  '{"a":True}',
  '{"a":NULL}',
  '{"a":undefined}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":-Infinity}',
  '{"a":01}',
  '{"a":-}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":0x10}',
  '{"a":1_000}',
  '{"a":1n}',
  '{"a":--1}',
  '{"a":1.2.3}',
  '{"a":"\n"}',
  '{"a":"\t"}',
  '{"a":"\u0000"}',
  '{"a":"\u001f"}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '{"a":"\\u{41}"}',
  '{"a":"\\"}',
  '{"a":"\\q"}',
  '{"a":1}\u0000',
  '\u0000{"a":1}',
  '{"a"\u0000:1}',
  '// comment\n{}',
  '{/* comment */}',
  '{"a":1} // comment',
  '#!json\n{}',
  'a=1&b=2',
  'prompt=hello',
  '<xml/>',
  '<?php system("id"); ?>',
  'null',
  'true',
  'false',
  '0',
  '-1',
  '1e5',
  '"text"',
  '""',
  '[]',
  '[1,2]',
  '[{"a":1}]',
  '"{\\"a\\":1}"',
  '{"a":function(){}}',
  '`{}`',
  '{"a":"\u2028',
  ')]}\',\n{"a":1}',
  '{"a":1}\x1a',
  '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
  'O:8:"stdClass":0:{}',
  '(dp0\n.',
  '\x80\x04}\x94.',
];

test.each(notJson.map((body) => [JSON.stringify(body).slice(0, 60), body] as const))(
  '%s is invalid_json',
  async (_name, body) => expectRefusal(await submitBody(service, body), 400, 'invalid_json'),
);

test.each<[string, Bytes]>([
  ['one byte that begins nothing', hex(0xff)],
  ['a lone continuation byte', Buffer.concat([Buffer.from('{"a":"'), hex(0x80), Buffer.from('"}')])],
  ['an overlong slash', Buffer.concat([Buffer.from('{"a":"'), hex(0xc0, 0xaf), Buffer.from('"}')])],
  ['an overlong NUL', Buffer.concat([Buffer.from('{"a":"'), hex(0xc0, 0x80), Buffer.from('"}')])],
  ['a surrogate in UTF-8', Buffer.concat([Buffer.from('{"a":"'), hex(0xed, 0xa0, 0x80), Buffer.from('"}')])],
  [
    'a character beyond Unicode',
    Buffer.concat([Buffer.from('{"a":"'), hex(0xf5, 0x80, 0x80, 0x80), Buffer.from('"}')]),
  ],
  ['a character cut short', Buffer.from('{"a":"é').subarray(0, 7)],
  ['Latin-1', Buffer.from('{"a":"é"}', 'latin1')],
  ['UTF-16, little end first', Buffer.from('\ufeff{"a":1}', 'utf16le')],
  ['UTF-16, big end first', Buffer.from('\ufeff{"a":1}', 'utf16le').swap16()],
  ['CBOR', hex(0xa1, 0x61, 0x61, 0x01)],
  ['a PNG', hex(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ['random bytes', Buffer.from('9f3ab8c71e00ff42d5aa', 'hex')],
  ['gzip that does not say so', gzipSync('{"a":1}')],
])('%s is invalid_json', async (_name, body) =>
  expectRefusal(await submitBody(service, body), 400, 'invalid_json'),
);

test.each<[string, string]>([
  ['a NUL', '{"a":"\\u0000"}'],
  ['a NUL in a name', '{"\\u0000":1}'],
  ['a NUL deep inside', '{"a":[[[{"b":["x\\u0000"]}]]]}'],
  ['a NUL that a later member hides', '{"a":"\\u0000","a":1}'],
  ['a lone high surrogate', '{"a":"\\ud800"}'],
  ['a lone low surrogate', '{"a":"\\udfff"}'],
  ['surrogates the wrong way round', '{"a":"\\ude00\\ud83d"}'],
  ['two high surrogates', '{"a":"\\ud83d\\ud83d"}'],
  ['a surrogate before a backslash', '{"a":"\\ud83d\\\\ude00"}'],
  ['a surrogate in a name', '{"\\udc00":1}'],
  ['a number too large', '{"a":1e400}'],
  ['a number too small', '{"a":-1e400}'],
  ['a number of many digits', `{"a":${repeat('9', 400)}}`],
  ['201 levels', `${repeat('{"a":', 201)}1${repeat('}', 201)}`],
  ['201 levels of lists', `{"a":${repeat('[', 201)}${repeat(']', 201)}}`],
  ['10,000 levels', `${repeat('{"a":', 10_000)}1${repeat('}', 10_000)}`],
  ['90,000 levels of lists', `{"a":${repeat('[', 90_000)}${repeat(']', 90_000)}}`],
  ['90,000 levels that a later member hides', `{"a":${repeat('[', 90_000)}${repeat(']', 90_000)},"a":1}`],
  ['190,000 open brackets', repeat('[', 190_000)],
  ['190,000 open braces', repeat('{', 190_000)],
])('%s is invalid_input', async (_name, body) =>
  expectRefusal(await submitBody(service, body), 422, 'invalid_input'),
);

describe('what is odd but JSON', () => {
  test.each<[string, string]>([
    ['nothing', '{}'],
    ['an empty name', '{"":""}'],
    ['a name twice', '{"a":1,"a":2}'],
    [
      'names that every object inherits',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}',
    ],
    ['a number beyond 2^53', '{"a":123456789012345678901234567890}'],
    ['the smallest number', '{"a":5e-324,"b":1e-400,"c":-0,"d":-0.0}'],
    ['a long number', `{"a":0.${repeat('3', 5_000)}}`],
    ['200 levels', `${repeat('{"a":', 199)}{}${repeat('}', 199)}`],
    ['brackets in a text', `{"a":"${repeat('[{', 5_000)}"}`],
    ['what looks like a NUL', '{"a":"\\\\u0000"}'],
    ['a pair of surrogates', '{"a":"\\ud83d\\ude00"}'],
    ['characters that turn text round', '{"a":"\u202e\u2066\ufeff\u0085\u2028"}'],
    ['noncharacters', '{"a":"\uffff\ufdd0"}'],
    ['SQL', `{"a":"'; DROP TABLE request; --","b":"$1","c":"\\\\"}`],
    ['a template', '{"a":"${jndi:ldap://127.0.0.1:9/a}","b":"{{7*7}}","c":"%s%n"}'],
    ['HTML', '{"a":"<script>alert(1)</script>"}'],
    ['much space', `${repeat(' ', 50_000)}{}${repeat('\n', 50_000)}`],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['5,000 names', `{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`],
    ['90,000 zeros', `{"a":[${repeat('0,', 90_000)}0]}`],
    ['a long name', `{"${repeat('n', 150_000)}":1}`],
    ['a long text', `{"a":"${repeat('\\n', 90_000)}"}`],
  ])('%s is accepted, and comes back as it was sent', async (_name, body) => {
    const answer = await submitBody(service, body);
    expect(answer.status).toBe(202);
    accepted++;
    const { request_id: id } = JSON.parse(answer.body) as { request_id: string };
    const response = await calls.response(id);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(body.replace(/^\ufeff/, ''));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('an encoded body', () => {
  const json = '{"a":1}';
  const bomb = Buffer.alloc(20_000_000, 0x20);

  test.each<[string, string, () => Buffer, number, string]>([
    ['a gzip bomb', 'gzip', () => gzipSync(bomb), 413, 'body_too_large'],
    ['a deflate bomb', 'deflate', () => deflateSync(bomb), 413, 'body_too_large'],
    ['a Brotli bomb', 'br', () => brotliCompressSync(bomb), 413, 'body_too_large'],
    [
      'a bomb of gzip members',
      'gzip',
      () => Buffer.concat(Array<Buffer>(300).fill(gzipSync(Buffer.alloc(10_000, 0x20)))),
      413,
      'body_too_large',
    ],
    ['what objects inherit', '__proto__', () => Buffer.from(json), 415, 'unsupported_encoding'],
    ['a constructor', 'constructor', () => Buffer.from(json), 415, 'unsupported_encoding'],
    ['gzip that is none', 'gzip', () => Buffer.from(json), 400, 'invalid_json'],
    ['gzip cut short', 'gzip', () => gzipSync(json).subarray(0, -9), 400, 'invalid_json'],
    [
      'gzip with a wrong checksum',
      'gzip',
      () => Buffer.concat([gzipSync(json).subarray(0, -8), Buffer.alloc(8)]),
      400,
      'invalid_json',
    ],
    ['gzip of nothing', 'gzip', () => gzipSync(''), 400, 'invalid_json'],
    ['nothing as gzip', 'gzip', () => Buffer.alloc(0), 400, 'invalid_json'],
    ['gzip twice', 'gzip', () => gzipSync(gzipSync(json)), 400, 'invalid_json'],
    ['raw deflate', 'deflate', () => deflateRawSync(json), 400, 'invalid_json'],
    ['Brotli that is none', 'br', () => Buffer.from(json), 400, 'invalid_json'],
    ['zstd', 'zstd', () => Buffer.from(json), 415, 'unsupported_encoding'],
    ['a list of encodings', 'gzip, gzip', () => gzipSync(gzipSync(json)), 415, 'unsupported_encoding'],
    ['compress', 'compress', () => Buffer.from(json), 415, 'unsupported_encoding'],
    ['nonsense', '"gzip"', () => Buffer.from(json), 415, 'unsupported_encoding'],
  ])('%s is refused', async (_name, encoding, body, status, code) => {
    expectRefusal(await submitBody(service, body(), [`Content-Encoding: ${encoding}`]), status, code);
  });

  test('that is no larger decoded than allowed is read', async () => {
    const body = gzipSync(`{"a":"${repeat('x', 100_000)}"}`);
    expect((await submitBody(service, body, ['Content-Encoding: gzip'])).status).toBe(202);
    accepted++;
  });
});

describe('a size', () => {
  test('one byte too large is refused', async () => {
    const body = `{"a":"${repeat('x', maxBodyBytes - 7)}"}`;
    expect(body).toHaveLength(maxBodyBytes + 1);
    expectRefusal(await submitBody(service, body), 413, 'body_too_large');
  });

  test('far too large is refused while it is being sent', async () => {
    expectRefusal(await submitBody(service, Buffer.alloc(5_000_000, 0x61)), 413, 'body_too_large');
  });

  test.each(['99999999999', '9007199254740993'])('announced as %s is refused at once', async (length) => {
    const answer = await send(service, head(service, [`Content-Length: ${length}`]), '{"a":1}');
    expectRefusal(answer, 413, 'body_too_large');
  });

  test('in chunks of one byte is read all the same', async () => {
    const chunks = Array.from('{"a":1}', (byte) => `1\r\n${byte}\r\n`).join('');
    const answer = await send(service, head(service, ['Transfer-Encoding: chunked']), `${chunks}0\r\n\r\n`);
    expect(answer.status).toBe(202);
    accepted++;
  });

  test('in chunks that add up to too much is refused', async () => {
    const chunk = `4000\r\n${repeat('x', 0x4000)}\r\n`;
    const answer = await send(
      service,
      head(service, ['Transfer-Encoding: chunked']),
      repeat(chunk, 20),
      '0\r\n\r\n',
    );
    expectRefusal(answer, 413, 'body_too_large');
  });
});

test('after all that the service is well', async () => {
  const answer = await submitBody(service, '{"still":"here"}');
  expect(answer.status).toBe(202);
  accepted++;
  expectNoInternals(answer);
});
