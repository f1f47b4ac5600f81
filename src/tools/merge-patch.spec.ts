import { mergePatch } from './merge-patch.js';

// The examples of RFC 7396, and numbers and names that a parser would change.
it.each<[string, unknown, string]>([
  ['{"a":"b"}', { a: 'c' }, '{"a":"c"}'],
  ['{"a":"b"}', { b: 'c' }, '{"a":"b","b":"c"}'],
  ['{"a":"b"}', { a: null }, '{}'],
  ['{"a":"b","b":"c"}', { a: null }, '{"b":"c"}'],
  ['{"a":["b"]}', { a: 'c' }, '{"a":"c"}'],
  ['{"a":"c"}', { a: ['b'] }, '{"a":["b"]}'],
  ['{"a": {"b":"c"} }', { a: { b: 'd', c: null } }, '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', { a: [1] }, '{"a":[1]}'],
  ['["a","b"]', ['c', 'd'], '["c","d"]'],
  ['{"a":"b"}', ['c'], '["c"]'],
  ['{"a":"foo"}', 'bar', '"bar"'],
  ['{"e":null}', { a: 1 }, '{"e":null,"a":1}'],
  ['[1,2]', { a: 'b', c: null }, '{"a":"b"}'],
  ['{}', { a: { bb: { ccc: null } } }, '{"a":{"bb":{}}}'],
  ['', { a: 1 }, '{"a":1}'],
  [
    ' { "seed" : 9223372036854775807, "t": 1.0 }',
    { model: 'm' },
    '{"seed":9223372036854775807,"t":1.0,"model":"m"}',
  ],
  ['{"a":{"n":12345678901234567890}}', { a: { b: 1 } }, '{"a":{"n":12345678901234567890,"b":1}}'],
  ['{"2":1,"__proto__":{"a":"}"},"1":2}', { z: 0 }, '{"2":1,"__proto__":{"a":"}"},"1":2,"z":0}'],
  ['{"a":1,"\\u0061":2}', { z: 0 }, '{"a":2,"z":0}'],
])('%s with %j is %s', (target, patch, merged) => expect(mergePatch(target, patch)).toBe(merged));
