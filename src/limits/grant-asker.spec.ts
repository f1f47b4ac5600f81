import { Budget } from './budget.js';
import { requestOf } from './grant-asker.js';

test('what is asked for tells of the calls that wait, so that only later ones remain to be written', () => {
  const limits = [{ name: 'second', limit: 10, windowMs: 1_000 }];
  const budget = new Budget({ subject: 'key:a', routeClass: 'submit', policy: '10/s' }, limits);
  budget.windows[0]!.share = 10;
  const use = (count: number): void => {
    for (let n = 0; n < count; n++) budget.admit(0);
  };
  use(2);
  for (let n = 0; n < 3; n++) {
    budget.hold({ since: 0, count: 1, admit: () => undefined, reject: () => undefined });
  }
  expect(requestOf(budget, 1, 0)).toMatchObject({ used: [5], needed: [0] });
  use(3);
  expect(budget.unwritten).toBe(0);
  use(1);
  expect(budget.unwritten).toBe(1);
});
