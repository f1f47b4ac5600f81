import { dayMs, minuteMs, Tally } from './tally.js';

const day = 20_000 * dayMs;

it('adds up by minute and by day', () => {
  const tally = new Tally();
  tally.add(day, 'a', { started: 2 });
  tally.add(day, 'a', { started: 1, completed: 1, failed: 1 });
  tally.add(day + 5 * minuteMs, 'a', { completed: 1 });
  tally.add(day - minuteMs, 'a', { started: 7 });
  expect(tally.get(day, 'a')).toEqual({ started: 3, completed: 1, failed: 1 });
  expect(tally.toDays().get(day, 'a')).toEqual({ started: 3, completed: 2, failed: 1 });
  expect(tally.toDays().get(day - dayMs, 'a').started).toBe(7);
  expect(tally.get(day, 'b')).toEqual({ started: 0, completed: 0, failed: 0 });
});

it('replaces its counts by the counts that are read', () => {
  const tally = new Tally();
  tally.add(day, 'a', { started: 2 });
  tally.set(day, 'a', { started: 5, completed: 0, failed: 0 });
  tally.add(day + minuteMs, 'a', { started: 1 });
  tally.dropBefore(day + minuteMs);
  expect(tally.rows()).toEqual([{ at: day + minuteMs, modelId: 'a', started: 1, completed: 0, failed: 0 }]);
});
