import { bytes, counted, duration, percent, rate, short, whole } from './quantities';

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

test.each([
  [0, '0 ms'],
  [40, '40 ms'],
  [412, '0.4 s'],
  [2_510, '2.5 s'],
  [41_000, '41 s'],
  [59_600, '1 min'],
  [130_000, '2 min 10 s'],
  [3_600_000, '1 h'],
  [11_100_000, '3 h 5 min'],
  [187_200_000, '2 d 4 h'],
  [-5, '0 ms'],
])('%d ms is said as %s', (ms, said) => {
  expect(plain(duration(ms))).toBe(said);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_204, '1.2 k'],
  [34_400, '34 k'],
  [999_600, '1.0 M'],
  [12_300_000, '12 M'],
])('%d is shortened to %s', (value, said) => {
  expect(plain(short(value))).toBe(said);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [3_400_000, '3.4 MB'],
  [32_000_000, '32 MB'],
  [999_900, '1.0 MB'],
])('%d bytes are said as %s', (value, said) => {
  expect(plain(bytes(value))).toBe(said);
});

test.each([
  [0, '0/s'],
  [0.9, '0.9/s'],
  [120, '120/s'],
  [0.05, '3/min'],
  [0.001, '4/h'],
])('%d a second is said as %s', (perSecond, said) => {
  expect(plain(rate(perSecond))).toBe(said);
});

test('numbers are grouped, counted and shared as a reader expects', () => {
  expect([1_204, 999, 1_000_000].map(whole).map(plain)).toEqual(['1 204', '999', '1 000 000']);
  expect([counted(1, 'request'), counted(2, 'request')].map(plain)).toEqual(['1 request', '2 requests']);
  expect([0, 0.004, 0.28].map(percent).map(plain)).toEqual(['0 %', '< 1 %', '28 %']);
});
