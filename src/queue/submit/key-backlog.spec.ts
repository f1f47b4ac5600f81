import { KeyBacklog } from './key-backlog.js';

/** A key with `waiting` requests in the database. A count lasts until `held` resolves, if it is given. */
function backlogOf(max: number, state: { waiting: number; counts: number; held?: Promise<void> }) {
  return new KeyBacklog(max, async (onBegin) => {
    onBegin();
    state.counts++;
    const seen = Math.min(max, state.waiting);
    await state.held;
    return seen;
  });
}

test('a backlog admits calls while there is room, and waits for current writes before it refuses', async () => {
  const state = { waiting: 1, counts: 0 };
  const key = backlogOf(3, state);
  const [first, second] = await Promise.all([key.enter(), key.enter()]);
  const third = key.enter();
  const fourth = key.enter();
  // One waits, one has started at once.
  state.waiting++;
  first!();
  second!();
  expect(await third).toBeDefined();
  state.waiting++;
  (await third)!();
  expect(await fourth).toBeUndefined();
});

test('a backlog counts once for concurrent calls, and not again while there is room', async () => {
  const state = { waiting: 0, counts: 0 };
  const key = backlogOf(100, state);
  await Promise.all(Array.from({ length: 50 }, async () => (await key.enter())!()));
  expect(state.counts).toBe(1);
});

test('a call that takes several places does not wait for calls that wait for those places', async () => {
  const state = { waiting: 0, counts: 0 };
  const key = backlogOf(10, state);
  await key.lookFor(20);
  expect(key.room).toBe(10);
  const leaves = Array.from({ length: 10 }, () => key.take());
  const single = key.enter();
  await key.lookFor(20);
  expect(key.room).toBe(0);
  state.waiting = 10;
  for (const leave of leaves) leave();
  expect(await single).toBeUndefined();
});

test('a count that began before a call does not refuse it', async () => {
  let letGo = (): void => undefined;
  const state = { waiting: 1, counts: 0, held: new Promise<void>((resolve) => (letGo = resolve)) };
  const key = backlogOf(1, state);
  const before = key.enter();
  while (state.counts === 0) await Promise.resolve();
  state.waiting = 0;
  const after = key.enter();
  letGo();
  expect(await before).toBeUndefined();
  expect(await after).toBeDefined();
});

test('a failed count rejects the waiting calls with its error, and the next call counts again', async () => {
  let fails = true;
  const key = new KeyBacklog(1, () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(0)));
  await expect(Promise.all([key.enter(), key.enter()])).rejects.toThrow('away');
  fails = false;
  expect(await key.enter()).toBeDefined();
});

test('a failed count also rejects calls that wait for the writes of others', async () => {
  let fails = false;
  const key = new KeyBacklog(2, () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(0)));
  const leaves = await Promise.all([key.enter(), key.enter()]);
  const waiting = Promise.allSettled(Array.from({ length: 5 }, () => key.enter()));
  // They have counted, and wait for the two.
  await key.lookFor(1);
  fails = true;
  for (const leave of leaves) leave!();
  expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
});
