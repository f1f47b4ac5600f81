import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  type Bytes,
  expectRefusal,
  expectWholeRequests,
  head,
  type RawAnswer,
  send,
  submitBody,
  words,
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

const repeat = (text: string, times: number): string => text.repeat(times);

async function expectAccepted(body: Bytes, fields: string[], output: string): Promise<void> {
  const answer = await submitBody(service, body, fields);
  expect(answer.status).toBe(202);
  accepted++;
  const response = await calls.response((JSON.parse(answer.body) as { request_id: string }).request_id);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(output);
}

const notJson = [
  ['', ' ', '\n', '\t\t', '\u00a0', '\ufeff', '{} {}', '{"a" 1}', '{"a":[1 2]}', '{"a":"\u2028'],
  ['\n', '\t', '\0', '\u001f'].map((character) => `{"a":"${character}"}`),
  ['{"a":1}\0', '\0{"a":1}', '{"a"\0:1}', '{"a":1}\x1a', '(dp0\n.', '\x80\x04}\x94.', '`{}`'],
  ['// comment\n{}', '{/* comment */}', '{"a":1} // comment', '#!json\n{}', ')]}\',\n{"a":1}'],
  ['<?php system("id"); ?>', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--'],
  words`
    { } {}{} {}, ,{} {,} {"a"} {"a":} {"a":,} {"a":1,} {"a":1,,"b":2} {"a"::1} {a:1} {'a':1} {"a":'b'} {"a":1;}
    {"a":1 {"a":"b {"a":"b} {"a":[} {"a":[1,]} {"a":{]} {"a":(1)} [{} {"a":tru} {"a":True} {"a":NULL}
    {"a":undefined} {"a":NaN} {"a":Infinity} {"a":-Infinity} {"a":01} {"a":-} {"a":+1} {"a":.5} {"a":1.}
    {"a":1e} {"a":1e+} {"a":0x10} {"a":1_000} {"a":1n} {"a":--1} {"a":1.2.3} {"a":"\x41"} {"a":"\u12"}
    {"a":"\u{41}"} {"a":"\"} {"a":"\q"} {"a":function(){}} a=1&b=2 prompt=hello <xml/> O:8:"stdClass":0:{}
    null true false 0 -1 1e5 "text" "" [] [1,2] [{"a":1}] "{\"a\":1}"`,
].flat();

test.each(notJson.map((body) => [JSON.stringify(body).slice(0, 60), body] as const))(
  '%s is invalid_json',
  async (_name, body) => expectRefusal(await submitBody(service, body), 400, 'invalid_json'),
);

const textOf = (...bytes: number[]): Buffer =>
  Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);

test.each<[string, Buffer]>([
  ['one byte that begins nothing', Buffer.of(0xff)],
  ['a lone continuation byte', textOf(0x80)],
  ['an overlong slash', textOf(0xc0, 0xaf)],
  ['an overlong NUL', textOf(0xc0, 0x80)],
  ['a surrogate in UTF-8', textOf(0xed, 0xa0, 0x80)],
  ['a character beyond Unicode', textOf(0xf5, 0x80, 0x80, 0x80)],
  ['a character cut short', Buffer.from('{"a":"é').subarray(0, 7)],
  ['Latin-1', Buffer.from('{"a":"é"}', 'latin1')],
  ['UTF-16, little end first', Buffer.from('\ufeff{"a":1}', 'utf16le')],
  ['UTF-16, big end first', Buffer.from('\ufeff{"a":1}', 'utf16le').swap16()],
  ['a list of lists without end', Buffer.from(repeat('[', 190_000))],
  ['CBOR', Buffer.of(0xa1, 0x61, 0x61, 0x01)],
  ['a PNG', Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ['random bytes', Buffer.from('9f3ab8c71e00ff42d5aa', 'hex')],
  ['gzip that does not say so', gzipSync('{"a":1}')],
])('%s is invalid_json', async (_name, body) =>
  expectRefusal(await submitBody(service, body), 400, 'invalid_json'),
);

const lists = (levels: number): string => `{"a":${repeat('[', levels)}${repeat(']', levels)}}`;
const objects = (levels: number): string => `${repeat('{"a":', levels)}1${repeat('}', levels)}`;

const neverStored = [
  words`
    {"a":"\u0000"} {"\u0000":1} {"a":[[[{"b":["x\u0000"]}]]]} {"a":"\u0000","a":1}
    {"a":"\ud800"} {"a":"\udfff"} {"a":"\ude00\ud83d"} {"a":"\ud83d\ud83d"} {"a":"\ud83d\\ude00"} {"\udc00":1}
    {"a":1e400} {"a":-1e400}`,
  [`{"a":${repeat('9', 400)}}`, objects(201), lists(201), objects(10_000), lists(90_000)],
  [lists(90_000).replace(/}$/, ',"a":1}'), repeat('{', 190_000)],
].flat();

test.each(neverStored.map((body) => [body.slice(0, 40), body.length, body] as const))(
  '%s (%i bytes) is invalid_input',
  async (_name, _length, body) => expectRefusal(await submitBody(service, body), 422, 'invalid_input'),
);

const odd = [
  words`{} {"":""} {"a":1,"a":2} {"a":123456789012345678901234567890} {"a":5e-324,"b":1e-400,"c":-0,"d":-0.0}`,
  words`{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1} {"a":"\\u0000"}`,
  words`{"a":"\ud83d\ude00"} {"a":"<script>alert(1)</script>"}`,
  ['{"a":"\u202e\u2066\ufeff\u0085\u2028"}', '{"a":"\uffff\ufdd0"}', '\ufeff{"a":1}'],
  [`{"a":"'; DROP TABLE request; --","b":"$1","c":"\\\\"}`, `{"a":0.${repeat('3', 5_000)}}`],
  ['{"a":"${jndi:ldap://127.0.0.1:9/a}","b":"{{7*7}}","c":"%s%n"}', `{"a":"${repeat('[{', 5_000)}"}`],
  [`${repeat('{"a":', 199)}{}${repeat('}', 199)}`, `{"a":[${repeat('0,', 90_000)}0]}`],
  [`{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`],
  [`{"${repeat('n', 150_000)}":1}`, `{"a":"${repeat('\\n', 90_000)}"}`],
  [`${repeat(' ', 50_000)}{}${repeat('\n', 50_000)}`],
].flat();

test.each(odd.map((body) => [JSON.stringify(body).slice(0, 60), body] as const))(
  '%s is accepted, and comes back as it was sent',
  async (_name, body) => {
    await expectAccepted(body, [], body.replace(/^\ufeff/, ''));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  },
);

test.each(['application/x-www-form-urlencoded', 'text/plain; charset=klingon', 'nonsense'])(
  'a body of the type %s is read as JSON',
  (type) => expectAccepted('{"a":"ä"}', [`Content-Type: ${type}`], '{"a":"ä"}'),
);

describe('an encoded body', () => {
  const json = '{"a":1}';
  const bomb = Buffer.alloc(20_000_000, 0x20);

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['GZIP', gzipSync],
  ])('with the coding %s is decoded', (coding, encode) =>
    expectAccepted(encode(json), [`Content-Encoding: ${coding}`], json),
  );

  test('that is within the limit once decoded is accepted', async () => {
    const text = `{"a":"${repeat('x', 100_000)}"}`;
    await expectAccepted(gzipSync(text), ['Content-Encoding: gzip'], text);
  });

  const codes = { 400: 'invalid_json', 413: 'body_too_large', 415: 'unsupported_encoding' };

  test.each<[string, string, Bytes, keyof typeof codes]>([
    ['a gzip bomb', 'gzip', gzipSync(bomb), 413],
    ['a deflate bomb', 'deflate', deflateSync(bomb), 413],
    ['a Brotli bomb', 'br', brotliCompressSync(bomb), 413],
    ['a bomb of gzip members', 'gzip', Buffer.concat(Array(300).fill(gzipSync(repeat(' ', 10_000)))), 413],
    ['gzip that is none', 'gzip', json, 400],
    ['gzip cut short', 'gzip', gzipSync(json).subarray(0, -9), 400],
    ['a wrong checksum', 'gzip', Buffer.concat([gzipSync(json).subarray(0, -8), Buffer.alloc(8)]), 400],
    ['gzip of nothing', 'gzip', gzipSync(''), 400],
    ['nothing as gzip', 'gzip', '', 400],
    ['gzip twice', 'gzip', gzipSync(gzipSync(json)), 400],
    ['raw deflate', 'deflate', deflateRawSync(json), 400],
    ['deflate that is none', 'deflate', json, 400],
    ['Brotli that is none', 'br', json, 400],
    ['what objects inherit', '__proto__', json, 415],
    ['a constructor', 'constructor', json, 415],
    ['zstd', 'zstd', json, 415],
    ['a list of encodings', 'gzip, gzip', gzipSync(gzipSync(json)), 415],
    ['compress', 'compress', json, 415],
    ['nonsense', '"gzip"', json, 415],
  ])('%s is refused', async (_name, encoding, body, status) => {
    const answer = await submitBody(service, body, [`Content-Encoding: ${encoding}`]);
    expectRefusal(answer, status, codes[status]);
    if (status === 415) expect(answer.fields).toMatch(/^accept-encoding: .*\bgzip\b/im);
  });

  test.each<[string, string, Buffer, Buffer]>([
    ['a gzip comment', 'gzip', Buffer.of(31, 139, 8, 16, 0, 0, 0, 0, 0, 3), Buffer.from('a')],
    ['empty blocks', 'deflate', Buffer.of(0x78, 1), Buffer.of(0, 0, 0, 255, 255)],
  ])('that yields nothing is refused beyond the limit of bytes: %s', async (_name, encoding, start, part) => {
    const sent = Buffer.concat([start, Buffer.alloc(2 * maxBodyBytes, part)]);
    const fields = ['Transfer-Encoding: chunked', `Content-Encoding: ${encoding}`];
    const size = `${sent.length.toString(16)}\r\n`;
    const answer = await send(service, head(service, fields), size, sent, '\r\n0\r\n\r\n');
    expectRefusal(answer, 413, 'body_too_large');
  });
});

describe('a body', () => {
  test('as large as allowed is accepted, one byte more is refused', async () => {
    const body = `{"a":"${repeat('x', maxBodyBytes - 8)}"}`;
    expect(body).toHaveLength(maxBodyBytes);
    await expectAccepted(body, [], body);
    expectRefusal(await submitBody(service, `${body} `), 413, 'body_too_large');
  });

  test('far too large is refused while it is being sent', async () => {
    expectRefusal(await submitBody(service, Buffer.alloc(5_000_000, 0x61)), 413, 'body_too_large');
  });

  test.each(['99999999999', '9007199254740993'])('announced as %s is refused at once', async (length) => {
    const answer = await send(service, head(service, [`Content-Length: ${length}`]), '{"a":1}');
    expectRefusal(answer, 413, 'body_too_large');
  });

  const inChunks = (...chunks: string[]): Promise<RawAnswer> =>
    send(service, head(service, ['Transfer-Encoding: chunked']), ...chunks, '0\r\n\r\n');

  test('in chunks of one byte is accepted', async () => {
    expect((await inChunks(...Array.from('{"a":1}', (byte) => `1\r\n${byte}\r\n`))).status).toBe(202);
    accepted++;
  });

  test('in chunks that add up to too much is refused', async () => {
    const chunk = `4000\r\n${repeat('x', 0x4000)}\r\n`;
    expectRefusal(await inChunks(repeat(chunk, 20)), 413, 'body_too_large');
  });
});

test('a connection serves the next call after a body that was too large', async () => {
  const lengthOf = (length: number): string => `Content-Length: ${length}`;
  const whole = head(service, [lengthOf(maxBodyBytes + 1)]).replace('Connection: close\r\n', '');
  const answer = await send(
    service,
    whole,
    repeat('x', maxBodyBytes + 1),
    head(service, [lengthOf(2)]),
    '{}',
  );
  expect(answer.status).toBe(413);
  expect(answer.body).toMatch(/HTTP\/1\.1 202 Accepted\r\n/);
  accepted++;
});
