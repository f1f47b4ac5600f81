import { setImmediate as nextTurn } from 'node:timers/promises';
import { AtATime } from './at-a-time.js';

it('executes a fixed number of tasks at a time, in order, even if one fails', async () => {
  const turns = new AtATime(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((i) =>
    turns.run('caller', () => {
      begun.push(i);
      return new Promise<void>((resolve, reject) => {
        ends.push(() => (i === 0 ? reject(new Error('no')) : resolve()));
      });
    }),
  );
  const failed = expect(all[0]).rejects.toThrow('no');
  expect(begun).toEqual([0, 1]);
  ends[0]!();
  await failed;
  // It does not start in the same turn of the event loop.
  expect(begun).toEqual([0, 1]);
  await nextTurn();
  expect(begun).toEqual([0, 1, 2]);
  ends[1]!();
  await all[1];
  await nextTurn();
  ends[2]!();
  await all[2];
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[3]!();
  await all[3];
});

it('lets callers take turns, however many one of them has waiting', async () => {
  const turns = new AtATime(1);
  const begun: string[] = [];
  const work = (caller: string) => turns.run(caller, async () => void begun.push(caller));
  await Promise.all(['a', 'a', 'a', 'a', 'b'].map(work));
  expect(begun.indexOf('b')).toBeLessThanOrEqual(2);
  expect(begun).toHaveLength(5);
});
