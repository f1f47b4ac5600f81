import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Duty } from './duty.js';

class TestDuty extends Duty {
  protected readonly intervalMs = 30_000;
  protected override readonly shortestPauseMs = 100;
  rounds = 0;
  nextDueInMs = Infinity;

  runOnce(): Promise<void> {
    this.rounds++;
    return Promise.resolve();
  }

  protected override dueInMs(): number {
    return this.nextDueInMs;
  }

  expect(ms: number): void {
    this.nextDueInMs = ms;
    this.scheduleWithin(this.intervalMs);
  }
}

let duty: TestDuty;
beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  duty = new TestDuty();
});
afterEach(async () => {
  await duty.stop();
  mock.timers.reset();
  mock.restoreAll();
});

async function pass(ms: number): Promise<number> {
  mock.timers.tick(ms);
  await nextTurn();
  return duty.rounds;
}

describe.each([0, 0.999])('with a jitter of %d', (random) => {
  beforeEach(() => mock.method(Math, 'random', () => random));

  test('one round begins when something is due, and at most the shortest pause later', async () => {
    duty.nextDueInMs = 20_000;
    duty.start();
    expect(await pass(19_999)).toBe(0);
    duty.nextDueInMs = Infinity;
    expect(await pass(101)).toBe(1);
    expect(await pass(23_000)).toBe(1);
  });

  test('what becomes known later begins a round as exactly', async () => {
    duty.start();
    duty.expect(10_000);
    duty.expect(10_000);
    expect(await pass(9_999)).toBe(0);
    expect(await pass(101)).toBe(1);
  });

  test('what is due already waits for the shortest pause', async () => {
    duty.nextDueInMs = -5;
    duty.start();
    expect(await pass(99)).toBe(0);
    expect(await pass(1)).toBe(1);
  });
});
