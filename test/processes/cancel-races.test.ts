import { completions, recordCompletions } from '../support/completions.js';
import { until } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { testQueue } from '../support/test-queue.js';

interface Ending {
  id: string;
  state: string;
  outcome: string;
  attempts: string[];
  entries: number;
  leases: number;
  completions: number;
  /** Events after the request was completed. */
  afterwards: number;
}

const { service, calls, model } = testQueue({
  models: { 'test/raced': { concurrency: 16 } },
  limits: '1000/s',
});
beforeAll(() => recordCompletions(service));

const submitMany = (count: number): Promise<string[]> =>
  inParallel(50, Array.from({ length: count }), () => calls.submit('test/raced'));

const cancel = async (id: string): Promise<[number, string]> => {
  const response = await calls.cancel(id);
  const { status, cancel_status: word = status } = (await response.json()) as Record<string, string>;
  return [response.status, word!];
};

const endings = (ids: string[]): Promise<Ending[]> =>
  service.query<Ending>(
    `SELECT id, state, outcome,
            ARRAY(SELECT outcome FROM attempt WHERE request_id = request.id ORDER BY attempt) AS attempts,
            (SELECT count(*) FROM queue_entry WHERE request_id = request.id)::int AS entries,
            (SELECT count(*) FROM lease WHERE request_id = request.id)::int AS leases,
            ${completions} AS completions,
            (SELECT count(*) FROM request_event WHERE request_id = request.id AND at > completed_at)::int AS afterwards
     FROM request WHERE id = ANY ($1)`,
    [ids],
  );

test('of 500 requests cancelled while the scheduler claims them, each runs or is cancelled, never both, never neither', async () => {
  model.hold();
  const ids = await submitMany(500);
  await until(() => model.running === 16);
  model.release();
  const shuffled = ids.toSorted(() => Math.random() - 0.5);
  const answers = new Map(await inParallel(25, shuffled, async (id) => [id, await cancel(id)] as const));
  const ended = await until(async () => {
    const rows = await endings(ids);
    return rows.every(({ state, leases }) => state === 'COMPLETED' && leases === 0) && rows;
  });

  expect(ended).toHaveLength(500);
  const seen = new Set<string>();
  for (const { id, outcome, attempts, entries, completions, afterwards } of ended) {
    const [status, word] = answers.get(id)!;
    seen.add(word);
    const runs = model.times(id);
    const story = { id, word, status, outcome, attempts, runs, entries, completions, afterwards };
    expect(story).toMatchObject({ entries: 0, completions: 1, afterwards: 0 });
    switch (word) {
      case 'CANCELLED': // it waited, and never starts
        expect(story).toMatchObject({ status: 200, outcome: 'cancelled', attempts: [], runs: 0 });
        break;
      case 'CANCELLATION_REQUESTED': // it ran once, and the run decided the outcome
        expect(story).toMatchObject({ status: 202, attempts: [outcome] });
        expect(['succeeded', 'cancelled']).toContain(outcome);
        expect(runs).toBeLessThanOrEqual(1);
        if (outcome === 'succeeded') expect(runs).toBe(1);
        break;
      default:
        expect(story).toMatchObject({ status: 400, outcome: 'succeeded', attempts: ['succeeded'], runs: 1 });
        expect(word).toBe('ALREADY_COMPLETED');
    }
  }
  expect(seen).toContain('CANCELLED');
  expect(seen.size).toBeGreaterThan(1); // otherwise nothing raced
  expect(model.maxAtOnce).toBeLessThanOrEqual(16);
});

test('simultaneous cancels of one request end it once and get consistent answers', async () => {
  model.hold();
  const [running] = (await submitMany(16)) as [string];
  await until(() => model.running === 16);
  const waiting = await calls.submit('test/raced');
  const ofWaiting = await Promise.all(Array.from({ length: 30 }, () => cancel(waiting)));
  expect(ofWaiting).toEqual(Array(30).fill([200, 'CANCELLED']));
  const ofRunning = await Promise.all(Array.from({ length: 30 }, () => cancel(running)));
  for (const [status, word] of ofRunning) {
    expect([
      [202, 'CANCELLATION_REQUESTED'],
      [200, 'CANCELLED'],
    ]).toContainEqual([status, word]);
  }
  await until(async () => (await cancel(running))[0] === 200);
  const [a, b] = await Promise.all([endings([waiting]), endings([running])]);
  expect([a[0], b[0]]).toMatchObject([
    { outcome: 'cancelled', attempts: [], completions: 1 },
    { outcome: 'cancelled', attempts: ['cancelled'], completions: 1 },
  ]);
  const asked = await service.query(
    `SELECT 1 FROM request_event WHERE request_id = $1 AND kind = 'cancel_requested'`,
    [running],
  );
  expect(asked).toHaveLength(1);
  model.release();
});

test('the next request uses the slot that a cancelled run releases', async () => {
  model.hold();
  const ids = await submitMany(32);
  await until(() => model.running === 16);
  const running = model.calls.slice(-16).map(({ id }) => id);
  await Promise.all(running.map(cancel));
  const waiting = ids.filter((id) => !running.includes(id));
  await until(() => waiting.every((id) => model.times(id) === 1));
  expect(model.maxAtOnce).toBeLessThanOrEqual(16);
  model.release();
  await until(async () => (await endings(waiting)).every(({ outcome }) => outcome === 'succeeded'));
});
