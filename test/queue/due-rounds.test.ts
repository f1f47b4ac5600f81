import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { Promoter } from '../../src/queue/waiting/duties/promoter.js';
import type { Duty } from '../../src/tools/duty.js';
import { Sender } from '../../src/webhooks/duties/sender.js';

/** Something is due in 20 s. */
const query = (): Promise<object[]> => Promise.resolve([{ inMs: 20_000, nextInMs: 20_000, isAnyDue: false }]);
const database = { query };
const events = { subscribe: () => undefined };
const terms = { maxTries: 1, maxTriesOfHost: 1 };

const duties: [string, new (...values: never[]) => Duty, object[]][] = [
  ['scheduled requests and retries', Promoter, [database, events]],
  ['deliveries of webhooks', Sender, [database, {}, terms, {}]],
  ['batches', BatchDriver, [{}, database]],
  ['cancels of closed calls', AbandonedCalls, [database]],
];

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(Math, 'random', () => 0.999);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

test.each(duties)('the longest jitter makes no round of %s late', async (_, type, values) => {
  const duty = Reflect.construct(type, values) as Duty;
  await duty.runOnce();
  duty.start();
  // Some begin their first round at once.
  mock.timers.tick(1);
  await nextTurn();
  const rounds = mock.method(duty, 'runOnce');
  mock.timers.tick(20_200);
  await nextTurn();
  expect(rounds.mock.callCount()).toBe(1);
  await duty.stop();
});

test('a delivery that becomes due between two statements of a round is claimed in the next round', async () => {
  const none = { deliveryId: null, lastHost: null };
  const read = mock.method(database, 'query', () =>
    Promise.resolve([{ ...none, nextInMs: null, isAnyDue: true }]),
  );
  const sender = Reflect.construct(Sender, [database, {}, terms, {}]) as Sender;
  sender.wake();
  await sender.runOnce();
  expect(read.mock.callCount()).toBe(2);
  sender.start();
  mock.timers.tick(100);
  await nextTurn();
  // That round finds nothing to claim, because its delivery has no room. The end of a try wakes the sender.
  expect(read.mock.callCount()).toBe(4);
  mock.timers.tick(1_000);
  await nextTurn();
  expect(read.mock.callCount()).toBe(4);
  await sender.stop();
});

test.each(duties)('a failed round of %s is repeated soon', async (_, type, values) => {
  mock.method(Logger.prototype, 'error', () => undefined);
  const fault = mock.method(database, 'query', () => Promise.reject(new Error('The database is away.')));
  const duty = Reflect.construct(type, values) as Duty;
  duty.start();
  mock.timers.tick(36_000);
  await nextTurn();
  expect([fault.mock.callCount(), duty.failures]).toEqual([1, 1]);
  const rounds = mock.method(duty, 'runOnce');
  mock.timers.tick(3_000);
  expect(rounds.mock.callCount()).toBe(1);
  await duty.stop();
});
