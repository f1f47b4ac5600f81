import { KeyCounts } from './key-counts.js';

const nothing = (): void => undefined;

/** Counts that last until the test lets them end. Each finds as many requests of the key `a` as there were counts. */
function heldCounts() {
  const ends: (() => void)[] = [];
  const counts = new KeyCounts(async () => {
    const number = ends.length + 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    return new Map([['a', number]]);
  });
  const begun = async (number: number): Promise<void> => {
    while (ends.length < number) await new Promise((resolve) => setImmediate(resolve));
  };
  return { counts, begun, end: (number: number) => ends[number - 1]!() };
}

test('keys that want a count at the same time share one, and a key without requests has none', async () => {
  const { counts, begun, end } = heldCounts();
  const both = Promise.all([counts.of('a', nothing), counts.of('b', nothing)]);
  await begun(1);
  end(1);
  expect(await both).toEqual([1, 0]);
});

test('a count serves only the keys that wanted it before it began', async () => {
  const { counts, begun, end } = heldCounts();
  let begins = 0;
  const first = counts.of('a', () => begins++);
  await begun(1);
  const second = counts.of('a', () => begins++);
  end(1);
  expect([await first, begins]).toEqual([1, 1]);
  await begun(2);
  expect(begins).toBe(2);
  end(2);
  expect(await second).toBe(2);
});

test('a failed count fails for all that wanted it, and the next one is made', async () => {
  let fails = true;
  const counts = new KeyCounts(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve(new Map()),
  );
  const both = await Promise.allSettled([counts.of('a', nothing), counts.of('b', nothing)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await counts.of('a', nothing)).toBe(0);
});
