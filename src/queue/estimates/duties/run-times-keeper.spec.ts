import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../../../database/database.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Estimates } from '../estimates.js';
import { QueueEvents } from '../../queue-events.js';
import { RunTimesKeeper } from './run-times-keeper.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('reads the run times of other nodes often while requests change, and seldom while idle', async () => {
  let reads = 0;
  const database = { query: () => Promise.resolve((reads++, [])) } as unknown as Database;
  const events = new QueueEvents(new EventEmitter2());
  const cluster = { hasPeers: true } as Cluster;
  const keeper = new RunTimesKeeper(database, cluster, { models: new Map() } as unknown as Estimates, events);
  keeper.start();
  const readsIn = async (seconds: number): Promise<number> => {
    const before = reads;
    for (let second = 0; second < seconds; second++) {
      mock.timers.tick(1_000);
      await nextTurn();
    }
    return reads - before;
  };

  await readsIn(60);
  // Rounds are 48 to 73 s apart.
  expect(await readsIn(720)).toBeLessThanOrEqual(15);

  events.publish({ changed: ['a'] });
  // Rounds are 8 to 13 s apart: one of these reads the run that another node writes.
  expect(await readsIn(45)).toBeGreaterThanOrEqual(3);
  expect(await readsIn(720)).toBeLessThanOrEqual(16);
  await keeper.stop();
});
