import { Tombstones } from './tombstones.js';

let now: number;
let restore: () => void;

beforeEach(() => {
  now = 1_000;
  const real = performance.now;
  performance.now = () => now;
  restore = () => (performance.now = real);
});

afterEach(() => restore());

it('knows the highest attempt that was removed, in whatever order they came', () => {
  const tombstones = new Tombstones();
  tombstones.add(7, 2);
  tombstones.add(7, 1);
  expect([tombstones.attempt(7), tombstones.attempt(8)]).toEqual([2, undefined]);
});

it('keeps each for 15 s, also the one that was just before the turn, and then lets it go', () => {
  const tombstones = new Tombstones();
  now += 14_999;
  tombstones.add(7, 2);
  now += 14_999;
  tombstones.add(8, 0);
  expect(tombstones.attempt(7)).toBe(2);
  now += 15_000;
  tombstones.add(9, 0);
  expect([7, 8, 9].map((seq) => tombstones.attempt(seq))).toEqual([undefined, 0, 0]);
});

it('does not lower what an older generation knows', () => {
  const tombstones = new Tombstones();
  tombstones.add(7, 2);
  now += 15_000;
  tombstones.add(7, 1);
  expect(tombstones.attempt(7)).toBe(2);
});
