import { usageIn } from './usage.js';

it.each([
  [{ tokens: 3, seconds: 1.5, name: 'x', none: null, list: [1] }, { tokens: 3 }],
  [
    { prompt: { cached: 2, audio: { seconds: 4 } }, total: 9 },
    { 'prompt.cached': 2, 'prompt.audio.seconds': 4, total: 9 },
  ],
  [{ 'a\0b': 1, ['x'.repeat(101)]: 2 }, { 'a\ufffdb': 1 }],
  [JSON.parse('{"__proto__": 7}'), JSON.parse('{"__proto__": 7}')],
  [Number.MAX_SAFE_INTEGER + 1, undefined],
  [{}, undefined],
  [7, undefined],
  ['7', undefined],
  [null, undefined],
])('reads the whole numbers of %j', (value, usage) => {
  expect(usageIn(value)).toEqual(usage);
});

it('reads fifty names at most', () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`n${i}`, i]));
  expect(Object.keys(usageIn(many)!)).toHaveLength(50);
});
