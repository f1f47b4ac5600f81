import { NotifyThrottle } from './notify-throttle.js';

let now = 0;
let throttle: NotifyThrottle;

beforeEach(() => {
  now = 1_000_000;
  throttle = new NotifyThrottle(() => now);
  throttle.published(1);
});

function intervalAfter(ms: number, changes: number): number {
  now += ms;
  throttle.published(changes);
  return throttle.minIntervalMs(2);
}

it('has an interval of 25 ms at a low rate of changes, for any number of nodes', () => {
  expect(intervalAfter(25, 1)).toBe(25);
  expect(intervalAfter(10_000, 20)).toBe(25);
  expect(throttle.minIntervalMs(50)).toBe(25);
});

it('has an interval that grows with the rate of changes and the number of nodes', () => {
  expect(intervalAfter(50, 25)).toBe(40);
  expect(intervalAfter(100, 50)).toBe(40);
  expect(intervalAfter(100, 1_000)).toBe(120);
  expect([1, 4, 50].map((nodes) => throttle.minIntervalMs(nodes))).toEqual([60, 240, 250]);
});

it('has an interval of 25 ms again after a quiet time', () => {
  intervalAfter(100, 1_000);
  expect(intervalAfter(60_000, 500)).toBe(25);
});

it('treats two messages in one millisecond as successive messages', () => {
  expect(intervalAfter(0, 1)).toBe(80);
});
