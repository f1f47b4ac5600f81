import { setImmediate as nextTurn } from 'node:timers/promises';
import { Coalesced } from './coalesced.js';

/** Work that ends on demand. */
function workOf(options?: ConstructorParameters<typeof Coalesced>[1]) {
  const ends: (() => void)[] = [];
  const coalesced = new Coalesced(() => new Promise<void>((end) => ends.push(end)), options);
  return { coalesced, ends };
}

/** Returns whether the promise is settled once all has happened that can happen by itself. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await nextTurn();
  return settled;
}

it('begins at once, one run at a time', async () => {
  const { coalesced, ends } = workOf();
  const asked = coalesced.run();
  expect([ends.length, coalesced.isRunning]).toEqual([1, true]);
  ends[0]!();
  await asked;
  expect([ends.length, coalesced.isRunning]).toEqual([1, false]);
  void coalesced.run();
  expect(ends).toHaveLength(2);
});

it('serves all calls during a run by one more run, and answers all of them after it', async () => {
  const { coalesced, ends } = workOf();
  const asks = [coalesced.run(), coalesced.run(), coalesced.run()];
  expect(ends).toHaveLength(1);
  ends[0]!();
  expect(await isSettled(asks[0]!)).toBe(false);
  expect(ends).toHaveLength(2);
  ends[1]!();
  await Promise.all([...asks, coalesced.ended]);
  expect(ends).toHaveLength(2);
});

it('loses no call, whenever it arrives during the end of a run', async () => {
  for (let ticks = 0; ticks < 10; ticks++) {
    let state = 'old';
    let seen = '';
    const coalesced = new Coalesced(async () => {
      await Promise.resolve();
      seen = state;
    });
    void coalesced.run();
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    state = 'new';
    await coalesced.run();
    expect(seen).toBe('new');
  }
});

it('may be called by its own work', async () => {
  let runs = 0;
  const coalesced = new Coalesced(async () => {
    if (++runs < 3) void coalesced.run();
  });
  await coalesced.run();
  expect([runs, coalesced.isRunning]).toEqual([3, false]);
});

it('serves the calls that it gathers before a run by that run', async () => {
  const { coalesced, ends } = workOf({ gather: () => nextTurn() });
  const asks = [coalesced.run()];
  await Promise.resolve();
  asks.push(coalesced.run());
  expect(ends).toHaveLength(0);
  await nextTurn();
  expect(ends).toHaveLength(1);
  ends[0]!();
  await Promise.all(asks);
  expect(ends).toHaveLength(1);
});

it('reports the end of the last run, even if that run failed', async () => {
  let ended = 0;
  const { coalesced, ends } = workOf({ onEnd: () => ended++ });
  const asked = coalesced.run();
  void coalesced.run();
  ends[0]!();
  expect(await isSettled(asked)).toBe(false);
  expect(ended).toBe(0);
  ends[1]!();
  await asked;
  expect(ended).toBe(1);
  const broken = new Coalesced(() => Promise.reject(new Error('a bug')), { onEnd: () => ended++ });
  await expect(broken.run()).rejects.toThrow('a bug');
  expect([ended, broken.isRunning]).toEqual([2, false]);
});
