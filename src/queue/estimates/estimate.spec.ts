import { type Estimate, steady } from './estimate.js';

const now = 1_000_000;
const seconds = (from: number, to: number) => ({ fromMs: now + from * 1_000, toMs: now + to * 1_000 });
const shown: Estimate = { start: seconds(90, 110), end: seconds(95, 120) };

it.each<[string, Estimate | undefined, boolean]>([
  ['a change of less than a tenth', { start: seconds(95, 119), end: seconds(100, 125) }, true],
  ['a later start', { start: seconds(90, 125), end: seconds(95, 126) }, false],
  ['a later end', { start: seconds(90, 110), end: seconds(95, 135) }, false],
  ['a start that has come', { start: undefined, end: seconds(95, 120) }, false],
  ['nothing that is known any more', undefined, false],
])('%s', (_, next, isKept) => {
  expect(steady(shown, next, now)).toBe(isKept ? shown : next);
});

it('shows the first estimate, and ignores changes of less than a second near the end', () => {
  expect(steady(undefined, shown, now)).toBe(shown);
  const near = { start: undefined, end: seconds(0, 1) };
  expect(steady(near, { start: undefined, end: seconds(0.9, 1.9) }, now)).toBe(near);
});
