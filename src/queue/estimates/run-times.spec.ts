import { RunTimes } from './run-times.js';

let times: RunTimes;
beforeEach(() => (times = new RunTimes(100)));

function addAll(count: number, ms: number): void {
  for (let i = 0; i < count; i++) times.add(ms);
}

it('is unknown after fewer than five runs', () => {
  addAll(4, 1_000);
  expect(times.isKnown).toBe(false);
  times.add(1_000);
  expect(times.isKnown).toBe(true);
});

it('knows the length of equal runs to within one bucket', () => {
  addAll(10, 1_000);
  const [from, to] = times.mostMs;
  expect([times.meanMs, times.variation]).toEqual([1_000, 0]);
  expect(from).toBeGreaterThan(1_000 / 1.1);
  expect(to).toBeLessThan(1_000 * 1.1);
});

it('predicts the remaining time of a run that takes longer than most', () => {
  addAll(80, 1_000);
  addAll(20, 20_000);
  expect(times.mostMs[0] / 1_000).toBeCloseTo(1, 0);
  expect(times.mostLeftMs(5_000)![0] / 20_000).toBeCloseTo(1, 0);
  expect(times.mostLeftMs(60_000)).toBeUndefined();
});

it('weights newer runs more than older runs', () => {
  addAll(1_000, 1_000);
  addAll(300, 4_000);
  expect(times.meanMs).toBeGreaterThan(3_500);
});

it('forgets the longest run once many times as many runs as count have been shorter', () => {
  times.add(3_600_000);
  addAll(2_000, 1_000);
  expect(times.longestMs).toBeLessThan(1_000 * 1.1);
});

it('knows the longest run although rounding makes the sum of the weights too large', () => {
  times.set({ weights: [0.1, 0.2, 0.3], sumMs: 1, squares: 1 });
  expect(times.longestMs).toBeCloseTo(2 ** (3 / 8), 10);
});

it('accepts runs of no time and of a day', () => {
  addAll(5, 0);
  addAll(5, 86_400_000);
  expect(times.count).toBe(10);
});

describe('sharing with other nodes', () => {
  it('hands each run out once, and again if it could not be written', () => {
    addAll(5, 1_000);
    const taken = times.take()!;
    expect(times.take()).toBeUndefined();
    times.giveBack(taken);
    expect(times.take()).toEqual(taken);
    expect(times.count).toBe(5);
  });

  it('adopts the runs that all nodes have written, and retains its newer runs', () => {
    addAll(5, 1_000);
    const taken = times.take()!;
    addAll(2, 3_000);
    const { weights, sumMs, squares } = taken;
    times.set({ weights: weights.map((weight) => 2 * weight), sumMs: 2 * sumMs, squares: 2 * squares });
    expect([times.count, times.meanMs]).toEqual([12, 16_000 / 12]);
  });
});
