import type { Admission } from './admission.js';
import { Reserve } from './reserve.js';

const high = [{ name: 'second', limit: 1_000_000, windowMs: 1_000 }];
const low = [{ name: 'second', limit: 999, windowMs: 1_000 }];
const state: Admission = { admitted: false, windows: [{ window: high[0]!, remaining: 500, resetMs: 1_000 }] };

/** Ten calls in the bucket from 1000 to 1025 ms, then one in the next. */
function busyReserve(): Reserve {
  const reserve = new Reserve();
  for (let i = 0; i < 10; i++) reserve.take('a', high, 1_000 + i);
  reserve.take('a', high, 1_026);
  return reserve;
}

test('as much is taken ahead as the bucket before used', () => {
  expect(busyReserve().spare('a', 1_026)).toBe(10);
});

test('nothing is taken ahead after a bucket without calls', () => {
  const reserve = busyReserve();
  reserve.take('a', high, 1_080);
  expect(reserve.spare('a', 1_080)).toBe(0);
});

test('the stock is given out once, with what remains of the window', () => {
  const reserve = busyReserve();
  reserve.put('a', 2, 1_050, state);
  const taken = [1_030, 1_031, 1_032].map((now) => reserve.take('a', high, now)?.windows[0]!.remaining);
  expect(taken).toEqual([501, 500, undefined]);
});

test('what is left when the bucket ends is never used', () => {
  const reserve = busyReserve();
  reserve.put('a', 5, 1_050, state);
  expect(reserve.take('a', high, 1_049.9)?.admitted).toBe(true);
  expect(reserve.take('a', high, 1_050)).toBeUndefined();
});

test('nothing is taken ahead of a low limit', () => {
  const reserve = new Reserve();
  for (let i = 0; i < 50; i++) reserve.take('a', low, 1_000 + i);
  expect(reserve.spare('a', 1_050)).toBe(0);
});
