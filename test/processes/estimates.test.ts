import { RunTimesKeeper } from '../../src/queue/estimates/duties/run-times-keeper.js';
import { startTestService } from '../support/index.js';
import { QueueCalls, type Status } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

interface TimeSpan {
  from: string;
  to: string;
}

interface EstimatedStatus extends Status {
  started_at: string | null;
  completed_at: string | null;
  estimated_start?: TimeSpan;
  estimated_end?: TimeSpan;
}

const models = {
  'test/even': { runner: { kind: 'demo', demo: 'flaky' }, concurrency: 2 },
  'test/held': { concurrency: 1 },
};
const { service, calls, model } = testQueue({ models, limits: 'off' });
/** Long compared with the time that the machine adds. */
const even = { fail_attempts: 0, delay_ms: 1_500 };

const statusOf = async (id: string): Promise<EstimatedStatus> => (await calls.status(id)) as EstimatedStatus;
const estimatesIn = (status: object): string[] =>
  Object.keys(status).filter((key) => key.startsWith('estimated'));
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function holds({ from, to }: TimeSpan, time: string): boolean {
  expect([from, to]).toEqual([isTime, isTime]);
  expect(Date.parse(from)).toBeLessThan(Date.parse(to));
  return from <= time && time <= to;
}

test('estimates are absent at first, and later hold for at least half of the requests of even length', async () => {
  const first = await calls.submitAll(6, 'test/even', even);
  expect(estimatesIn(await statusOf(first.at(-1)!))).toEqual([]);
  for (const id of first) expect(estimatesIn(await calls.reached(id, 'COMPLETED'))).toEqual([]);

  const ids = await calls.submitAll(8, 'test/even', even);
  const before = await Promise.all(ids.map(statusOf));
  const waiting = before.filter(({ status }) => status === 'IN_QUEUE');
  expect(waiting.length).toBeGreaterThanOrEqual(6);
  for (const status of before) {
    const known = status.status === 'IN_QUEUE' ? ['estimated_start', 'estimated_end'] : ['estimated_end'];
    if (status.status !== 'COMPLETED') expect(estimatesIn(status)).toEqual(known);
  }
  const held = await Promise.all(
    waiting.map(async ({ request_id: id, estimated_start: start, estimated_end: end }) => {
      await calls.reached(id, 'COMPLETED');
      const { started_at: startedAt, completed_at: completedAt } = await statusOf(id);
      return [holds(start!, startedAt!), holds(end!, completedAt!)];
    }),
  );
  // Some take longer on a machine that is busy.
  expect(held.filter(([start]) => start).length).toBeGreaterThanOrEqual(held.length / 2);
  expect(held.filter(([, end]) => end).length).toBeGreaterThanOrEqual(held.length / 2);
});

test('a stream has estimates, and loses them when its model stops answering', async () => {
  const done = await calls.submitAll(6, 'test/held');
  for (const id of done) await calls.reached(id, 'COMPLETED');
  const running = await calls.submit('test/held', { hold: true });
  await model.arrived(running);
  const id = await calls.submit('test/held');
  const stream = await readStream(`${service.url}${calls.path(id)}/status/stream`);
  const isKnown = (status: object): boolean => estimatesIn(status).length === 2;
  await stream.event(isKnown, 'the first estimate');
  await stream.event(
    (status) => status.status === 'IN_QUEUE' && !isKnown(status),
    'nothing has started for long',
  );
  await model.answer(running);
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('COMPLETED');
});

test('run times are stored in the database and shared with other nodes', async () => {
  const known = async (): Promise<number> =>
    (await service.query<{ runs: number }>(`SELECT runs FROM run_times WHERE model_id = 'test/even'`))[0]!
      .runs;
  const keeper = service.app.get(RunTimesKeeper);
  await keeper.runOnce();
  const before = await known();
  expect(before).toBeGreaterThanOrEqual(14);
  await keeper.runOnce();
  expect(await known()).toBe(before);

  const config = { databaseUrl: service.databaseUrl, bootstrapApiKey: service.key };
  const another = await startTestService({ models: model.file(models), limits: 'off', config });
  await another.app.get(RunTimesKeeper).runOnce();
  const there = new QueueCalls(another);
  const ids = await there.submitAll(6, 'test/even', even);
  expect(estimatesIn(await there.status(ids.at(-1)!))).toEqual(['estimated_start', 'estimated_end']);
  for (const id of ids) await there.reached(id, 'COMPLETED');
  await Promise.all([keeper.runOnce(), another.app.get(RunTimesKeeper).runOnce()]);
  expect(await known()).toBe(before + ids.length);
  await another.stop();
});
