import { backoffMs } from './backoff.js';

const longest = (): number => 1;
const half = (): number => 0.5;

it('may wait twice as long after each failure, up to a minute', () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 8, 99].map((failures) => backoffMs(failures, undefined, longest));
  expect(ceilings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

it('is spread from nothing to its ceiling, so that many do not come back together', () => {
  expect(backoffMs(3, undefined, () => 0)).toBe(0);
  expect(backoffMs(3, undefined, half)).toBe(2_000);
  const waits = new Set(Array.from({ length: 100 }, () => Math.round(backoffMs(5, undefined))));
  expect(waits.size).toBeGreaterThan(90);
});

it('is never shorter than what the model asked for, and hardly longer', () => {
  expect(backoffMs(1, 30_000, () => 0)).toBe(30_000);
  expect(backoffMs(9, 30_000, longest)).toBe(30_100);
  expect(backoffMs(9, 0, () => 0)).toBe(0);
});
