import type { Appended, EventBatch } from './queries/append-events.js';
import { EventWriter } from './event-writer.js';
import { UnstoredResults } from './unstored-results.js';
import { Rhythm } from './rhythm.js';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const line = { level: 'INFO', source: 'runner', message: 'a', atMs: 0 } as const;
const asIs = ({ from, count }: EventBatch): Appended => ({
  attempt: 1,
  cancel: false,
  isWritten: true,
  isTooLarge: false,
  nextIndex: 0,
  next: from + count,
});

/** Returns a writer and what it writes, each with its time. */
function writer(
  answer: (batch: EventBatch) => Promise<Appended | undefined> = async (batch) => asIs(batch),
  memory = new UnstoredResults(),
) {
  const written: [ms: number, what: string][] = [];
  const began = performance.now();
  const write = (batch: EventBatch): Promise<Appended | undefined> => {
    const { from, logs, progress, deltas } = batch;
    const what = [...logs.map(({ message }) => message), ...(progress ? [progress.value] : []), ...deltas];
    written.push([Math.round(performance.now() - began), `${from}: ${what.join(' ')}`]);
    return answer(batch);
  };
  const events = new EventWriter({ requestId: 'r', token: 't' }, new Rhythm(100), write, memory);
  return { events, written, pass: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
}

it('writes the first part at once, and later parts every 100 ms', async () => {
  const { events, written, pass } = writer();
  for (let part = 0; part < 12; part++) {
    events.delta(String(part));
    await pass(20);
  }
  await pass(100);
  expect(written.map(([, what]) => what)).toEqual(['0: 0', '1: 1 2 3 4', '5: 5 6 7 8 9', '10: 10 11']);
  expect(written.map(([ms]) => ms)).toEqual([0, 100, 200, 300]);
  await pass(1_000);
  events.delta('"late"');
  expect(written.at(-1)).toEqual([1_340, '12: "late"']);
});

it('writes at once when 16 KiB are pending', async () => {
  const { events, written, pass } = writer();
  events.delta('1');
  await pass(10);
  events.delta(JSON.stringify('x'.repeat(16 * 1024)));
  expect(written).toHaveLength(2);
});

it('writes log lines after 10 ms, together with pending parts', async () => {
  const { events, written, pass } = writer();
  events.delta('1');
  await pass(10);
  events.delta('2');
  events.log(line);
  await pass(10);
  expect(written).toEqual([
    [0, '0: 1'],
    [20, '1: a 2'],
  ]);
});

it('writes a log line and progress close to it in one batch, in either order', async () => {
  const { events, written, pass } = writer();
  for (const step of [1, 2]) {
    events.log(line);
    await pass(5);
    events.progress({ value: step / 10, message: null });
    await pass(300);
  }
  events.progress({ value: 0.3, message: null });
  await pass(5);
  events.log(line);
  await pass(300);
  expect(written.map(([, what]) => what)).toEqual(['0: a 0.1', '2: a 0.2', '4: a 0.3']);
});

it('writes the latest progress every 250 ms, and none at the end', async () => {
  const { events, written, pass } = writer();
  for (let step = 0; step < 30; step++) {
    events.progress({ value: step / 100, message: null });
    await pass(20);
  }
  expect(written.map(([ms]) => ms)).toEqual([10, 270, 500]);
  events.progress({ value: 1, message: null });
  await events.flush();
  expect(written).toHaveLength(3);
});

it('writes one batch at a time, and all pending parts at the end', async () => {
  let answer = (): void => undefined;
  const { events, written, pass } = writer(
    (batch) => new Promise((resolve) => (answer = () => resolve(asIs(batch)))),
  );
  events.delta('1');
  await pass(500);
  events.delta('2');
  events.log(line);
  expect(written).toHaveLength(1);
  const flushed = events.flush();
  answer();
  await pass(0);
  expect(written.map(([, what]) => what)).toEqual(['0: 1', '1: a 2']);
  answer();
  await flushed;
  expect(events.hasGap).toBe(false);
});

it('has a gap after a refused delta, but not after a refused log line', async () => {
  const { events } = writer(() => Promise.reject(new Error('no')));
  events.log(line);
  await events.flush();
  expect(events.hasGap).toBe(false);
  events.delta('1');
  await events.flush();
  expect(events.hasGap).toBe(true);
});

it('makes the writers of many runs write at the same moments', async () => {
  const rhythm = new Rhythm(100);
  const moments = new Set<number>();
  const writers = Array.from(
    { length: 5 },
    () =>
      new EventWriter(
        { requestId: 'r', token: 't' },
        rhythm,
        async (batch) => {
          moments.add(performance.now());
          return asIs(batch);
        },
        new UnstoredResults(),
      ),
  );
  for (const events of writers) {
    events.delta('1');
    await jest.advanceTimersByTimeAsync(7);
  }
  moments.clear();
  for (const events of writers) events.delta('2');
  await jest.advanceTimersByTimeAsync(100);
  expect(moments.size).toBe(1);
});

it('reserves bounded memory for pending parts while the database accepts no writes, and frees it afterwards', async () => {
  const memory = Object.assign(new UnstoredResults(), { maxBytes: 2_000_000 });
  let take = (): void => undefined;
  const isAway = new Promise<void>((resolve) => (take = resolve));
  const answer = async (batch: EventBatch): Promise<Appended> => {
    await isAway;
    return asIs(batch);
  };
  const part = JSON.stringify('x'.repeat(999_998));
  const { events, pass } = writer(answer, memory);
  for (let parts = 0; parts < 3; parts++) events.delta(part);
  await pass(100);
  expect([events.isUnstored, memory.bytes]).toEqual([false, 2_000_000 - 1024 * 1024]);
  const other = writer(answer, memory).events;
  for (let parts = 0; parts < 5; parts++) other.delta(part);
  expect(other.isUnstored).toBe(true);
  take();
  await Promise.all([events.flush(), other.flush()]);
  expect([events.isUnstored, memory.bytes]).toEqual([false, 0]);
});
