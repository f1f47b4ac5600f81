import { numberIn, parseExactly } from './exact-json';

const parsed = (json: string): unknown => parseExactly(json, JSON.parse(json));
const numbersOf = (json: string): unknown[] =>
  (parsed(json) as unknown[]).map((one) => (typeof one === 'string' ? numberIn(one) : one));

test('numbers that JavaScript would change are kept as they are written', () => {
  const written = ['12345678901234567890', '1e400', '-9007199254740993', '1e-400', '0.12345678901234567890'];
  expect(numbersOf(`[${written.join(', ')}]`)).toEqual(written);
  expect(numbersOf('[1, -1.5, 2e3, 0, 0e5, 100000000000000000000, 123456789012345]')).toEqual([
    1, -1.5, 2_000, 0, 0, 1e20, 123_456_789_012_345,
  ]);
});

test('texts stay as they are', () => {
  const json = String.raw`{"12345678901234567890": "a \"12345678901234567890\" \\", "seed": 12345678901234567890}`;
  const value = parsed(json) as Record<string, string>;
  expect(value).toMatchObject({ '12345678901234567890': String.raw`a "12345678901234567890" ` + '\\' });
  expect(numberIn(value['seed']!)).toBe('12345678901234567890');
  expect(numberIn('12345678901234567890')).toBeUndefined();
});
