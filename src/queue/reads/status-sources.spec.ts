import { Clock } from '../../database/clock.js';
import type { QueueService } from '../queue.service.js';
import type { StatusRow } from './status-row.js';
import { StatusSources, stepsBetween } from './status-sources.js';

const streams = 12_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('sends at most 5,000 positions a second, to all streams in turn', async () => {
  let position = 1;
  const row = (id: number): StatusRow =>
    ({ id: String(id), state: 'IN_QUEUE', attempt: 0, lastEventId: 1 }) as StatusRow;
  const queue = {
    waiting: () => ({ position, reason: 'busy' }),
    snapshot: (of: StatusRow) => ({ row: of, position, reason: 'busy' }),
    status: (id: string) => Promise.resolve(row(Number(id))),
  };
  const sources = new StatusSources(queue as unknown as QueueService, new Clock());
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

it('sends a new end of a run once the estimate differs by more than a tenth', async () => {
  const running = row('IN_PROGRESS', 1);
  const clock = new Clock();
  let endMs = clock.now() + 60_000;
  const estimate = () => ({ start: undefined, end: { fromMs: endMs, toMs: endMs + 1_000 } });
  const queue = {
    waiting: () => ({ position: 0, reason: undefined }),
    snapshot: () => ({ row: running, position: 0, reason: undefined, estimate: estimate() }),
    status: () => Promise.resolve(running),
  };
  const sources = new StatusSources(queue as unknown as QueueService, clock);
  let sent = 0;
  sources.watch(running).subscribe(() => sent++);
  await jest.advanceTimersByTimeAsync(12_000);
  endMs += 2_000;
  await jest.advanceTimersByTimeAsync(12_000);
  expect(sent).toBe(1);
  endMs += 20_000;
  await jest.advanceTimersByTimeAsync(12_000);
  expect(sent).toBe(2);
  sources.closeAll();
});

function row(state: StatusRow['state'], attempt: number, lastEventId = attempt * 10): StatusRow {
  const end =
    state === 'COMPLETED' ? { outcome: 'failed', error: { code: 'model_error' }, completedAtMs: 1 } : {};
  return { state, attempt, lastEventId, queueMs: 5, ...end } as StatusRow;
}

type Point = [state: StatusRow['state'], attempt: number];

it.each<[string, Point, Point, string[]]>([
  ['it waits on', ['IN_QUEUE', 0], ['IN_QUEUE', 0], []],
  ['it starts', ['IN_QUEUE', 0], ['IN_PROGRESS', 1], []],
  ['it ends', ['IN_PROGRESS', 1], ['COMPLETED', 1], []],
  ['it is handed back', ['IN_PROGRESS', 1], ['IN_QUEUE', 1], []],
  ['it is cancelled in the queue', ['IN_QUEUE', 1], ['COMPLETED', 1], []],
  ['it ran in between', ['IN_QUEUE', 0], ['COMPLETED', 1], ['IN_PROGRESS 1']],
  ['it ran and is to run again', ['IN_QUEUE', 0], ['IN_QUEUE', 1], ['IN_PROGRESS 1']],
  ['its next run has started', ['IN_PROGRESS', 1], ['IN_PROGRESS', 2], ['IN_QUEUE 1']],
  ['its next run has ended', ['IN_PROGRESS', 1], ['COMPLETED', 2], ['IN_QUEUE 1', 'IN_PROGRESS 2']],
  ['it ran twice', ['IN_QUEUE', 3], ['COMPLETED', 5], ['IN_PROGRESS 4', 'IN_QUEUE 4', 'IN_PROGRESS 5']],
])('%s', (_, from, to, between) => {
  const steps = stepsBetween(row(...from), row(...to));
  expect(steps.map(({ state, attempt }) => `${state} ${attempt}`)).toEqual(between);
});

it('shows no outcome, error or time of completion in an intermediate step', () => {
  const [step] = stepsBetween(row('IN_QUEUE', 0, 3), row('COMPLETED', 1, 9));
  expect(step).toMatchObject({ outcome: null, error: null, completedAtMs: null, queueMs: 5 });
});

it('assigns each intermediate step its own event id, in order', () => {
  // 4 started, 5 requeued, 6 started, 7 completed
  const steps = stepsBetween(row('IN_QUEUE', 0, 3), row('COMPLETED', 2, 7));
  expect(steps.map(({ lastEventId }) => lastEventId)).toEqual([4, 5, 6]);
});
