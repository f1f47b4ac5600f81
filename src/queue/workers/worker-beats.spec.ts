import { Subject } from 'rxjs';
import type { QueueEvents } from '../queue-events.js';
import type { KnownWorker, KnownWorkers } from './known-workers.js';
import type { LeasedRuns } from './leased-runs.js';
import { WorkerBeats } from './worker-beats.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a beat with many leases whose client leaves before its turn is forgotten at once', async () => {
  const renewals: (() => void)[] = [];
  const renew = (): Promise<object> =>
    new Promise((resolve) => renewals.push(() => resolve({ cancel: false })));
  const beats = new WorkerBeats(
    new Subject() as unknown as QueueEvents,
    { toldChanges: new Subject() } as unknown as KnownWorkers,
    { renew } as unknown as LeasedRuns,
  );
  const worker = { keyId: 'key', told: 'run', answered: 'run', waitingBeats: 0, reportedCancels: new Set() };
  const leases = Array.from({ length: 101 }, (_, n) => ({ id: `run ${n}`, token: 'token', keyId: 'key' }));
  const first = beats.beat(worker as unknown as KnownWorker, leases, 0);
  const second = beats.beat(worker as unknown as KnownWorker, leases, 10_000);
  second.drop();
  expect(renewals).toHaveLength(101);
  for (const renewed of renewals) renewed();
  await first.answer;
  await jest.advanceTimersByTimeAsync(100);
  expect([renewals.length, jest.getTimerCount()]).toEqual([101, 0]);
});
