import { parseAuthorization } from './caller-resolver.js';

test.each(['Key abc', 'key abc', 'Bearer abc', 'BEARER   abc', '  Key abc  ', 'Token abc'])(
  '"%s" presents a key',
  (header) => expect(parseAuthorization(header)).toBe('abc'),
);

test('a key without a scheme is accepted if it is long enough', () => {
  expect(parseAuthorization('ns_0123456789abc')).toBe('ns_0123456789abc');
  expect(parseAuthorization('ns_0123456789ab')).toMatchObject({ kind: 'invalid' });
});

const malformed = ['', ' ', 'Key', 'Key ', 'Basic abc', 'Keyabc', 'Key a b', 'Key a\tb', 'Key ä'];

test.each([...malformed, `Key ${'x'.repeat(513)}`])(
  '"%s" is malformed, and the reason contains no part of the key',
  (header) => {
    const presented = parseAuthorization(header);
    expect(presented).toMatchObject({ kind: 'invalid' });
    expect(JSON.stringify(presented)).not.toMatch(/abc|a b|xxx|ä/);
  },
);
