import { ModernFakeTimers } from '@jest/fake-timers';
import { addEventHandler } from 'jest-circus';
import { cleanUpAfterFile } from './after-each-file.ts';

/** What jest-light-runner leaves out of Jest: time limits, and timers that are advanced asynchronously. */
const { setTimeout, clearTimeout } = globalThis;
const testTimeout = Number(process.env.TEST_TIMEOUT);

// What a failed test left running does not keep the process.
process.once('disconnect', () => process.exit());

const first = { type: 'afterAll', fn: () => cleanUpAfterFile('first') };
const last = { type: 'afterAll', fn: () => cleanUpAfterFile('last') };

addEventHandler((event, { rootDescribeBlock: root, currentDescribeBlock: block }) => {
  if (event.name === 'add_test') limit(block.tests.at(-1), event.testName);
  if (event.name === 'add_hook') limit(block.hooks.at(-1), event.hookType);
  root.hooks = [first, ...root.hooks.filter((hook) => hook !== first && hook !== last), last];
});

function limit(entry, name) {
  const { fn, timeout = testTimeout } = entry;
  if (fn === undefined) return;
  entry.fn = () => {
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error(`${name} took longer than ${timeout} ms`)), timeout);
    });
    return Promise.race([(async () => fn())(), late]).finally(() => clearTimeout(timer));
  };
}

// Node's own streams and fetch run on microtasks and ticks of the same global: those stay real.
const fakeTimers = { doNotFake: ['nextTick', 'queueMicrotask'] };
const timers = new ModernFakeTimers({ global: globalThis, config: { fakeTimers } });
for (const name of [
  'useFakeTimers',
  'useRealTimers',
  'advanceTimersByTime',
  'advanceTimersByTimeAsync',
  'runAllTimersAsync',
  'getTimerCount',
]) {
  globalThis.jest[name] = timers[name].bind(timers);
}
