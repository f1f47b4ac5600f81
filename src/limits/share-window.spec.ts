import { ShareWindow } from './share-window.js';

const window = { name: 'second', limit: 10, windowMs: 1_000 };

function shareOf(share: number): ShareWindow {
  const one = new ShareWindow(window);
  one.share = share;
  return one;
}

test('an admission leaves its window after the window, and not a moment before', () => {
  const one = shareOf(1);
  one.add(500);
  one.expire(1_499.999);
  expect([one.used, one.hasRoom]).toEqual([1, false]);
  one.expire(1_500);
  expect([one.used, one.hasRoom]).toEqual([0, true]);
});

test('those within a fortieth of the window leave together, with the last of them', () => {
  const one = shareOf(3);
  one.add(1_000);
  one.add(1_024);
  one.add(1_026);
  one.expire(2_023);
  expect(one.used).toBe(3);
  one.expire(2_024);
  expect(one.used).toBe(1);
});

test('no window of any position holds more than the share, whenever the calls come', () => {
  const one = shareOf(10);
  const admitted: number[] = [];
  for (let now = 0, step = 1; now < 20_000; now += (step = (step * 7) % 61) + 1) {
    one.expire(now);
    if (!one.hasRoom) continue;
    one.add(now);
    admitted.push(now);
  }
  const most = Math.max(
    ...admitted.map((start) => admitted.filter((at) => at >= start && at < start + 1_000).length),
  );
  expect(most).toBe(10);
});

test('the reset is that of the oldest admission, and never longer than the window', () => {
  const one = shareOf(2);
  expect(one.resetMs(0)).toBe(0);
  const now = 1_234_567.890_123_4;
  one.add(now);
  expect(one.resetMs(now)).toBeLessThanOrEqual(1_000);
  one.add(now + 300);
  expect(one.resetMs(now + 400)).toBeCloseTo(600);
});

test('what is used is never given up, and of the rest a part', () => {
  const one = shareOf(9);
  one.add(0);
  expect([one.shrink(1 / 2), one.share, one.unallocated]).toEqual([true, 5, 4]);
  expect([one.shrink(0), one.share]).toEqual([true, 1]);
  expect([one.shrink(0), one.share]).toEqual([false, 1]);
});
