import { UnstoredRests } from './unstored-rests.js';

test('a model rests for 4 to 6 s at first, and runs that end together count once', () => {
  const rests = new UnstoredRests(() => undefined);
  const first = rests.begin('a');
  const together = rests.begin('a');
  expect(first).toBeGreaterThanOrEqual(4_000);
  expect(first).toBeLessThanOrEqual(6_000);
  expect(together).toBeLessThanOrEqual(first);
  expect([rests.isResting('a'), rests.isResting('b')]).toEqual([true, false]);
  rests.end('a');
});

test('a stored result ends the rest, and the end is reported once', () => {
  const ended: string[] = [];
  const rests = new UnstoredRests((id) => ended.push(id));
  rests.begin('a');
  rests.end('a');
  rests.end('a');
  expect([ended, rests.isResting('a')]).toEqual([['a'], false]);
});
