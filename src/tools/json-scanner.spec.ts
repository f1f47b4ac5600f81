import { isDeeperThan, rawMember } from './json-scanner.js';

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
