import { DomainError } from '../../errors/domain-error.js';
import { parseInputBody } from './json-body.js';

function refusal(body: string | Buffer): DomainError {
  try {
    parseInputBody(Buffer.from(body as string));
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;

it('returns the text exactly as the caller wrote it', () => {
  const text = ' { "n": 123456789012345678901234567890, "e": 1.0e2, "b": 1, "a": "\\u00e9" }\n';
  expect(parseInputBody(Buffer.from(text)).text).toBe(text);
});

it('drops a byte order mark', () => {
  expect(parseInputBody(Buffer.from('\uFEFF{"a":1}'))).toEqual({
    text: '{"a":1}',
    bytes: Buffer.from('{"a":1}'),
    value: { a: 1 },
  });
});

it('treats inherited names, for example __proto__, as ordinary names', () => {
  const { value } = parseInputBody(Buffer.from('{"__proto__":{"admin":true},"constructor":1}'));
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
  expect((value as { admin?: unknown }).admin).toBeUndefined();
});

it.each(['', ' ', '\n\t\r ', '\uFEFF'])('an empty body (%j) is invalid_json', (body) => {
  expect(refusal(body)).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('empty') });
});

it.each(['[]', '[{}]', ' [', '['.repeat(300), 'null', 'true', '1', '"text"', '-0'])(
  '%s is not an object',
  (body) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('object') });
  },
);

it.each([
  ['{"a":}', 'unexpected'],
  ['{"a":1,}', 'unexpected'],
  ['{"a":1', 'ends too early'],
  ['{"a":"open', 'ends too early'],
  ['{', 'ends too early'],
  ['{"a":1}}', 'unexpected'],
  ["{'a':1}", 'unexpected'],
  ['{"a":tru}', 'unexpected'],
  ['{"a":"\n"}', 'unexpected'],
  [`{"a":"${'x'.repeat(500)}",,}`, 'unexpected'],
])('%s is not JSON, and a short message states the error', (body, word) => {
  const error = refusal(body);
  expect(error).toMatchObject({ code: 'invalid_json', message: expect.stringContaining(word) });
  expect(error.message.length).toBeLessThan(120);
});

it.each([
  ['a lone byte', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a character cut short', Buffer.from('{"a":"é').subarray(0, -1)],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le').subarray(0, 13)],
])('%s is not JSON in UTF-8', (_name, body) => expect(refusal(body).code).toBe('invalid_json'));

it.each([
  ['{"prompt":"a\\u0000b"}', '/prompt', 'NUL'],
  ['{"a/b~c":["x",{"y":"\\u0000"}]}', '/a~1b~0c/1/y', 'NUL'],
  ['{"a\\u0000":1}', '/a\uFFFD', 'NUL'],
  ['{"a":"\\ud800"}', '/a', 'surrogate'],
  ['{"a":"\\udc00\\ud800"}', '/a', 'surrogate'],
  ['{"\\ud800":1}', '/\uFFFD', 'surrogate'],
  ['{"a":1e999}', '/a', 'too large'],
  ['{"a":[0,-1e999]}', '/a/1', 'too large'],
])('%s cannot be stored or returned', (body, path, word) => {
  const error = refusal(body);
  expect(error.code).toBe('invalid_input');
  expect(error.options.errors).toEqual([{ path, message: expect.stringContaining(word) }]);
});

it.each([
  ['a NUL', '{"a":"\\u0000","a":"fine"}'],
  ['a NUL in a name', '{"a":{"\\u0000":1},"a":2}'],
  ['half a surrogate pair', '{"a":"\\ud800","a":"fine"}'],
])('%s is refused even if a later member of the same name hides it', (_name, body) => {
  expect(refusal(body).code).toBe('invalid_input');
});

it.each(['{"a":"\\\\u0000"}', '{"a":"\\\\\\\\ud800"}', '{"a":"\\ud83d\\ude00"}', '{"a":"😀"}'])(
  '%s only resembles an invalid escape, and is accepted',
  (body) => {
    expect(parseInputBody(Buffer.from(body)).text).toBe(body);
  },
);

it('accepts 200 levels and refuses 201', () => {
  expect(parseInputBody(Buffer.from(nested(200))).text).toBe(nested(200));
  expect(refusal(nested(201))).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('200 levels'),
  });
  expect(refusal(nested(500_000)).code).toBe('invalid_input');
});

it.each([
  ['that is never closed', `{"a":${'['.repeat(5_000_000)}`],
  ['that a later member of the same name hides', `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)},"a":1}`],
])('refuses deep nesting %s', (_name, body) => expect(refusal(body).code).toBe('invalid_input'));

it('does not count brackets in strings as levels', () => {
  const body = JSON.stringify({ a: `"\\"${'['.repeat(1_000)}\\`, b: '{'.repeat(1_000) });
  expect(parseInputBody(Buffer.from(body)).text).toBe(body);
});

it('shortens names in the pointer to an error', () => {
  const name = 'n'.repeat(10_000);
  expect(refusal(`{"${name}":"\\u0000"}`).options.errors?.[0]?.path.length).toBeLessThan(600);
});
