import { memberOf, partsOf, stringsOf } from '../../clients/typescript/src/worker/json-scanner.js';
import { joined, jsonOf, JsonText } from '../../clients/typescript/src/worker/json-text.js';

const input = String.raw`{ "a,]" : [1.0, "}\\", {"x":"\""}] , "n":12345678901234567890}`;

test('members and items of a JSON text are returned as they were written', () => {
  const runs = `{"runs" : [ {"input":${input},"id":"a"}, {"input": [] } ], "more": {}}`;
  const parts = partsOf(memberOf(runs, 'runs')!).map(({ text }) => memberOf(text, 'input'));
  expect(parts).toEqual([input, '[]']);
  expect(memberOf(runs, 'none')).toBeUndefined();
  expect(['{}', '[ ]'].map(partsOf)).toEqual([[], []]);
});

test('the last of several members with one name counts, also if the name is escaped', () => {
  expect(memberOf(String.raw`{"a":1,"\u0061":2,"b":{"a":3}}`, 'a')).toBe('2');
});

test('the search for strings finds values, but not names of members', () => {
  const texts = [...stringsOf(input)].map(({ start, end }) => JSON.parse(input.slice(start, end)) as string);
  expect(texts).toEqual(['}\\', '"']);
  expect([...stringsOf('"a"')]).toEqual([{ start: 0, end: 3 }]);
});

test('deltas join to the same output as in the service', () => {
  const made = (...deltas: unknown[]): string => jsonOf(joined(deltas));
  expect(made('a', 'b')).toBe('"ab"');
  expect(made('a', 'b', new JsonText('{"n":1.0}'), 'c', 'd')).toBe('["ab",{"n":1.0},"cd"]');
  expect(made(new JsonText('1'))).toBe('[1]');
});
