import { ticksOfWeight1 } from '../waiting/fair-queue.js';
import { type Interval, ModelEstimates } from './model-estimates.js';

const turns = (count: number): number => count * ticksOfWeight1;
const middle = ({ from, to }: Interval): number => (from + to) / 2;

function knowing(slots: number, runMs: readonly number[]): ModelEstimates {
  const estimates = new ModelEstimates(slots);
  for (const ms of runMs) estimates.runTimes.add(ms);
  return estimates;
}

const always = (ms: number): number[] => Array<number>(20).fill(ms);
const mixed = Array.from({ length: 50 }, (_, i) => 500 + i * 60);
const behind = (position: number) => ({ position, priority: 0, start: turns(position), longestOtherMs: 0 });
const span = { time: 0, last: turns(100) };

it('makes no estimate for a model with too few known runs', () => {
  const estimates = knowing(1, [1_000, 1_000, 1_000, 1_000]);
  expect([estimates.startIn(behind(3), span, 0), estimates.endOfRunIn(10)]).toEqual([undefined, undefined]);
});

it('predicts the next starts from the current run if all runs take the same time', () => {
  const estimates = knowing(1, always(10_000));
  estimates.runBegan(1_000);
  const [next, fourth] = [0, 3].map((position) => estimates.startIn(behind(position), span, 5_000)!);
  expect([middle(next!), middle(fourth!)]).toEqual([6_000, 36_000]);
  expect(fourth!.from).toBeLessThan(36_000);
});

it('makes no estimate once a run takes far longer than any before', () => {
  const estimates = knowing(1, always(10_000));
  estimates.runBegan(0);
  expect([15_000, 18_000].map((now) => estimates.startIn(behind(3), span, now) !== undefined)).toEqual([
    true,
    false,
  ]);
});

it('divides the wait by the number of slots', () => {
  const [one, four] = [1, 4].map((slots) => middle(knowing(slots, mixed).startIn(behind(40), span, 0)!));
  expect(one! / four!).toBeCloseTo(4);
});

it('is relatively wider near the front than far behind', () => {
  const estimates = knowing(4, mixed);
  const [near, far] = [4, 80].map((position) => estimates.startIn(behind(position), span, 0)!);
  const part = ({ from, to }: Interval): number => (to - from) / (to + from);
  expect(part(near!)).toBeGreaterThan(2 * part(far!));
});

it('learns how often other requests overtake, and how far from the front', () => {
  const estimates = knowing(4, mixed);
  const before = [10, 80].map((position) => middle(estimates.startIn(behind(position), span, 0)!));
  // One a second, forty turns from the front.
  for (let now = 0; now < 120_000; now += 1_000) estimates.added(0, [turns(40)], span, now);
  const after = [10, 80].map((position) => middle(estimates.startIn(behind(position), span, 120_000)!));
  expect(after[0]).toBeCloseTo(before[0]!);
  expect(after[1]! / before[1]!).toBeGreaterThan(1.2);
});

it('does not treat a batch as requests that overtake each other', () => {
  const estimates = knowing(4, mixed);
  const before = estimates.startIn(behind(80), span, 0);
  const starts = Array.from({ length: 1_000 }, (_, i) => turns(i));
  estimates.added(0, starts, { time: 0, last: turns(999) }, 0);
  expect(estimates.startIn(behind(80), span, 0)).toEqual(before);
});

it('expects further requests of higher priority', () => {
  const estimates = knowing(4, mixed);
  const before = middle(estimates.startIn(behind(80), span, 0)!);
  for (let now = 0; now < 60_000; now += 1_000) estimates.added(-1, [0], { time: 0, last: 0 }, now);
  expect(middle(estimates.startIn(behind(80), span, 60_000)!) / before).toBeGreaterThan(1.3);
  expect(middle(estimates.startIn({ ...behind(80), priority: -1 }, span, 60_000)!)).toBeCloseTo(before);
});

it('predicts the end of a waiting request and of a run that already takes long', () => {
  const estimates = knowing(1, [...always(1_000), ...always(20_000)]);
  const { from, to } = estimates.endIn({ from: 100, to: 200 });
  expect([from > 1_000, to < 22_000]).toEqual([true, true]);
  expect(estimates.endOfRunIn(5_000)!.from).toBeGreaterThan(13_000);
});
