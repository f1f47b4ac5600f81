import fc from 'fast-check';
import { hasMoreValues, isDeeperThan, isJson, rawElements, rawMember } from './json-scanner.js';

it.each([
  ['[[1]]', 2, false],
  ['[[1]]', 1, true],
  ['{"a":[{}]}', 2, true],
  ['[1],[2]', 1, false],
  [String.raw`"[[[\"[[["`, 0, false],
  ['"never closed [[[', 0, false],
])('%s is deeper than %i levels: %s', (text, depth, deeper) =>
  expect(isDeeperThan(text, depth)).toBe(deeper),
);

it.each([
  ['{"a": 12345678901234567890 }', '12345678901234567890'],
  ['{"b":{"a":1},"a":[ 2 ]}', '[ 2 ]'],
  ['{"a":1,"\\u0061":2}', '2'],
  [String.raw`{"b":"\\\"a\":","a":"}"}`, '"}"'],
  ['{"b":1}', undefined],
])('the member a of %s is %s', (text, member) => expect(rawMember(text, 'a')).toBe(member));

it.each([
  ['[]', []],
  ['[ 1 , "a,]" ,[2,3], {"b":[4]} ]', ['1', '"a,]"', '[2,3]', '{"b":[4]}']],
])('the elements of %s are %j', (text, elements) => expect(rawElements(text)).toEqual(elements));

it('counts the values that JSON.parse creates from a text', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : Object.values(value).reduce((sum: number, one) => sum + count(one), 1);
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const values = count(value);
      // Only a text long enough to hold that many values is scanned.
      const padded = text + ' '.repeat(2 * values);
      expect([text, hasMoreValues(padded, values)]).toEqual([text, false]);
      expect([text, hasMoreValues(padded, values - 1)]).toEqual([text, true]);
    }),
  );
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('accepts the same texts as JSON.parse', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-',
    '0',
    '01',
    '.5',
    '1.5',
    'e',
    'E+',
    '1e5',
    'true',
    'tru',
    'false',
    'null',
    ' ',
    '\n',
    '\t',
    '\f',
    '\u00a0',
    '"\\n"',
    '"\\u00e9"',
    '"\\u00g9"',
    '"\\x"',
    '\\',
    '"\u0000"',
    '"é"',
  );
  const near = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  const changed = fc
    .tuple(fc.json(), fc.nat(), fc.nat(2), piece)
    .map(
      ([text, at, length, one]) =>
        text.slice(0, at % (text.length + 1)) + one + text.slice((at % (text.length + 1)) + length),
    );
  fc.assert(
    fc.property(fc.oneof(near, changed, fc.json()), (text) => {
      expect([text, isJson(Buffer.from(text), 1_000)]).toEqual([text, parses(text)]);
    }),
    { numRuns: 3_000 },
  );
});

it.each([
  ['[[1],{"a":[]}]', 3, true],
  ['[[1],{"a":[]}]', 2, false],
  ['['.repeat(100_000), 1_000, false],
  ['"\\', 1, false],
])('decides whether a text is JSON of at most a number of levels (%#)', (text, depth, is) =>
  expect(isJson(Buffer.from(text), depth)).toBe(is),
);
