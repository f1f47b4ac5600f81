import { HolderWatch } from './holder-watch.js';

const other = { id: 'b', beat: 1 };

test('a holder whose beat does not change for 3 s is silent', () => {
  const watch = new HolderWatch();
  for (const now of [0, 1_000, 2_000]) watch.see([other], now);
  expect(watch.silent(2_999)).toEqual([]);
  expect(watch.silent(3_000)).toEqual([other]);
  watch.see([{ id: 'b', beat: 2 }], 3_000);
  expect(watch.silent(5_999)).toEqual([]);
});

test('whoever did not look for 2 s judges nobody by what it saw before', () => {
  const watch = new HolderWatch();
  watch.see([other], 0);
  watch.see([other], 2_001);
  expect(watch.silent(3_500)).toEqual([]);
});

test('one whose row is gone counts as gone from then on, and is forgotten after the longest window', () => {
  const watch = new HolderWatch();
  watch.see([other], 0);
  expect(watch.nodes).toBe(2);
  watch.see([], 1_000);
  expect([watch.nodes, watch.gone(1_500)]).toEqual([1, [{ id: 'b', forMs: 500 }]]);
  watch.noteGone(['b', 'c'], 1_600);
  expect(watch.gone(1_600)).toEqual([
    { id: 'b', forMs: 600 },
    { id: 'c', forMs: 0 },
  ]);
  expect(watch.takeFinished(3_660_000)).toEqual([]);
  expect(watch.takeFinished(3_661_001)).toEqual(['b']);
});
