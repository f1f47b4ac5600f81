import { FreedTurns } from './freed-turns.js';

const removed = (count: number, { modelId = 'a/model', priority = 0, orderKey = 1 } = {}) =>
  Array.from({ length: count }, (_, seq) => ({ modelId, priority, orderKey, seq, start: 0, attempt: 0 }));

let freed: FreedTurns;
beforeEach(() => (freed = new FreedTurns()));

it('is due for keys of which several have left, by model and priority', () => {
  freed.note(removed(3), 0);
  freed.note(removed(1, { orderKey: 2 }), 0);
  expect(freed.due(0)).toEqual([]);
  freed.note([...removed(1), ...removed(9, { orderKey: 3 }), ...removed(9, { priority: -5 })], 10);
  expect(freed.due(10)).toEqual([
    { modelId: 'a/model', priority: 0, orderKeys: [1, 3] },
    { modelId: 'a/model', priority: -5, orderKeys: [1] },
  ]);
});

it('forgets a key two seconds after the last one', () => {
  freed.note(removed(9), 0);
  freed.note(removed(1), 1_500);
  expect([freed.due(3_499).length, freed.isEmpty]).toEqual([1, false]);
  expect([freed.due(3_500).length, freed.isEmpty]).toEqual([0, true]);
});
