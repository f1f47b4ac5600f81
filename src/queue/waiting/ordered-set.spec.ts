import { OrderedSet } from './ordered-set.js';

/** A small generator with the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
}

function ranksOf(set: OrderedSet, values: number[]): number[] {
  return values.map((value) => set.rank(0, value));
}

it('counts the entries below a number, whether it contains that number or not', () => {
  const set = new OrderedSet();
  for (const value of [30, 10, 20]) set.add(0, value, 0);
  expect(ranksOf(set, [5, 10, 15, 20, 30, 99])).toEqual([0, 0, 1, 1, 2, 3]);
});

it('holds a number once', () => {
  const set = new OrderedSet();
  expect([set.add(0, 1, 0), set.add(0, 1, 0), set.size]).toEqual([true, false, 1]);
  expect([set.remove(0, 1), set.remove(0, 1), set.size]).toEqual([0, undefined, 0]);
});

it('is empty at first and again after everything was removed', () => {
  const set = new OrderedSet();
  expect([set.size, set.has(0, 1), set.remove(0, 1), set.rank(0, 1)]).toEqual([0, false, undefined, 0]);
  for (let value = 0; value < 3_000; value++) set.add(0, value, 0);
  for (let value = 0; value < 3_000; value++) set.remove(0, value);
  expect([set.size, set.remove(0, 1), set.rank(0, 5_000)]).toEqual([0, undefined, 0]);
  expect(set.add(0, 7, 0)).toBe(true);
  expect(set.rank(0, 8)).toBe(1);
});

it('knows the lowest seq, wherever it is in the order', () => {
  const set = new OrderedSet();
  expect(set.oldest()).toBeUndefined();
  for (let seq = 2_000; seq > 0; seq--) set.add(5_000 - seq, seq, 0);
  expect(set.oldest()).toEqual({ start: 4_999, seq: 1 });
  set.remove(4_999, 1);
  expect(set.oldest()).toEqual({ start: 4_998, seq: 2 });
});

it('is exact as a queue: in at the end, out at the front', () => {
  const set = new OrderedSet();
  for (let value = 0; value < 5_000; value++) set.add(0, value, 0);
  for (let value = 0; value < 2_345; value++) set.remove(0, value);
  expect(ranksOf(set, [0, 2_345, 2_346, 4_999, 9_999])).toEqual([0, 0, 1, 2_654, 2_655]);
});

it.each([1, 2, 3])('agrees with a plain sorted list after many random changes (seed %i)', (seed) => {
  const random = randomNumbers(seed);
  const set = new OrderedSet();
  const truth = new Set<number>();
  let wrong = 0;
  for (let step = 0; step < 20_000; step++) {
    const value = random() % 6_000;
    const known = truth.has(value);
    if (set.has(0, value) !== known) wrong++;
    if (random() % 5 < 3) {
      if (set.add(0, value, 0) === known) wrong++;
      truth.add(value);
    } else {
      if ((set.remove(0, value) === undefined) === known) wrong++;
      truth.delete(value);
    }
    // The sums of an earlier rank must not be used for a later one.
    if (step % 50 === 0 && set.rank(0, value) !== [...truth].filter((one) => one < value).length) wrong++;
  }
  expect(wrong).toBe(0);
  const sorted = [...truth].sort((a, b) => a - b);
  expect(set.size).toBe(sorted.length);
  expect(ranksOf(set, sorted)).toEqual(sorted.map((_, index) => index));
  expect(sorted.every((value) => !set.add(0, value, 0))).toBe(true);
});
