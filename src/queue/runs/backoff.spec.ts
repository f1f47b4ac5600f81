import { backoffMs } from './backoff.js';

const retry = { baseMs: 1_000, capMs: 60_000 };
const longest = (): number => 1;
const half = (): number => 0.5;

it('doubles its ceiling after each failure, up to its cap', () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 8, 99].map((failures) =>
    backoffMs(retry, failures, undefined, longest),
  );
  expect(ceilings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

it('is random between zero and its ceiling', () => {
  expect(backoffMs(retry, 3, undefined, () => 0)).toBe(0);
  expect(backoffMs(retry, 3, undefined, half)).toBe(2_000);
  const waits = new Set(Array.from({ length: 100 }, () => Math.round(backoffMs(retry, 5, undefined))));
  expect(waits.size).toBeGreaterThan(90);
});

it('uses the base and the cap of the model', () => {
  const quick = { baseMs: 100, capMs: 300 };
  const ceilings = [1, 2, 3].map((failures) => backoffMs(quick, failures, undefined, longest));
  expect(ceilings).toEqual([100, 200, 300]);
});

it('is never shorter than the delay that the model asked for, and hardly longer', () => {
  expect(backoffMs(retry, 1, 30_000, () => 0)).toBe(30_000);
  expect(backoffMs(retry, 9, 30_000, longest)).toBe(30_100);
  expect(backoffMs(retry, 9, 0, () => 0)).toBe(0);
});
