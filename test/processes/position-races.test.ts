import { QueueEvents } from '../../src/queue/queue-events.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { Submissions } from '../../src/queue/submit/submissions.js';
import { startTestService, until } from '../support/index.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { queueRequest } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const submitters = 50;
const readers = 5;
const each = 4;

const { service, calls, model } = testQueue({
  models: {
    'test/a': { concurrency: 3 },
    'test/b': { concurrency: 1, attempts: 3 },
    'test/c': { concurrency: 1 },
  },
  limits: 'off',
});

/** Returns the position; undefined: the request has started. */
async function position(id: string): Promise<number | undefined> {
  const { status, queue_position: shown } = await calls.status(id);
  expect(shown !== undefined).toBe(status === 'IN_QUEUE');
  return shown;
}

/** Returns the positions by the database, counted row by row. */
async function truth(): Promise<Map<string, number>> {
  const rows = await service.query<{ id: string; position: number }>(
    `SELECT request_id AS id,
            CASE WHEN is_scheduled THEN count(*) FILTER (WHERE NOT is_scheduled) OVER (PARTITION BY model_id)
                 ELSE row_number() OVER (PARTITION BY model_id, is_scheduled ORDER BY priority, virtual_start, seq) - 1
            END::int AS position
     FROM (SELECT model_id, priority, virtual_start, seq, request_id, false AS is_scheduled FROM queue_entry
           UNION ALL SELECT model_id, priority, virtual_start, seq, request_id, is_scheduled FROM delayed_entry) AS waiting`,
  );
  return new Map(rows.map((row) => [row.id, row.position]));
}

/** Nothing moves, so every position over HTTP equals the counted one. */
async function expectExact(ids: string[]): Promise<number> {
  const exact = await truth();
  const shown = await inParallel(20, ids, position);
  expect(new Map(ids.map((id, i) => [id, shown[i]]))).toEqual(new Map(ids.map((id) => [id, exact.get(id)])));
  return exact.size;
}

test('with 50 submitters and 5 readers, no position rises or leaves its bounds, and each is exact at rest', async () => {
  const begun = { total: 0 };
  const ids: string[] = [];
  const lowest = new Map<string, number>();
  const risen: object[] = [];
  let moving = true;
  let reads = 0;

  /**
   * Compares with the position that was known before the read began, because two parallel reads may answer in any
   * order.
   */
  const read = async (id: string): Promise<void> => {
    const before = lowest.get(id) ?? Infinity;
    const now = (await position(id)) ?? -1;
    reads++;
    if (now > before) risen.push({ id, before, now });
    expect(now).toBeLessThan(begun.total);
    lowest.set(id, Math.min(lowest.get(id) ?? Infinity, now));
  };
  const reader = async (): Promise<void> => {
    while (moving) {
      const recent = ids.length - 1 - Math.floor(Math.random() ** 2 * ids.length);
      if (ids.length > 0) await read(ids[Math.max(0, recent)]!);
      await new Promise(setImmediate);
    }
  };

  const phase = async (rounds: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: submitters }, async (_, submitter) => {
        for (let i = 0; i < rounds; i++) {
          begun.total++;
          const id = await calls.submit((submitter + i) % 8 === 0 ? 'test/b' : 'test/a');
          await read(id); // at once: all requests ahead of it must be known by now
          ids.push(id);
        }
      }),
    );
  };

  model.hold();
  const reading = Array.from({ length: readers }, reader);
  await phase(each);
  await until(() => model.running === 4);
  expect(await expectExact([...ids])).toBe(submitters * each - 4);

  model.takesMs = 5;
  model.release(); // now requests start while others are submitted and some are cancelled
  await Promise.all([
    phase(each),
    inParallel(
      2,
      ids.filter((_, i) => i % 7 === 0),
      (id) => calls.cancel(id),
    ),
  ]);
  model.hold();
  await phase(2);
  await until(() => model.running === 4);
  expect(await expectExact([...ids])).toBeGreaterThanOrEqual(submitters * 2 - 4);

  model.takesMs = 0;
  model.release();
  await until(async () => (await truth()).size === 0);
  moving = false;
  await Promise.all(reading);
  expect(risen).toEqual([]);
  expect(reads).toBeGreaterThan(ids.length);
  expect(await inParallel(20, ids, position)).toEqual(ids.map(() => undefined));
});

test('with priorities, schedules, bulk cancels and retries at once, no high-priority position rises, and each is exact', async () => {
  const collection = new CollectionCalls(service);
  const done = await inParallel(4, Array.from({ length: 4 }), () => calls.run('test/c'));
  model.hold();
  const blocker = await calls.submit('test/c');
  await until(() => model.times(blocker) === 1);
  const kinds = [
    'priority=high',
    'priority=normal',
    'priority=low',
    'priority=high&tag=drop:yes',
    'tag=drop:yes',
    'priority=low&delay=1h',
    'delay=1h&tag=drop:yes',
    'priority=high&delay=20ms',
  ];
  const ids: string[] = [];
  const lowest = new Map<string, number>();
  const risen: object[] = [];
  const read = async (id: string): Promise<void> => {
    const before = lowest.get(id) ?? Infinity;
    const now = (await position(id)) ?? -1;
    if (now > before) risen.push({ id, before, now });
    lowest.set(id, Math.min(lowest.get(id) ?? Infinity, now));
  };
  await inParallel(20, Array.from({ length: 160 }), async (_, i) => {
    const kind = kinds[(i * 3) % kinds.length]!;
    const id = await calls.submit(`test/c?${kind}`);
    if (kind.startsWith('priority=high') && !kind.includes('delay')) await read(id);
    ids.push(id);
    if (i % 20 === 19) await collection.cancel({ filter: { tag: 'drop:yes' } });
    if (i % 20 === 9) await collection.cancel({ request_ids: ids.slice(-3) });
    if (i % 10 === 4) {
      const answer = await collection.retry(done[i % done.length]!);
      ids.push(((await answer.json()) as { request_id: string }).request_id);
    }
    for (const high of [...lowest.keys()].slice(-3)) await read(high);
  });
  // Requests that are due soon have joined the queue.
  const soon = `SELECT 1 FROM delayed_entry WHERE ready_at < now() + interval '1 minute'`;
  await until(async () => (await service.query(soon)).length === 0);
  for (const high of lowest.keys()) await read(high);
  expect(risen).toEqual([]);
  expect(await expectExact(ids)).toBeGreaterThan(40);

  const inOrder = `SELECT request_id AS id FROM queue_entry WHERE model_id = 'test/c' ORDER BY priority, virtual_start, seq`;
  const waiting = (await service.query<{ id: string }>(inOrder)).map(({ id }) => id);
  model.release();
  await until(() => waiting.every((id) => model.times(id) === 1));
  expect(model.calls.map(({ id }) => id).filter((id) => waiting.includes(id))).toEqual(waiting);
  await collection.cancel({ filter: { model_id: 'test/c' } });
  await until(async () => (await truth()).size === 0);
});

test('no overlapping submission gets ahead of one that was already answered', async () => {
  const api = await startTestService({ models: model.file({ 'test/a': {} }), config: { role: 'api' } });
  try {
    const queue = api.app.get(QueueService);
    const submissions = api.app.get(Submissions);
    const request = await queueRequest(api, 'test/a');
    let answered = -1;
    let added = 0;
    const inFront: object[] = [];
    api.app.get(QueueEvents).subscribe((changes) => {
      for (const { seq } of changes.added ?? []) {
        added++;
        if (seq < answered) inFront.push({ seq, answered });
      }
    });
    await inParallel(40, Array.from({ length: 1_000 }), async (_, i) => {
      const once = { ...request, idempotency: { key: `once-${i}`, fingerprint: Buffer.alloc(32) } };
      const { id } = await submissions.submit(i % 10 === 0 ? once : request);
      answered = Math.max(answered, (await queue.status(id))!.seq);
    });
    expect([added, inFront]).toEqual([1_000, []]);
  } finally {
    await api.stop();
  }
});

test('requests of one model start in the order of their positions', async () => {
  model.hold();
  const blocker = await calls.submit('test/b');
  await until(() => model.times(blocker) === 1);
  const ids = await inParallel(20, Array.from({ length: 60 }), () => calls.submit('test/b'));
  const shown = await inParallel(20, ids, position);
  const expected = ids.toSorted((x, y) => shown[ids.indexOf(x)]! - shown[ids.indexOf(y)]!);
  model.release();
  await until(() => ids.every((id) => model.times(id) === 1));
  expect(model.calls.slice(-60).map(({ id }) => id)).toEqual(expected);
});

test('a request between two attempts retains its position, and requests behind count it', async () => {
  const first = await calls.submit('test/b', { attempts: [{ status: 500 }, {}] });
  await until(async () => (await service.query('SELECT 1 FROM delayed_entry')).length === 1);
  model.hold();
  const ids = [first, ...(await calls.submitAll(5, 'test/b'))];
  await until(() => model.times(ids[1]!) === 1);
  // Its backoff may end during the test. Then it is in the queue itself, at the same position.
  expect(await inParallel(6, ids, position)).toEqual([0, undefined, 1, 2, 3, 4]);
  model.release();
  await until(() => ids.every((id) => model.times(id) > 0) && model.times(first) === 2);
  await until(async () => (await truth()).size === 0);
});
