import { PerMinute } from './per-minute.js';

test('each subject has a limit per minute, and all subjects share another limit', () => {
  const counter = new PerMinute({ each: 2, all: 3 });
  const take = (subject: string, now: number): boolean => counter.takes(subject, now);
  expect([take('a', 0), take('a', 1), take('a', 2), take('b', 3), take('b', 4)]).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
  expect([take('b', 60_000), take('a', 60_000)]).toEqual([true, true]);
});
