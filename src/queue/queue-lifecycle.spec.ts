import type { ModuleRef } from '@nestjs/core';
import type { Config } from '../config/config.js';
import type { ClusterMessages } from './cluster/cluster-messages.js';
import type { ControlKeeper } from './cluster/duties/control-keeper.js';
import type { Heartbeat } from './cluster/duties/heartbeat.js';
import type { SlotKeeper } from './cluster/duties/slot-keeper.js';
import { QueueLifecycle } from './queue-lifecycle.js';
import type { PartitionKeeper } from './retention/duties/partition-keeper.js';
import type { Scheduler } from './runs/duties/scheduler.js';
import type { Runs } from './runs/runs.js';
import type { IndexSync } from './waiting/duties/index-sync.js';
import type { Releaser } from './waiting/duties/releaser.js';

const done = async (): Promise<void> => undefined;

/** A lifecycle whose only duty is given, however often. */
function lifecycleWith(duty: object, releaser: { runOnce: () => Promise<void> }): QueueLifecycle {
  const heartbeat = { join: done, start: done, stop: done, announceStop: done };
  return new QueueLifecycle(
    { role: 'all' } as Config,
    { start: done, stop: done } as unknown as ClusterMessages,
    { refill: done } as unknown as IndexSync,
    { size: 0, abortAll: () => undefined } as unknown as Runs,
    heartbeat as unknown as Heartbeat,
    { runOnce: done } as unknown as SlotKeeper,
    { stop: done } as unknown as Scheduler,
    { runOnce: done, publish: done } as unknown as ControlKeeper,
    { runOnce: done } as unknown as PartitionKeeper,
    releaser as unknown as Releaser,
    { get: () => duty } as unknown as ModuleRef,
  );
}

test('a stopping node stops its duties together, so that none waits for the last round of another', async () => {
  let running = 0;
  let endAll: () => void;
  const allStopped = new Promise<void>((resolve) => (endAll = resolve));
  const duty = {
    start: () => running++,
    // Ends only when every other duty has been stopped as well.
    stop: () => {
      if (--running === 0) endAll();
      return allStopped;
    },
  };
  const lifecycle = lifecycleWith(duty, { runOnce: done });
  await lifecycle.onApplicationBootstrap();
  expect(running).toBeGreaterThan(10);
  await lifecycle.drain(new AbortController().signal);
  expect(running).toBe(0);
});

test('a node starts although the bounds of keys cannot be applied yet', async () => {
  let running = 0;
  const duty = { start: () => running++, stop: done };
  const fails = { runOnce: () => Promise.reject(new Error('the statement took too long')) };
  await lifecycleWith(duty, fails).onApplicationBootstrap();
  expect(running).toBeGreaterThan(10);
});
