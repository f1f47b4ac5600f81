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
    if (ticks > 0) queue.settle(key);
    return entry;
  });
}

/** Starts entries in order, and returns their keys. */
function start(entries: Entry[], count = entries.length): number[] {
  const inOrder = entries.toSorted((a, b) => queue.rank(a) - queue.rank(b)).slice(0, count);
  for (const entry of inOrder) queue.remove(entry, true);
  return inOrder.map(({ key }) => key);
}

it('lets keys take turns, whoever came first', () => {
  const entries = [...submit(1, 4), ...submit(2, 2), ...submit(3)];
  expect(start(entries)).toEqual([1, 2, 3, 1, 2, 1, 1]);
});

it('gives a key of twice the weight two turns for one', () => {
  const entries = [...submit(1, 3), ...submit(2, 6, ticksFor('fair', 2))];
  expect(start(entries)).toEqual([1, 2, 2, 1, 2, 2, 1, 2, 2]);
});

it('lets a newcomer in behind what is started next, however long the others have waited', () => {
  const batch = submit(1, 1_000);
  start(batch, 500);
  const [newcomer] = submit(2);
  expect(queue.rank(newcomer!)).toBe(0);
});

it('does not let a key save turns while it has nothing to do', () => {
  const [some, more] = [submit(1, 100), submit(2, 3)];
  start([...some], 50);
  const later = submit(2, 3);
  expect(start([...some.slice(50), ...more, ...later], 6)).toEqual([2, 2, 2, 2, 1, 2]);
});

it('takes a newcomer in where another node does, though only one of them saw that nothing waited', () => {
  const [here, there] = [new FairQueue(), new FairQueue()];
  const [first, second] = [1, 2].map((key) => ({ key, start: 0, seq: ++seq }));
  for (const queue of [here, there]) queue.add(first!, 1);
  here.remove(first!, true);
  here.add(second!, 2);
  there.add(second!, 2);
  there.remove(first!, true);
  expect([here.reserve(3, 1_000), there.reserve(4, 1_000)]).toEqual([0, 0]);
});

it('keeps one key in the order of arrival', () => {
  const entries = submit(1, 5);
  expect(entries.map((entry) => queue.rank(entry))).toEqual([0, 1, 2, 3, 4]);
});

it('gives back the time of what is cancelled, unless something of the key waits behind it', () => {
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

it('moves up what waits behind turns that were given back', () => {
  const [batch, behind, other] = [submit(1, 1_000), submit(1, 3), submit(2, 3)];
  start(batch, 2);
  const advances = (max = 10): (number | undefined)[][] =>
    queue.advances(new Map([[1, 1_000]]), max).map(({ seq, from, start }) => [seq, from, start]);
  expect(advances()).toEqual([]);
  for (const entry of batch.slice(3, -1)) queue.remove(entry, false);
  const rest = [batch.at(-1)!, ...behind];
  const places = rest.map(({ seq, start }, i) => [seq, start, 3_000 + 1_000 * i]);
  expect(advances()).toEqual(places);
  expect(advances(2)).toEqual(places.slice(0, 2));
  for (const { seq, from, start, key } of queue.advances(new Map([[1, 1_000]]), 10))
    queue.move({ seq, start }, from, key);
  expect(advances()).toEqual([]);
  expect(submit(1)[0]!.start).toBe(7_000);
  const order = [batch[2]!, ...rest.map((entry, i) => ({ ...entry, start: 3_000 + 1_000 * i }))];
  expect(start([...order, ...other])).toEqual([2, 2, 1, 2, 1, 1, 1, 1]);
});

it('counts each turn that a key gave back, however they lie, and goes by the weight that it has', () => {
  const entries = submit(1, 20, 500);
  for (const [i, entry] of entries.entries()) if (i % 2 === 0) queue.remove(entry, false);
  const starts = queue.advances(new Map([[1, 500]]), 99).map(({ start }) => start);
  expect(starts).toEqual(Array.from({ length: 10 }, (_, i) => i * 500));
});

it('leaves alone what came back, and what has no turn of its own', () => {
  const [came, ...rest] = submit(1, 4);
  submit(2, 4);
  queue.remove(came!, true);
  queue.add(came!, 1, false);
  const twice = { start: rest[0]!.start, seq: ++seq };
  queue.add(twice, 1);
  queue.remove(rest[1]!, false);
  // Two entries share one place, and one of them has the turn of the removed entry.
  expect(queue.advances(new Map([[1, 1_000]]), 9)).toEqual([]);
});

it('lets nothing pass what is still being written', () => {
  const front = submit(1, 6);
  const start = queue.reserve(1, 1_000);
  const behind = submit(1, 2);
  for (const entry of front.slice(1, 5)) queue.remove(entry, false);
  const moves = (): number[][] =>
    queue.advances(new Map([[1, 1_000]]), 9).map((one) => [one.seq, one.from, one.start]);
  const [first, second, third] = [front[5]!.seq, behind[0]!.seq, behind[1]!.seq];
  expect(moves()).toEqual([[first, 5_000, 1_000]]);
  const written = ++seq;
  queue.add({ start, seq: written }, 1);
  queue.settle(1);
  expect(moves()).toEqual([
    [first, 5_000, 1_000],
    [written, 6_000, 2_000],
    [second, 7_000, 3_000],
    [third, 8_000, 4_000],
  ]);
});

it('counts what is still being written', () => {
  const starts = [queue.reserve(1, 1_000), queue.reserve(1, 1_000)];
  expect(starts).toEqual([0, 1_000]);
  queue.settle(1);
  expect(queue.reserve(1, 1_000)).toBe(2_000);
  queue.settle(1);
  queue.settle(1);
  // None of them was written.
  expect(queue.reserve(1, 1_000)).toBe(0);
});

it('takes back what a key gains where nodes place its requests without knowing of each other', () => {
  const [here, there] = [new FairQueue(), new FairQueue()];
  const place = (queue: FairQueue, count: number): Entry[] =>
    Array.from({ length: count }, () => ({ key: 1, start: queue.reserve(1, 1_000), seq: ++seq }));
  const written = [here, there].map((queue) => place(queue, 5));
  for (const entries of [written[0]!, written[1]!.toReversed()]) {
    for (const queue of [here, there]) for (const entry of entries) queue.add(entry, 1);
  }
  for (const queue of [here, there]) for (let i = 0; i < 5; i++) queue.settle(1);
  const next = place(there, 1)[0]!;
  expect([here.reserve(1, 1_000), next.start]).toEqual([10_000, 10_000]);
  here.settle(1);
  here.add(next, 1);
  // An entry that returns is not another one.
  here.remove(written[0]![0]!, true);
  here.add(written[0]![0]!, 1, false);
  expect(here.reserve(1, 1_000)).toBe(11_000);
});

it('goes by arrival where the order says so, behind what was submitted while it did not', () => {
  submit(1, 3);
  const entries = [...submit(2, 1, 0), ...submit(1, 1, 0), ...submit(2, 1, 0)];
  expect(entries.map((entry) => queue.rank(entry))).toEqual([3, 4, 5]);
});

it('goes on from what it replaces', () => {
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

it('forgets keys whose turn has come again', () => {
  const busy = submit(1, 10_000);
  for (let key = 2; key <= 50_000; key++) {
    const one = submit(key);
    start(one);
    if (key % 10 === 0) start(busy.splice(0, 1));
  }
  expect(queue.known).toBeLessThan(2_000);
});

it('holds nothing against anybody once nothing waits', () => {
  const entries = [...submit(1, 10), ...submit(2)];
  start(entries);
  expect([queue.known, queue.time, queue.reserve(1, 1_000), queue.reserve(2, 1_000)]).toEqual([
    0, 9_000, 9_000, 9_000,
  ]);
});

it('gets the same order key of an id as the database', () => {
  expect(orderKeyOf('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(0xb302099a8057);
});
