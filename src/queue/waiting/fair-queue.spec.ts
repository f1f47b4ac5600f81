import { FairQueue, orderKeyOf, ticksFor } from './fair-queue.js';

let seq = 0;
let queue: FairQueue;
beforeEach(() => (queue = new FairQueue()));

interface Entry {
  key: number;
  start: number;
  seq: number;
}

/** Adds entries as if they were written and committed. */
function submit(key: number, count = 1, ticks = 1_000): Entry[] {
  return Array.from({ length: count }, () => {
    const entry = { key, start: queue.reserve(key, ticks), seq: ++seq };
    queue.add(entry, key);
    if (ticks > 0) queue.settle(key, entry.start);
    return entry;
  });
}

/** Starts entries in order, and returns their keys. */
function start(entries: Entry[], count = entries.length): number[] {
  const inOrder = entries.toSorted((a, b) => queue.rank(a) - queue.rank(b)).slice(0, count);
  for (const entry of inOrder) queue.remove(entry, true);
  return inOrder.map(({ key }) => key);
}

it('lets keys take turns, whichever key came first', () => {
  const entries = [...submit(1, 4), ...submit(2, 2), ...submit(3)];
  expect(start(entries)).toEqual([1, 2, 3, 1, 2, 1, 1]);
});

it('gives a key of twice the weight two turns for one', () => {
  const entries = [...submit(1, 3), ...submit(2, 6, ticksFor('fair', 2))];
  expect(start(entries)).toEqual([1, 2, 2, 1, 2, 2, 1, 2, 2]);
});

it('places the first request of a new key at the front, however long the others have waited', () => {
  const batch = submit(1, 1_000);
  start(batch, 500);
  const [newcomer] = submit(2);
  expect(queue.rank(newcomer!)).toBe(0);
});

it('does not let a key save turns while it has nothing to start', () => {
  const [some, more] = [submit(1, 100), submit(2, 3)];
  start([...some], 50);
  const later = submit(2, 3);
  expect(start([...some.slice(50), ...more, ...later], 6)).toEqual([2, 2, 2, 2, 1, 2]);
});

it('places a new key at the same start on two nodes, although only one of them saw an empty queue', () => {
  const [here, there] = [new FairQueue(), new FairQueue()];
  const [first, second] = [1, 2].map((key) => ({ key, start: 0, seq: ++seq }));
  for (const queue of [here, there]) queue.add(first!, 1);
  here.remove(first!, true);
  here.add(second!, 2);
  there.add(second!, 2);
  there.remove(first!, true);
  expect([here.reserve(3, 1_000), there.reserve(4, 1_000)]).toEqual([0, 0]);
});

it('orders the requests of one key by arrival', () => {
  const entries = submit(1, 5);
  expect(entries.map((entry) => queue.rank(entry))).toEqual([0, 1, 2, 3, 4]);
});

it('returns the virtual time of a cancelled request, unless a request of its key waits behind it', () => {
  const [first, ...rest] = submit(1, 1_000);
  queue.remove(rest.pop()!, false);
  expect(submit(1)[0]!.start).toBe(rest.at(-1)!.start + 1_000);
  for (const entry of rest.slice(0, 500)) queue.remove(entry, false);
  expect(submit(1)[0]!.start).toBe(rest.at(-1)!.start + 2_000);
  queue = new FairQueue();
  const batch = submit(1, 1_000);
  for (const entry of batch) queue.remove(entry, false);
  expect(submit(1)[0]!.start).toBe(first!.start);
});

it('places the next request as if the cancelled requests had never existed, on each node', () => {
  const [here, there] = [new FairQueue(), new FairQueue()];
  const place = (queue: FairQueue, key: number, count: number): Entry[] =>
    Array.from({ length: count }, () => ({ key, start: queue.reserve(key, 1_000), seq: ++seq }));
  const publish = (queue: FairQueue, entries: Entry[]): void => {
    for (const entry of entries) {
      for (const one of [here, there]) one.add(entry, entry.key);
      queue.settle(entry.key, entry.start);
    }
  };
  publish(here, [...place(here, 2, 3), ...place(here, 1, 2)]);
  // Both nodes place requests of the key before they know of each other's.
  const [some, others] = [place(here, 1, 500), place(there, 1, 500)];
  publish(there, others);
  publish(here, some);
  for (const entry of [...some, ...others]) here.remove(entry, false);
  for (const entry of [...others, ...some].toReversed()) there.remove(entry, false);
  expect([here.reserve(1, 1_000), there.reserve(1, 1_000)]).toEqual([2_000, 2_000]);
});

it('places the next request behind those that are still being written, despite cancellations behind them', () => {
  const front = submit(1, 2);
  expect(queue.reserve(1, 1_000)).toBe(2_000);
  for (const entry of [...front.slice(1), ...submit(1, 5)]) queue.remove(entry, false);
  expect(queue.reserve(1, 1_000)).toBe(3_000);
  // The write of the first one has failed.
  queue.settle(1, 2_000);
  expect(queue.reserve(1, 1_000)).toBe(4_000);
  queue.settle(1, 3_000);
  queue.settle(1, 4_000);
  expect(queue.reserve(1, 1_000)).toBe(1_000);
});

it('counts requests that are still being written', () => {
  const starts = [queue.reserve(1, 1_000), queue.reserve(1, 1_000)];
  expect(starts).toEqual([0, 1_000]);
  queue.settle(1, 0);
  expect(queue.reserve(1, 1_000)).toBe(2_000);
  queue.settle(1, 1_000);
  queue.settle(1, 2_000);
  // None of them was written.
  expect(queue.reserve(1, 1_000)).toBe(0);
});

it('corrects the advantage of a key when two nodes place its requests concurrently', () => {
  const [here, there] = [new FairQueue(), new FairQueue()];
  const place = (queue: FairQueue, count: number): Entry[] =>
    Array.from({ length: count }, () => ({ key: 1, start: queue.reserve(1, 1_000), seq: ++seq }));
  const written = [here, there].map((queue) => place(queue, 5));
  for (const entries of [written[0]!, written[1]!.toReversed()]) {
    for (const queue of [here, there]) for (const entry of entries) queue.add(entry, 1);
  }
  for (const queue of [here, there]) for (const { start } of written[0]!) queue.settle(1, start);
  const next = place(there, 1)[0]!;
  expect([here.reserve(1, 1_000), next.start]).toEqual([10_000, 10_000]);
  here.settle(1, 10_000);
  here.add(next, 1);
  // An entry that returns is not another one.
  here.remove(written[0]![0]!, true);
  here.add(written[0]![0]!, 1, false);
  expect(here.reserve(1, 1_000)).toBe(11_000);
});

it('places requests of the order by arrival behind requests from before that order', () => {
  submit(1, 3);
  const entries = [...submit(2, 1, 0), ...submit(1, 1, 0), ...submit(2, 1, 0)];
  expect(entries.map((entry) => queue.rank(entry))).toEqual([3, 4, 5]);
});

it('continues from the state of the queue that it replaces', () => {
  start(submit(1, 10));
  const reserved = queue.reserve(1, 1_000);
  const next = new FairQueue();
  next.adopt(queue);
  expect([next.time, next.reserve(1, 1_000), next.reserve(2, 1_000)]).toEqual([
    9_000,
    reserved + 1_000,
    9_000,
  ]);
});

it('forgets keys once virtual time has reached their next turn', () => {
  const busy = submit(1, 10_000);
  for (let key = 2; key <= 50_000; key++) {
    const one = submit(key);
    start(one);
    if (key % 10 === 0) start(busy.splice(0, 1));
  }
  expect(queue.known).toBeLessThan(2_000);
});

it('starts all keys equally once no request waits', () => {
  const entries = [...submit(1, 10), ...submit(2)];
  start(entries);
  expect([queue.known, queue.time, queue.reserve(1, 1_000), queue.reserve(2, 1_000)]).toEqual([
    0, 9_000, 9_000, 9_000,
  ]);
});

it('derives the same order key from an id as the database', () => {
  expect(orderKeyOf('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(0xb302099a8057);
});

it('finds the first entry that is not held, however many are held before and behind it', () => {
  const entries = submit(1, 6, 0);
  expect(queue.firstClaimable()).toMatchObject({ seq: entries[0]!.seq });
  for (const at of [0, 1, 2, 4]) queue.held.add(entries[at]!.start, entries[at]!.seq, 1);
  expect(queue.firstClaimable()).toMatchObject({ seq: entries[3]!.seq });
  for (const at of [3, 5]) queue.held.add(entries[at]!.start, entries[at]!.seq, 1);
  expect(queue.firstClaimable()).toBe(undefined);
  expect(new FairQueue().firstClaimable()).toBe(undefined);
});

it('estimates the number of entries below a seq to within one', () => {
  const entries = submit(1, 100, 0);
  const middle = entries[50]!.seq;
  expect([queue.older(entries[0]!.seq), queue.older(seq + 1)]).toEqual([0, 100]);
  expect(Math.abs(queue.older(middle) - 50)).toBeLessThanOrEqual(1);
});
