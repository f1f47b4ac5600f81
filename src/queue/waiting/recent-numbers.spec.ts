import { RecentNumbers } from './recent-numbers.js';

let now: number;
let restore: () => void;

beforeEach(() => {
  now = 1_000;
  const real = performance.now;
  performance.now = () => now;
  restore = () => (performance.now = real);
});

afterEach(() => restore());

it('knows the highest number of each entry, in any order of arrival', () => {
  const numbers = new RecentNumbers();
  numbers.add(7, 2);
  numbers.add(7, 1);
  expect([numbers.get(7), numbers.get(8)]).toEqual([2, undefined]);
});

it('remembers each number for 15 s, even one from just before the change of generations, and then forgets it', () => {
  const numbers = new RecentNumbers();
  now += 14_999;
  numbers.add(7, 2);
  now += 14_999;
  numbers.add(8, 0);
  expect(numbers.get(7)).toBe(2);
  now += 15_000;
  numbers.add(9, 0);
  expect([7, 8, 9].map((seq) => numbers.get(seq))).toEqual([undefined, 0, 0]);
});

it('does not lower a number of an older generation', () => {
  const numbers = new RecentNumbers();
  numbers.add(7, 2);
  now += 15_000;
  numbers.add(7, 1);
  expect(numbers.get(7)).toBe(2);
});
