import fc from 'fast-check';
import { compilePattern } from './patterns.js';

/** Patterns as people write them into schemas. */
const patterns = [
  '^[a-z0-9-]+$',
  '^https?://',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^(png|jpe?g|webp|gif|bmp|tiff|avif|heic)$',
  '^#(?:[0-9a-fA-F]{3}){1,2}$',
  '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$',
  '\\S',
  '^\\s*$',
  '^\\s*\\S[^]*$',
  '^.{1,500}$',
  '^[^\\n]*$',
  '^(\\w+\\s?)*$',
  '^(a+)+$',
  '(?<year>\\d+)-(?<month>\\d+)',
  '^data:image\\/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$',
  '^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$',
  '^\\p{L}[\\p{L}\\p{Nd}\\u0020_-]*$',
  '^\\P{Lu}+$',
  '^\\p{Script=Greek}+$',
  '^[\\u{1F600}-\\u{1F64F}]$',
  '^\\uD83D\\uDE00$',
  '^😀+$',
  '\\bcat\\b',
  '\\Bat',
  '^[^\\s/\\\\:*?"<>|]+$',
  '^a|b+$',
  '^$',
  '',
  '^\\cJ\\x41\\0?[\\b]?',
  '^[[:alpha:\\]]+$',
  '^[\\D\\s]+$',
  '^[^\\W_]+$',
  '^.*?x.*?$',
  '^a{2}b{2,}c{0,3}?$',
  '^\\$\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\/\\-?$'.replace('\\-', '-'),
];

const texts = [
  '',
  ' ',
  'a',
  'b',
  'ab',
  'abc',
  'AB',
  'cat',
  'a cat.',
  'bat',
  'x',
  '0',
  '7',
  '_',
  '-',
  '2024-01-31',
  'png',
  'jpg',
  'jpeg',
  'heic',
  '#fff',
  '#ffffff',
  '#ffff',
  'http://a',
  'https://',
  'a@b.c',
  'data:image/png;base64,AA==',
  '0b1e6f9a-1c2d-4e3f-8a9b-0c1d2e3f4a5b',
  'a b c',
  'a  b',
  'aaaa',
  'aab',
  'aabb',
  'aabbccc',
  'aabbcccc',
  '\n',
  'a\n',
  '\na',
  '\r',
  '\u2028',
  '\u00a0',
  '\ufeff',
  '\u180e',
  '\v',
  '\u0085',
  '\u200b',
  '\u3000',
  'é',
  'É',
  'Ж',
  'ελ',
  '٣',
  'ß',
  '😀',
  '😀😀',
  '🙏',
  '日本',
  'ſ',
  'K',
  'a\u0301',
  'A\n',
  '[:alpha:]',
  ':lp',
  ']',
  '\nA\0\b',
  '$.*+?()[]{}|^/',
];

it.each(patterns)('%s matches the same texts as a regular expression with the flag u', (source) => {
  const pattern = compilePattern(source);
  expect(pattern.unbounded).toBeUndefined();
  const native = new RegExp(source, 'u');
  const matched = (test: (text: string) => boolean) => texts.filter(test);
  expect(matched((text) => pattern.test(text))).toEqual(matched((text) => native.test(text)));
});

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\d',
  '\\w',
  '\\s',
  '\\S',
  '\\W',
  '[ab]',
  '[^a]',
  '[\\d\\s-]',
  '[^]',
  '[]',
  'é',
  '😀',
  '\\n',
  '\\b',
  '^',
  '$',
  '\\u{61}',
  '\\/',
);
const quantified = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '*?', '{2}', '{0,2}', '{1,}'));
const sequence = fc
  .array(quantified, { maxLength: 4 })
  .map((parts) => parts.map(([one, many]) => (/^(?:\\b|\^|\$)$/.test(one) ? one : one + many)).join(''));
const group = fc
  .tuple(sequence, sequence, fc.constantFrom('', '*', '+', '?', '{2}', '{1,3}'))
  .map(([one, other, many]) => `(?:${one}|${other})${many}`);
const written = fc.array(fc.oneof(sequence, group), { maxLength: 3 }).map((parts) => parts.join(''));
const character = fc.constantFrom('a', 'b', '1', '_', ' ', '\n', '\u2028', '\u00a0', 'é', '😀', '-', '/');
const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''));

it('any pattern matches the same texts as with the flag u', () =>
  fc.assert(
    fc.property(written, fc.array(text, { maxLength: 8 }), (source, samples) => {
      const pattern = compilePattern(source);
      const native = new RegExp(source, 'u');
      for (const sample of samples)
        expect([source, sample, pattern.test(sample)]).toEqual([source, sample, native.test(sample)]);
    }),
    { numRuns: 500 },
  ));

it.each([
  ['^(?=a)', 'looks ahead'],
  ['^(?!a)', 'looks ahead'],
  ['(?<=a)b', 'looks ahead or behind'],
  ['(?<!a)b', 'looks ahead or behind'],
  ['(a)\\1', 'refers back'],
  ['(?<n>a)\\k<n>', 'refers back'],
  ['^(\\p{L}+\\s?)*$', 'names a Unicode property'],
  ['^(?:ab){1,2000}$', 'repeats more than 1,000 times'],
  ['\\ud800', 'has an escape for half of a surrogate pair'],
])('%s has no bound: it %s', (source, why) => {
  const pattern = compilePattern(source);
  expect(pattern.cost).toBe(Infinity);
  expect(pattern.unbounded).toContain(why);
  expect(pattern.test('ab')).toBe(new RegExp(source, 'u').test('ab'));
});

it.each(['(', '[', 'a{2', '\\q', '(?<n>', '*', '\\u{110000}', 'a**'])('%s is no pattern', (source) =>
  expect(() => compilePattern(source)).toThrow(SyntaxError),
);
