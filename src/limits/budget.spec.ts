import type { RateLimits } from '../config/rate-limits.js';
import { Budget } from './budget.js';

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

test('the tightest window comes first', () => {
  expect(budgetWith(1, 1).windows.map(({ window }) => window.name)).toEqual(['second', 'minute']);
});

test('an admission says what is left of the whole limit, as far as it is known', () => {
  const { admitted, windows } = budgetWith(4, 4, 3).admit(0)!;
  expect([admitted, windows.map(({ remaining }) => remaining)]).toEqual([true, [6, 6]]);
});

test('a refusal by a whole limit stands until its oldest call leaves, though another share is used up too', () => {
  const budget = budgetWith(10, 10);
  budget.windows[1]!.unallocated = 90;
  use(budget, 10);
  const refusal = budget.refuse(100);
  expect(refusal.exhausted.map(({ window }) => window.name)).toEqual(['second']);
  expect(refusal.retryAfterSeconds).toBe(1);
  expect(budget.standingRefusal(999)).toMatchObject({ admitted: false });
  expect(budget.standingRefusal(1_000)).toBeUndefined();
});

test('a refusal because the others gave nothing stands for longer each time, until one gives', () => {
  const budget = budgetWith(0, 0);
  const stands = (now: number): boolean => budget.standingRefusal(now) !== undefined;
  budget.refuse(0, true);
  expect([stands(249), stands(250), budget.mayAsk(249), budget.mayAsk(250)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  budget.refuse(1_000, true);
  expect([stands(1_499), stands(1_500)]).toEqual([true, false]);
  budget.forgetRefusal();
  expect([stands(1_100), budget.mayAsk(1_100)]).toEqual([false, true]);
});

test('whoever may have what the others give is asked to come back soon, and is told the truth when they give nothing', () => {
  expect(budgetWith(0, 0).refuse(0, true).retryAfterSeconds).toBe(1);
  const budget = budgetWith(3, 3);
  use(budget, 3);
  const told = [1_000, 2_000, 3_000].map((now) => budget.refuse(now, true).retryAfterSeconds);
  expect(told).toEqual([1, 1, 57]);
});

test('whoever waits as long as a refusal says has room again', () => {
  const budget = budgetWith(10, 100);
  use(budget, 10);
  const seconds = budget.refuse(0).retryAfterSeconds;
  expect(budget.admit(seconds * 1_000)).toMatchObject({ admitted: true });
});

test('what is asked for tells of the calls that wait, so that only later ones remain to be written', () => {
  const budget = budgetWith(10, 100);
  use(budget, 2);
  for (let n = 0; n < 3; n++) {
    budget.held.push({ since: 0, admit: () => undefined, reject: () => undefined });
  }
  expect(budget.toRequest(1, 0)).toMatchObject({ used: [5, 5], needed: [0, 0] });
  use(budget, 3);
  expect(budget.unwritten).toBe(0);
  use(budget, 1);
  expect(budget.unwritten).toBe(1);
});
