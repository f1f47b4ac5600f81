import { memberOf, partsOf, stringsOf } from '../../clients/typescript/src/worker/json-scanner.js';
import { joined, jsonOf, JsonText } from '../../clients/typescript/src/worker/json-text.js';

const input = String.raw`{ "a,]" : [1.0, "}\\", {"x":"\""}] , "n":12345678901234567890}`;

test('parts of JSON are the text that they were', () => {
  const runs = `{"runs" : [ {"input":${input},"id":"a"}, {"input": [] } ], "more": {}}`;
  const parts = partsOf(memberOf(runs, 'runs')!).map(({ text }) => memberOf(text, 'input'));
  expect(parts).toEqual([input, '[]']);
  expect(memberOf(runs, 'none')).toBeUndefined();
  expect(['{}', '[ ]'].map(partsOf)).toEqual([[], []]);
});

test('of members with one name the last counts, however the name is written', () => {
  expect(memberOf(String.raw`{"a":1,"\u0061":2,"b":{"a":3}}`, 'a')).toBe('2');
});

test('strings are found, and names of members are not', () => {
  const texts = [...stringsOf(input)].map(({ start, end }) => JSON.parse(input.slice(start, end)) as string);
  expect(texts).toEqual(['}\\', '"']);
  expect([...stringsOf('"a"')]).toEqual([{ start: 0, end: 3 }]);
});

test('deltas make the output that the service makes of them', () => {
  const made = (...deltas: unknown[]): string => jsonOf(joined(deltas));
  expect(made('a', 'b')).toBe('"ab"');
  expect(made('a', 'b', new JsonText('{"n":1.0}'), 'c', 'd')).toBe('["ab",{"n":1.0},"cd"]');
  expect(made(new JsonText('1'))).toBe('[1]');
});
