import { UnstoredRests } from './unstored-rests.js';

test('a model rests longer each time, and runs that ended together count once', () => {
  const rests = new UnstoredRests(() => undefined);
  const first = rests.begin('a');
  const together = rests.begin('a');
  expect(first).toBeGreaterThanOrEqual(4_000);
  expect(first).toBeLessThanOrEqual(6_000);
  expect(together).toBeLessThanOrEqual(first);
  expect([rests.isResting('a'), rests.isResting('b')]).toEqual([true, false]);
  rests.end('a');
});

test('a result that was stored ends the rest, and says so', () => {
  const ended: string[] = [];
  const rests = new UnstoredRests((id) => ended.push(id));
  rests.begin('a');
  rests.end('a');
  rests.end('a');
  expect([ended, rests.isResting('a')]).toEqual([['a'], false]);
});
