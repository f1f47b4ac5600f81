import { type LineChange, Lines } from './waiting-index.js';

const change = (seq: number, more: Partial<LineChange> = {}): LineChange => ({
  modelId: 'a/model',
  priority: 0,
  seq,
  attempt: 0,
  ...more,
});

let lines: Lines;
beforeEach(() => (lines = new Lines()));

function enter(...seqs: number[]): void {
  for (const seq of seqs) lines.enter(change(seq));
}

it('gives the front of a line position 0', () => {
  enter(5, 6, 7);
  expect([5, 6, 7].map((seq) => lines.position(change(seq)))).toEqual([0, 1, 2]);
});

it('does not depend on the order in which entries arrive', () => {
  enter(7, 5, 6);
  expect([5, 6, 7].map((seq) => lines.position(change(seq)))).toEqual([0, 1, 2]);
});

it('moves everyone up when somebody ahead leaves', () => {
  enter(1, 2, 3);
  lines.leave(change(2));
  expect(lines.position(change(3))).toBe(1);
  lines.leave(change(1));
  expect(lines.position(change(3))).toBe(0);
});

it('puts a lower priority number ahead, whenever it came', () => {
  enter(1, 2);
  lines.enter(change(3, { priority: -5 }));
  lines.enter(change(4, { priority: 5 }));
  expect(lines.position(change(1))).toBe(1);
  expect(lines.position(change(3, { priority: -5 }))).toBe(0);
  expect(lines.position(change(4, { priority: 5 }))).toBe(3);
});

it('keeps the models apart', () => {
  enter(1, 2);
  lines.enter(change(3, { modelId: 'another/model' }));
  expect(lines.position(change(3, { modelId: 'another/model' }))).toBe(0);
  expect(Object.fromEntries(lines.depths())).toEqual({ 'a/model': 2, 'another/model': 1 });
});

it('counts an entry once, however often it is told', () => {
  enter(1, 1, 1, 2);
  expect(lines.depth('a/model')).toBe(2);
});

it('does not let an entry come back by a message that is late', () => {
  lines.leave(change(1));
  lines.enter(change(1));
  expect(lines.depth('a/model')).toBe(0);
});

it('lets a request back in for its next attempt, at its old place', () => {
  enter(1, 2);
  lines.leave(change(1));
  lines.enter(change(1, { attempt: 1 }));
  expect([1, 2].map((seq) => lines.position(change(seq)))).toEqual([0, 1]);
  lines.enter(change(1));
  expect(lines.depth('a/model')).toBe(2);
});

it('forgets a line that is empty', () => {
  enter(1);
  lines.leave(change(1));
  expect(lines.depths().size).toBe(0);
});

describe('being filled anew', () => {
  it('answers from the old entries until the new ones are complete', () => {
    enter(1, 2);
    lines.beginRefill();
    expect(lines.position(change(2))).toBe(1);
    lines.enter(change(2));
    lines.endRefill();
    expect(lines.position(change(2))).toBe(0);
  });

  it('follows the changes of the meantime', () => {
    enter(1, 2, 3);
    lines.beginRefill();
    lines.enter(change(2));
    lines.leave(change(1));
    lines.enter(change(1)); // a page that was read before it left
    lines.enter(change(4));
    lines.enter(change(3));
    lines.endRefill();
    expect([2, 3, 4].map((seq) => lines.position(change(seq)))).toEqual([0, 1, 2]);
    expect(lines.depth('a/model')).toBe(3);
  });
});
