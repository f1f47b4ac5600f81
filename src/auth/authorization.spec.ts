import { parseAuthorization } from './authorization.js';

test.each(['Key abc', 'key abc', 'Bearer abc', 'BEARER   abc', '  Key abc  '])(
  '"%s" presents a key',
  (header) => {
    expect(parseAuthorization(header)).toEqual({ kind: 'secret', secret: 'abc' });
  },
);

test.each([
  '',
  ' ',
  'Key',
  'Key ',
  'Basic abc',
  'Keyabc',
  'Key a b',
  'Key a\tb',
  'Key ä',
  `Key ${'x'.repeat(513)}`,
])('"%s" is malformed, and the reason repeats nothing of the key', (header) => {
  const presented = parseAuthorization(header);
  expect(presented.kind).toBe('malformed');
  expect(JSON.stringify(presented)).not.toMatch(/abc|a b|xxx|ä/);
});

test('no header presents nothing', () => {
  expect(parseAuthorization(undefined)).toEqual({ kind: 'nothing' });
});
