import { type EntryChange, WaitingIndex } from './waiting-index.js';

const change = (seq: number, more: Partial<EntryChange> = {}): EntryChange => ({
  modelId: 'a/model',
  priority: 0,
  start: 0,
  seq,
  attempt: 0,
  ...more,
});

let index: WaitingIndex;
beforeEach(() => (index = new WaitingIndex()));

function addAll(...seqs: number[]): void {
  for (const seq of seqs) index.add(change(seq));
}

it.each([[[5, 6, 7]], [[7, 5, 6]]])('gives the front position 0, whatever the order: %j', (seqs) => {
  addAll(...seqs);
  expect([5, 6, 7].map((seq) => index.position(change(seq)))).toEqual([0, 1, 2]);
});

it('moves all up when one ahead is removed', () => {
  addAll(1, 2, 3);
  index.remove(change(2));
  expect(index.position(change(3))).toBe(1);
  index.remove(change(1));
  expect(index.position(change(3))).toBe(0);
});

it('puts a lower priority number ahead, whenever it was added', () => {
  addAll(1, 2);
  index.add(change(3, { priority: -5 }));
  index.add(change(4, { priority: 5 }));
  expect(index.position(change(1))).toBe(1);
  expect(index.position(change(3, { priority: -5 }))).toBe(0);
  expect(index.position(change(4, { priority: 5 }))).toBe(3);
});

it('keeps the models separate', () => {
  addAll(1, 2);
  index.add(change(3, { modelId: 'another/model' }));
  expect(index.position(change(3, { modelId: 'another/model' }))).toBe(0);
  expect(Object.fromEntries(index.depths())).toEqual({ 'a/model': 2, 'another/model': 1 });
});

it('counts an entry once, however often it is added', () => {
  addAll(1, 1, 1, 2);
  expect(index.depth('a/model')).toBe(2);
});

it('does not let a late message bring back an entry', () => {
  index.remove(change(1));
  index.add(change(1));
  expect(index.depth('a/model')).toBe(0);
});

it('takes a request back for its next attempt, at its old position', () => {
  addAll(1, 2);
  index.remove(change(1));
  index.add(change(1, { attempt: 1 }));
  expect([1, 2].map((seq) => index.position(change(seq)))).toEqual([0, 1]);
  index.add(change(1));
  expect(index.depth('a/model')).toBe(2);
});

it('forgets a queue that is empty', () => {
  addAll(1);
  index.remove(change(1));
  expect(index.depths().size).toBe(0);
});

it('shows what is being moved where it is until all that moves with it has moved', () => {
  const [first, second] = [1, 2].map((seq) => change(seq, { start: 1_000 + seq * 1_000 }));
  index.add(first!);
  index.add(second!);
  const moves = [first!, second!].map(({ seq, start }) => ({
    seq,
    from: start,
    start: start - 2_000,
    key: 1,
  }));
  index.beginMoves(moves);
  // Its row is read from the database, and already has its later place.
  const shown = () => index.position({ ...second!, start: 1_000 });
  expect(shown()).toBe(1);
  for (const { seq, from, start } of moves) index.move({ ...change(seq), start, from });
  index.endMoves(moves);
  expect(shown()).toBe(1);
});

it('counts what is held for those that are held, until it is let in, also where it moves', () => {
  const [first, second, third] = [1, 2, 3].map((seq) => change(seq, { start: seq * 1_000 }));
  index.hold(first!);
  index.hold(second!);
  index.add(third!);
  index.add(change(4, { priority: 5 }));
  const positions = () =>
    [first!, second!, third!, change(4, { priority: 5 })].map((one) => index.position(one));
  expect(positions()).toEqual([0, 1, 0, 1]);
  index.move({ ...second!, start: 500, from: 2_000 });
  expect(positions()).toEqual([1, 0, 0, 1]);
  index.release({ ...second!, start: 500 });
  expect(positions()).toEqual([1, 0, 1, 2]);
  index.remove(first!);
  expect(positions()).toEqual([1, 0, 1, 2]);
  index.remove(second!, true);
  expect(positions()).toEqual([0, 0, 0, 1]);
});

describe('an entry that moves up twice', () => {
  const at = (start: number): EntryChange => change(9, { start, orderKey: 7 });
  const messages: Record<string, () => void> = {
    added: () => index.add(at(9_000)),
    moved: () => index.move({ ...at(5_000), from: 9_000 }),
    'moved on': () => index.move({ ...at(2_000), from: 5_000 }),
  };
  const started = (): void => index.remove(at(2_000), true);
  const orders = (names: string[]): string[][] =>
    names.length < 2
      ? [names]
      : names.flatMap((name) => orders(names.filter((one) => one !== name)).map((rest) => [name, ...rest]));
  const positions = (): number[] => [9_000, 5_000, 2_000].map((start) => index.position(at(start)));
  const others = (): void => [1_000, 3_000, 7_000].forEach((start, i) => index.add(change(i + 1, { start })));

  it.each(orders(Object.keys(messages)).flatMap((one) => orders(one).map((two) => [[...one, ...two]])))(
    'is where it moved last, whatever is heard first and twice: %j',
    (names) => {
      others();
      for (const name of names) messages[name]!();
      expect([index.depth('a/model'), ...positions()]).toEqual([4, 1, 1, 1]);
      expect(index.position(change(3, { start: 7_000 }))).toBe(3);
      started();
      expect(index.depth('a/model')).toBe(3);
    },
  );

  it.each(orders([...Object.keys(messages), 'started']))(
    'is gone once it is known to have started, in the order %s, %s, %s, %s',
    (...names) => {
      others();
      for (const name of names) (messages[name] ?? started)();
      expect(index.depth('a/model')).toBe(3);
      // A retry is at its last place.
      index.add({ ...at(2_000), attempt: 1 });
      for (const late of Object.values(messages)) late();
      expect([index.depth('a/model'), ...positions()]).toEqual([4, 1, 1, 1]);
    },
  );

  it('is there once where the index is filled from what was read before it moved', () => {
    messages['added']!();
    index.beginRefill();
    messages['moved']!();
    index.add(at(9_000), true);
    index.endRefill();
    expect([index.depth('a/model'), index.head('a/model')?.start]).toEqual([1, 5_000]);
  });
});

describe('being filled anew', () => {
  it('answers from the old entries until the new ones are complete', () => {
    addAll(1, 2);
    index.beginRefill();
    expect(index.position(change(2))).toBe(1);
    index.add(change(2));
    index.endRefill();
    expect(index.position(change(2))).toBe(0);
  });

  it('charges no key for what is read behind what has just come', () => {
    const [model, key] = ['a/model', 7];
    const entry = (seq: number) => change(seq, { start: seq * 1_000, orderKey: key });
    index.beginRefill();
    index.add(entry(9));
    for (let seq = 0; seq < 9; seq++) index.add(entry(seq), true);
    expect(index.reserve(model, 0, key, 1_000)).toBe(10_000);
    index.settle(model, 0, key);
    index.endRefill();
    expect(index.reserve(model, 0, key, 1_000)).toBe(10_000);
  });

  it('follows the changes of the meantime', () => {
    addAll(1, 2, 3);
    index.beginRefill();
    index.add(change(2));
    index.remove(change(1));
    index.add(change(1)); // a page that was read before the removal
    index.add(change(4));
    index.add(change(3));
    index.endRefill();
    expect([2, 3, 4].map((seq) => index.position(change(seq)))).toEqual([0, 1, 2]);
    expect(index.depth('a/model')).toBe(3);
  });
});

describe('what is held', () => {
  it('keeps its place, and no claim may find it', () => {
    addAll(1, 3);
    index.hold(change(2));
    expect([2, 3].map((seq) => index.position(change(seq)))).toEqual([1, 1]);
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([3, 2, true]);
    expect([1, 2].map((seq) => index.isHeld(change(seq)))).toEqual([false, true]);
    index.release(change(2));
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([3, 3, false]);
  });

  it('is counted by key, until it is let in or leaves, also where it moves', () => {
    const held = [1, 2, 3, 4].map((seq) => change(seq, { start: seq * 1_000, orderKey: seq < 4 ? 7 : 8 }));
    for (const one of held) index.hold(one);
    index.hold(held[0]!);
    expect([...index.heldByKey('a/model')]).toEqual([
      [7, 3],
      [8, 1],
    ]);
    index.release(held[0]!);
    index.remove(held[3]!);
    index.move({ ...held[2]!, from: 3_000, start: 2_500 });
    expect([...index.heldByKey('a/model')]).toEqual([[7, 2]]);
    expect([...index.waitingByKey('a/model')]).toEqual([[7, 3]]);
  });

  it('may have waited before', () => {
    addAll(1, 2);
    index.hold(change(2));
    expect([index.depth('a/model'), index.claimable('a/model')]).toEqual([2, 1]);
  });

  it.each([
    ['removed', () => index.remove(change(1))],
    ['started', () => index.remove(change(1), true)],
  ])('is not held any more once it is %s, whatever comes late', (_, leave) => {
    index.hold(change(1));
    leave();
    index.hold(change(1));
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([0, 0, false]);
  });

  it('is known anew after a refill', () => {
    index.hold(change(1));
    index.hold(change(2));
    index.beginRefill();
    index.add(change(1));
    index.hold(change(2));
    index.hold(change(3));
    index.endRefill();
    expect([index.depth('a/model'), index.claimable('a/model')]).toEqual([3, 1]);
  });
});
