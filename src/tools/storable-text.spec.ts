import fc from 'fast-check';
import { badEscapeAt, cleanText, isStorable, storable, storableJson } from './storable-text.js';

test('U+FFFD replaces the characters that PostgreSQL cannot store, and no others', () => {
  expect(storable('a\0b\ud800c\udc00')).toBe('a\ufffdb\ufffdc\ufffd');
  expect(storable('\ud83d\ude00 é')).toBe('\ud83d\ude00 é');
  expect(isStorable('a\0')).toBe(false);
  expect(isStorable('a\ud83d')).toBe(false);
  expect(isStorable('\ud83d\ude00')).toBe(true);
});

test('a cut within a surrogate pair leaves no half of the pair', () => {
  expect(cleanText('a\ud83d\ude00', 2)).toBe('a\ufffd…');
  expect(cleanText('a\ud83d\ude00', 3)).toBe('a\ud83d\ude00');
});

test.each([
  ['"a\\u0000b"', '"a\\ufffdb"'],
  ['{"\\u0000":[{"\\ud800":"\\udc00"}]}', '{"\\ufffd":[{"\\ufffd":"\\ufffd"}]}'],
  ['"\\ud83d\\ud83d\\ude00\\ude00"', '"\\ufffd\\ud83d\\ude00\\ufffd"'],
  ['"\\uD83D\\n\\uDE00"', '"\\ufffd\\n\\ufffd"'],
  ['"\\\\\\u0000"', '"\\\\\\ufffd"'],
  ['"\\ud83d\\\\ude00"', '"\\ufffd\\\\ude00"'],
  ['"\\ud83d"', '"\\ufffd"'],
])('in %s only the bad escapes change', (json, clean) => {
  expect(storableJson(json)).toBe(clean);
});

test.each([
  ' { "a" : 12345678901234567890, "a":1.0, "b":"\\u00e9\\n" } ',
  '"\\\\u0000"',
  '"\\\\\\\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\uD83D\\uDE00"',
  '"😀"',
  'null',
])('%s stays as it was written', (json) => {
  expect(storableJson(json)).toBe(json);
});

const json = fc.jsonValue({ stringUnit: 'binary', depthSize: 'small' }).map((value) => JSON.stringify(value));
/** Any escapes in any order, after any number of backslashes. */
const escapes = fc
  .array(fc.constantFrom('\\\\', '\\"', '\\u0000', '\\ud83d', '\\uDE00', '\\ufffd', 'u0000', 'x'))
  .map((parts) => `{"${parts.join('')}":"${parts.toReversed().join('')}"}`);

test('every JSON text becomes storable at the same length, and its storable parts do not change', () => {
  fc.assert(
    fc.property(fc.oneof(json, escapes), (text) => {
      const clean = storableJson(text);
      expect(clean).toHaveLength(text.length);
      expect(badEscapeAt(clean)).toBe(-1);
      expect(JSON.parse(clean)).toEqual(cleaned(JSON.parse(text)));
    }),
  );
});

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [storable(name), cleaned(below)]));
}
