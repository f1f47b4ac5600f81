import { MessagePace } from './message-pace.js';

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

it('keeps two quiet nodes 24 ms apart, and more nodes further', () => {
  expect(tellAfter(24, 2)).toBe(24);
  expect(pace.apartMs(4)).toBe(48);
  expect(pace.apartMs(50)).toBe(250);
});

it('goes by the changes in a time, however many a message carries', () => {
  expect(tellAfter(50, 25)).toBe(40);
  expect(tellAfter(100, 50)).toBe(40);
  expect(tellAfter(100, 1_000)).toBe(120);
  expect(pace.apartMs(4)).toBe(240);
});

it('is as quick as ever for what comes after a quiet while', () => {
  tellAfter(100, 1_000);
  expect(tellAfter(60_000, 500)).toBe(24);
});

it('takes two messages in one millisecond for one after the other', () => {
  expect(tellAfter(0, 1)).toBe(80);
});
