import type { RateLimits } from '../config/rate-limits.js';
import { Budget, ShareWindow } from './budget.js';

const limits: RateLimits = [
  { name: 'minute', limit: 100, windowMs: 60_000 },
  { name: 'second', limit: 10, windowMs: 1_000 },
];

function budgetWith(second: number, minute: number, unallocated = 0): Budget {
  const budget = new Budget({ subject: 'key:a', routeClass: 'submit', policy: '10/s,100/m' }, limits);
  budget.windows[0]!.share = second;
  budget.windows[1]!.share = minute;
  for (const window of budget.windows) window.unallocated = unallocated;
  return budget;
}

function use(budget: Budget, count: number, now = 0): void {
  for (let n = 0; n < count; n++) budget.admit(now);
}

test('a call counts in every window or in none', () => {
  const budget = budgetWith(10, 2);
  use(budget, 3);
  expect(budget.windows.map(({ used }) => used)).toEqual([2, 2]);
  expect(budget.admit(0)).toBeUndefined();
});

test('the shortest window comes first', () => {
  expect(budgetWith(1, 1).windows.map(({ window }) => window.name)).toEqual(['second', 'minute']);
});

test('an admission reports the remaining calls of the whole limit, as far as the node knows them', () => {
  const { admitted, windows } = budgetWith(4, 4, 3).admit(0)!;
  expect([admitted, windows.map(({ remaining }) => remaining)]).toEqual([true, [6, 6]]);
});

test('a refusal by a fully used limit lasts until its oldest call leaves, even if another share is used up', () => {
  const budget = budgetWith(10, 10);
  budget.windows[1]!.unallocated = 90;
  use(budget, 10);
  const refusal = budget.refuse(100);
  expect(refusal.exhausted.map(({ window }) => window.name)).toEqual(['second']);
  expect(refusal.retryAfterSeconds).toBe(1);
  expect(budget.standingRefusal(999)).toMatchObject({ admitted: false });
  expect(budget.standingRefusal(1_000)).toBeUndefined();
});

test('a refusal lasts longer each time that other nodes release no share, until one releases some', () => {
  const budget = budgetWith(0, 0);
  const stands = (now: number): boolean => budget.standingRefusal(now) !== undefined;
  budget.refuse(0, { inVain: true });
  expect([stands(249), stands(250), budget.mayAsk(249), budget.mayAsk(250)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  budget.refuse(1_000, { inVain: true });
  expect([stands(1_499), stands(1_500)]).toEqual([true, false]);
  budget.forgetRefusal();
  expect([stands(1_100), budget.mayAsk(1_100)]).toEqual([false, true]);
});

test('Retry-After is 1 s while other nodes may release a share, and then the actual wait', () => {
  expect(budgetWith(0, 0).refuse(0, { inVain: true }).retryAfterSeconds).toBe(1);
  const budget = budgetWith(3, 3);
  use(budget, 3);
  const told = [1_000, 2_000, 3_000].map((now) => budget.refuse(now, { inVain: true }).retryAfterSeconds);
  expect(told).toEqual([1, 1, 57]);
});

test('a refusal that lasts names only the windows that are still used up', () => {
  const key = { subject: 'key:a', routeClass: 'submit', policy: '2/s,4/m' } as const;
  const windows: RateLimits = [
    { name: 'second', limit: 2, windowMs: 1_000 },
    { name: 'minute', limit: 4, windowMs: 60_000 },
  ];
  const budget = new Budget(key, windows);
  for (const window of budget.windows) window.share = window.window.limit;
  for (const now of [0, 1_000]) use(budget, 2, now);
  budget.refuse(1_000);
  const names = (now: number): string[] | undefined =>
    budget.standingRefusal(now)?.exhausted.map(({ window }) => window.name);
  expect([names(1_500), names(3_000)]).toEqual([['second', 'minute'], ['minute']]);
});

test('a caller that waits for Retry-After is admitted', () => {
  const budget = budgetWith(10, 100);
  use(budget, 10);
  const seconds = budget.refuse(0).retryAfterSeconds;
  expect(budget.admit(seconds * 1_000)).toMatchObject({ admitted: true });
});

test('a request for a share reports the waiting calls, and only later calls remain to be written', () => {
  const budget = budgetWith(10, 100);
  use(budget, 2);
  for (let n = 0; n < 3; n++) {
    budget.addWaiting({ since: 0, count: 1, settle: () => undefined, reject: () => undefined });
  }
  expect(budget.toRequest(1, 0)).toMatchObject({ used: [5, 5], needed: [0, 0] });
  use(budget, 3);
  expect(budget.unwritten).toBe(0);
  use(budget, 1);
  expect(budget.unwritten).toBe(1);
});

function shareOf(share: number): ShareWindow {
  const one = new ShareWindow({ name: 'second', limit: 10, windowMs: 1_000 });
  one.share = share;
  return one;
}

test('an admission leaves its window exactly when the window has passed', () => {
  const one = shareOf(1);
  one.add(500);
  one.expire(1_499.999);
  expect([one.used, one.hasRoomFor(1)]).toEqual([1, false]);
  one.expire(1_500);
  expect([one.used, one.hasRoomFor(1)]).toEqual([0, true]);
});

test('admissions within a fortieth of the window leave together, when the last of them leaves', () => {
  const one = shareOf(3);
  one.add(1_000);
  one.add(1_024);
  one.add(1_026);
  one.expire(2_023);
  expect(one.used).toBe(3);
  one.expire(2_024);
  expect(one.used).toBe(1);
});

test('no window, at any position, contains more calls than the share', () => {
  const one = shareOf(10);
  const admitted: number[] = [];
  for (let now = 0, step = 1; now < 20_000; now += (step = (step * 7) % 61) + 1) {
    one.expire(now);
    if (!one.hasRoomFor(1)) continue;
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

test('a shrinking share loses part of its unused calls, and never its used calls', () => {
  const one = shareOf(9);
  one.add(0);
  expect([one.shrink(1 / 2), one.share, one.unallocated]).toEqual([true, 5, 4]);
  expect([one.shrink(0), one.share]).toEqual([true, 1]);
  expect([one.shrink(0), one.share]).toEqual([false, 1]);
});
