import { MessagePace } from './notify-throttle.js';

let now = 0;
let pace: MessagePace;

beforeEach(() => {
  now = 1_000_000;
  pace = new MessagePace(() => now);
  pace.told(1);
});

function tellAfter(ms: number, changes: number): number {
  now += ms;
  pace.told(changes);
  return pace.apartMs(2);
}

it('is 25 ms where little is going on, however many nodes there are', () => {
  expect(tellAfter(25, 1)).toBe(25);
  expect(tellAfter(10_000, 20)).toBe(25);
  expect(pace.apartMs(50)).toBe(25);
});

it('goes by the changes in a time and the nodes, however many a message carries', () => {
  expect(tellAfter(50, 25)).toBe(40);
  expect(tellAfter(100, 50)).toBe(40);
  expect(tellAfter(100, 1_000)).toBe(120);
  expect([1, 4, 50].map((nodes) => pace.apartMs(nodes))).toEqual([60, 240, 250]);
});

it('is as quick as ever for what comes after a quiet while', () => {
  tellAfter(100, 1_000);
  expect(tellAfter(60_000, 500)).toBe(25);
});

it('takes two messages in one millisecond for one after the other', () => {
  expect(tellAfter(0, 1)).toBe(80);
});
