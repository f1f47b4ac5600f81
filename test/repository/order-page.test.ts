import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FairQueue, ticksFor } from '../../src/queue/waiting/fair-queue.js';
import type { Order } from '../../src/models/model.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/order.md', import.meta.url)), 'utf8');

/** Returns when each runs: a batch of a thousand of one key, and three of another that come while the third runs. */
function startsOf(order: Order, weight: number): string[] {
  const queue = new FairQueue();
  const waiting: { name: string; start: number; seq: number }[] = [];
  const started: string[] = [];
  const submit = (key: number, name: string, count: number, ticks: number): void => {
    for (let n = 1; n <= count; n++) {
      const entry = { name: `${name}${n}`, start: queue.reserve(key, ticks), seq: waiting.length + 1 };
      waiting.push(entry);
      queue.add(entry, ticks > 0 ? key : 0);
      if (ticks > 0) queue.settle(key, entry.start);
    }
  };
  const start = (): void => {
    const first = queue.first()!;
    started.push(waiting[first.seq - 1]!.name);
    queue.remove(first, true);
  };
  submit(1, 'a', 1_000, ticksFor(order, 1));
  for (let i = 0; i < 3; i++) start();
  submit(2, 'b', 3, ticksFor(order, weight));
  while (queue.size > 0) start();
  return started;
}

test.each<[string, Order, number]>([
  ['arrival ', 'arrival', 1],
  ['fair    ', 'fair', 1],
  ['weight 2', 'fair', 2],
])('the picture of two keys shows the real order: %s', (label, order, weight) => {
  const [, shown] = new RegExp(`^${label} (.*)$`, 'm').exec(page)!;
  const names = shown!.replace('|', ' ').split(' ');
  const gap = names.indexOf('…');
  const starts = startsOf(order, weight);
  expect(starts).toHaveLength(1_003);
  expect(names.slice(0, gap)).toEqual(starts.slice(0, gap));
  expect(names.slice(gap + 1)).toEqual(starts.slice(gap + 1 - names.length));
});
