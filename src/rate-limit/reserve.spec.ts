import { Standing } from './admission.js';
import { Reserve, type Supply } from './reserve.js';

const high = [{ name: 'second', limit: 1_000_000, windowMs: 1_000 }];
const low = [{ name: 'second', limit: 999, windowMs: 1_000 }];
const standing = new Standing([{ window: high[0]!, remaining: 500, resetMs: 1_000 }]);

/** Ten calls in the bucket from 1000 to 1025 ms, then one in the next. */
function busySupply(): Supply {
  const supply = new Reserve().supply('a', high, 1_000)!;
  for (let i = 0; i < 10; i++) supply.take(1_000 + i);
  supply.take(1_026);
  return supply;
}

const remaining = (supply: Supply, now: number): number | undefined =>
  supply.take(now)?.windows[0]!.remaining;

test('as much is taken ahead as the bucket before used', () => {
  expect(busySupply().spare).toBe(10);
});

test('nothing is taken ahead after a bucket without calls', () => {
  const supply = busySupply();
  supply.take(1_080);
  expect(supply.spare).toBe(0);
});

test('what was taken ahead is given out once, with what remains of the window', () => {
  const supply = busySupply();
  supply.put(2, 1_075, standing);
  expect([1_030, 1_031, 1_032].map((now) => remaining(supply, now))).toEqual([501, 500, undefined]);
});

test('what was taken ahead earlier is used first', () => {
  const supply = busySupply();
  supply.put(1, 1_075, standing);
  supply.put(1, 1_100, new Standing([{ window: high[0]!, remaining: 400, resetMs: 1_000 }]));
  expect([1_030, 1_031, 1_032].map((now) => remaining(supply, now))).toEqual([500, 400, undefined]);
});

test('what is left when its time is over is never used', () => {
  const supply = busySupply();
  supply.put(5, 1_075, standing);
  expect(supply.take(1_074.9)?.admitted).toBe(true);
  expect(supply.take(1_075)).toBeUndefined();
});

test('more is asked for once, before the rest runs out', () => {
  const supply = busySupply();
  supply.put(6, 1_075, standing);
  const asks = [1_030, 1_031, 1_032].map((now) => {
    supply.take(now);
    return supply.shouldAsk(now);
  });
  expect(asks).toEqual([false, true, false]);
});

test('more is asked for in the last bucket of what is left', () => {
  const supply = busySupply();
  supply.put(20, 1_075, standing);
  supply.take(1_049);
  expect(supply.shouldAsk(1_049)).toBe(false);
  supply.take(1_051);
  expect(supply.shouldAsk(1_051)).toBe(true);
});

test('where there was no more to have, nobody asks again within the bucket', () => {
  const supply = busySupply();
  supply.put(1, 1_075, standing);
  expect(supply.shouldAsk(1_030)).toBe(true);
  supply.putNothing();
  expect(supply.shouldAsk(1_031)).toBe(false);
  supply.take(1_051);
  expect(supply.shouldAsk(1_051)).toBe(true);
});

test('nothing is taken ahead of a low limit', () => {
  expect(new Reserve().supply('a', low, 1_000)).toBeUndefined();
});
