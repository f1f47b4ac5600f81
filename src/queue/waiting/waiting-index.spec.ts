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

it.each([[[5, 6, 7]], [[7, 5, 6]]])(
  'assigns position 0 to the front, whatever the order of arrival: %j',
  (seqs) => {
    addAll(...seqs);
    expect([5, 6, 7].map((seq) => index.position(change(seq)))).toEqual([0, 1, 2]);
  },
);

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

it('counts a held entry only for other held entries, until it is released', () => {
  const [first, second, third] = [1, 2, 3].map((seq) => change(seq, { start: seq * 1_000 }));
  index.hold(first!);
  index.hold(second!);
  index.add(third!);
  index.add(change(4, { priority: 5 }));
  const positions = () =>
    [first!, second!, third!, change(4, { priority: 5 })].map((one) => index.position(one));
  expect(positions()).toEqual([0, 1, 0, 1]);
  index.release(first!);
  expect(positions()).toEqual([0, 1, 1, 2]);
  index.remove(second!);
  expect(positions()).toEqual([0, 1, 1, 2]);
  index.remove(first!, true);
  expect(positions()).toEqual([0, 0, 0, 1]);
});

describe('during a refill', () => {
  it('answers from the old entries until the new ones are complete', () => {
    addAll(1, 2);
    index.beginRefill();
    expect(index.position(change(2))).toBe(1);
    index.add(change(2));
    index.endRefill();
    expect(index.position(change(2))).toBe(0);
  });

  it('does not charge a key for older entries that are read after a new one', () => {
    const [model, key] = ['a/model', 7];
    const entry = (seq: number) => change(seq, { start: seq * 1_000, orderKey: key });
    index.beginRefill();
    index.add(entry(9));
    for (let seq = 0; seq < 9; seq++) index.add(entry(seq), true);
    expect(index.reserve(model, 0, key, 1_000)).toBe(10_000);
    index.settle(model, 0, key, 10_000);
    index.endRefill();
    expect(index.reserve(model, 0, key, 1_000)).toBe(10_000);
  });

  it('applies the changes that arrive meanwhile', () => {
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

describe('a held entry', () => {
  it('retains its place, and is not claimable', () => {
    addAll(1, 3);
    index.hold(change(2));
    expect([2, 3].map((seq) => index.position(change(seq)))).toEqual([1, 1]);
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([3, 2, true]);
    expect([1, 2].map((seq) => index.isHeld(change(seq)))).toEqual([false, true]);
    index.release(change(2));
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([3, 3, false]);
  });

  it('is counted by key until it is released or removed', () => {
    const held = [1, 2, 3, 4].map((seq) => change(seq, { start: seq * 1_000, orderKey: seq < 4 ? 7 : 8 }));
    for (const one of held) index.hold(one);
    index.hold(held[0]!);
    expect([...index.heldByKey('a/model')]).toEqual([
      [7, 3],
      [8, 1],
    ]);
    index.release(held[0]!);
    index.remove(held[3]!);
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
  ])('is no longer held once it is %s, even if a late message holds it', (_, leave) => {
    index.hold(change(1));
    leave();
    index.hold(change(1));
    expect([index.depth('a/model'), index.claimable('a/model'), index.holdsAny]).toEqual([0, 0, false]);
  });

  it('is known again after a refill', () => {
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
