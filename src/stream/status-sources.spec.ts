import type { QueueService } from '../queue/queue.service.js';
import type { StatusRow } from '../queue/status-row.js';
import { StatusSources } from './status-sources.js';

const { jest } = import.meta;
const streams = 12_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('sends 5,000 positions a second at most, and each in its turn', async () => {
  let position = 1;
  const row = (id: number): StatusRow =>
    ({ id: String(id), state: 'IN_QUEUE', attempt: 0, lastEventId: 1 }) as StatusRow;
  const queue = { position: () => position, status: (id: string) => Promise.resolve(row(Number(id))) };
  const sources = new StatusSources(queue as unknown as QueueService);
  const received = new Map<string, number>();
  let sent = 0;
  for (let id = 0; id < streams; id++) {
    sources.watch(row(id)).subscribe((snapshot) => {
      received.set(snapshot.row.id, snapshot.position);
      sent++;
    });
  }
  await jest.advanceTimersByTimeAsync(1_000);
  position = 0;
  sent = 0;
  const perSecond: number[] = [];
  for (let second = 0; second < 3; second++) {
    await jest.advanceTimersByTimeAsync(1_000);
    perSecond.push(sent);
    sent = 0;
  }
  expect(Math.max(...perSecond)).toBe(5_000);
  expect(new Set(received.values())).toEqual(new Set([0]));
  sources.closeAll();
});
