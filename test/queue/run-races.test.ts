import { randomUUID } from 'node:crypto';
import { Subject } from 'rxjs';
import type { Database } from '../../src/database/database.js';
import type { ModelsService } from '../../src/models/models.service.js';
import { appendEvents } from '../../src/queue/runs/queries/append-events.js';
import { cancel } from '../../src/queue/completion/queries/cancel.js';
import { type Claimed, claimSuspect } from '../../src/queue/runs/queries/claim.js';
import { expire } from '../../src/queue/completion/queries/expire.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import {
  acquitOthers,
  markSuspect,
  moveSuspects,
  parkedMs,
  tendSuspects,
} from '../../src/queue/suspects/queries/suspects.js';
import {
  findFollowedRun,
  keepFollowedRun,
  takeAbandonedRuns,
} from '../../src/queue/runs/queries/followed-runs.js';
import { FollowedRuns } from '../../src/queue/runs/followed-runs.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import type { RunExecution } from '../../src/queue/runs/run-execution.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import {
  claimSome,
  ending,
  logLines,
  QueueTables,
  rescueSome,
  returning,
  runOne,
  submitSome,
  submitStartedFor,
} from '../support/queue-tables.js';

let tables: QueueTables;
let here: Database;
let there: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  there = tables.session();
});
beforeEach(async () => {
  await tables.clear();
  node = await tables.node(here);
});
afterAll(() => tables.drop());

const cancelled = requestErrors.cancelled(0);

async function messages(): Promise<string[]> {
  const events = await tables.rows<{ message: string }>(
    `SELECT message FROM request_event WHERE kind = 'log' ORDER BY id`,
  );
  return events.map(({ message }) => message);
}

describe('a submission that may start at once', () => {
  test('starts with its own lease when no request waits', async () => {
    const { id, token } = (await submitStartedFor(here, node))!;
    expect(
      await tables.rows('SELECT state, attempt, started_at = created_at AS at_once FROM request'),
    ).toEqual([{ state: 'IN_PROGRESS', attempt: 1, at_once: true }]);
    expect(await tables.rows('SELECT request_id, token, node_id, attempt FROM lease')).toEqual([
      { request_id: id, token, node_id: node, attempt: 1 },
    ]);
    expect(await tables.rows('SELECT kind, attempt FROM request_timeline ORDER BY attempt, step')).toEqual([
      { kind: 'submitted', attempt: 0 },
      { kind: 'started', attempt: 1 },
    ]);
    expect(await finish(there, [ending({ id, token })])).toEqual([true]);
  });

  test('does not overtake a request that waits', async () => {
    await submitSome(here, 1);
    expect(await submitStartedFor(there, node)).toBeUndefined();
  });

  test('looks for waiting requests only from the claim floor on', async () => {
    await submitSome(here, 1);
    const seq = (await tables.rows<{ seq: number }>('SELECT seq FROM queue_entry'))[0]!.seq;
    expect(
      await submitStartedFor(there, node, { floor: { priority: 0, start: 0, seq: seq + 1 } }),
    ).toBeDefined();
    expect(await submitStartedFor(there, node, { floor: { priority: 0, start: 0, seq } })).toBeUndefined();
  });

  test.each([
    ['that was given up', () => submitStartedFor(here, randomUUID())],
    ['whose statement arrives too late', () => submitStartedFor(here, node, { byMs: Date.now() - 60_000 })],
  ])('is not written by a node %s', async (_, submitOn) => {
    expect(await submitOn()).toBeUndefined();
    for (const table of ['request', 'lease', 'queue_entry', 'request_event'])
      expect(await tables.rows(`SELECT FROM ${table}`)).toEqual([]);
  });
});

describe('two claims at once', () => {
  test('do not wait for each other, and take the next requests of the queue', async () => {
    const ids = await submitSome(here, 4);
    await here.execute('BEGIN');
    const first = await claimSome(here, node, 2);
    // Not committed yet: a claim that waited for it would wait forever.
    const second = await claimSome(there, node, 2);
    await here.execute('COMMIT');
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids);
  });

  test('that are rolled back return their requests ahead of later ones', async () => {
    const ids = await submitSome(here, 2);
    await here.execute('BEGIN');
    await claimSome(here, node, 1);
    await here.execute('ROLLBACK');
    expect((await claimSome(there, node, 2)).map(({ id }) => id)).toEqual(ids);
  });
});

describe('a run whose lease was taken over', () => {
  let frozen: Claimed;
  let successor: Claimed;

  beforeEach(async () => {
    frozen = await runOne(here, node);
    const other = await tables.node(there);
    expect(await rescueSome(there, other, 9)).toMatchObject([{ id: frozen.id, outcome: null }]);
    [successor] = (await claimSome(there, other, 1)) as [Claimed];
  });

  test('cannot finish a request that another run has finished since', async () => {
    expect(await finish(there, [ending(successor, 'succeeded', '"theirs"')])).toEqual([true]);
    expect(await finish(here, [ending(frozen, 'succeeded', '"mine"')])).toEqual([false]);
    expect(await tables.rows('SELECT outcome, output, attempt FROM request')).toEqual([
      { outcome: 'succeeded', output: 'theirs', attempt: 2 },
    ]);
  });

  test('cannot finish, requeue or log a request that another run executes', async () => {
    expect(await finish(here, [ending(frozen)])).toEqual([false]);
    expect(await requeue(here, returning(frozen))).toBeUndefined();
    expect(await appendEvents(here, [logLines(frozen, 0)])).toEqual(new Map());
    expect(await messages()).toEqual([]);
    expect(await tables.rows('SELECT token FROM lease')).toEqual([{ token: successor.token }]);
    const running = { state: 'IN_PROGRESS', attempt: 2 };
    expect(await tables.rows('SELECT state, attempt FROM request')).toEqual([running]);
  });
});

test('a late write of a run cannot finish the next run of its request, even on the same node', async () => {
  const first = await runOne(here, node);
  expect(await requeue(here, returning(first))).toBeDefined();
  const [second] = (await claimSome(here, node, 1)) as [Claimed];
  expect(await finish(there, [ending(first)])).toEqual([false]);
  expect(await requeue(there, returning(first))).toBeUndefined();
  expect(await finish(here, [ending(second)])).toEqual([true]);
});

describe('COMPLETED is final, even with a stray lease or queue entry', () => {
  const token = '00000000-0000-4000-8000-00000000aaaa';
  let id: string;
  let before: object[];

  const everything = (): Promise<object[]> =>
    tables.rows(`SELECT to_json(request) AS request, (SELECT count(*)::integer FROM request_event) AS events,
                        (SELECT count(*)::integer FROM attempt) AS attempts FROM request`);
  const strayLease = (): Promise<object[]> =>
    tables.rows(
      `INSERT INTO lease (request_id, token, model_id, node_id, attempt, deadline_at)
       VALUES ($1, $2, 'test/model', $3, 9, now() + interval '1 minute')`,
      [id, token, node],
    );
  const strayEntry = (): Promise<object[]> =>
    tables.rows(
      `INSERT INTO queue_entry (model_id, priority, seq, request_id, expires_at)
       SELECT model_id, priority, seq, id, now() + interval '1 hour' FROM request`,
    );

  beforeEach(async () => {
    const run = await runOne(here, node);
    id = run.id;
    await finish(here, [ending(run, 'succeeded', '"first"')]);
    before = await everything();
  });
  afterEach(async () => expect(await everything()).toEqual(before));

  test('a run cannot finish the request again', async () => {
    await strayLease();
    expect(await finish(there, [ending({ id, token }, 'succeeded', '"second"')])).toEqual([false]);
  });

  test('a run cannot requeue the request', async () => {
    await strayLease();
    const failed = returning({ id, token }, { attemptOutcome: 'failed', message: 'late' });
    expect(await requeue(there, failed)).toBeUndefined();
  });

  test('the request is not rescued after its node is lost', async () => {
    await strayLease();
    expect(await rescueSome(there, await tables.node(there), 9)).toEqual([]);
  });

  test('the request is not claimed', async () => {
    await strayEntry();
    expect(await claimSome(there, node, 1)).toEqual([]);
  });

  test('the request is not cancelled', async () => {
    await strayEntry();
    expect(await cancel(there, id, cancelled)).toMatchObject({ result: 'completed', outcome: 'succeeded' });
  });

  test('the request does not expire', async () => {
    await strayEntry();
    await tables.rows(`UPDATE queue_entry SET expires_at = now() - interval '1 s'`);
    expect(await expire(there, requestErrors.expired(0))).toEqual([]);
  });
});

describe('suspects', () => {
  const place = { modelId: 'test/model', address: 'http://gpu:9000/' };
  const suspects = (): Promise<object[]> => tables.rows('SELECT request_id AS id, address FROM suspect');

  /** Submits and starts requests, and makes suspects of them. */
  async function parkSome(count: number): Promise<string[]> {
    await submitSome(here, count);
    const claimed = await claimSome(here, node, count);
    for (const { id, token } of claimed) {
      await markSuspect(here, { requestId: id, token, ...place });
      await requeue(here, returning({ id, token }, { delayMs: parkedMs }));
    }
    return claimed.map(({ id }) => id);
  }

  /** Fails if `waits`, which runs there, waits for a lock of `locks`, which runs here. */
  async function expectNoWait(locks: () => Promise<unknown>, waits: () => Promise<unknown>): Promise<void> {
    await there.execute(`SET lock_timeout = '1s'`);
    await here.execute('BEGIN');
    try {
      await locks();
      await waits();
    } finally {
      await here.execute('ROLLBACK');
      await there.execute('RESET lock_timeout');
    }
  }

  test('that are acquitted do not wait for an entry that another session locks', async () => {
    const [broken, locked, waiting] = (await parkSome(3)) as [string, string, string];
    await expectNoWait(
      () => cancel(here, locked, cancelled),
      () => acquitOthers(there, place.address, broken),
    );
    expect(await suspects()).toEqual([{ id: broken, address: place.address }]);
    const due = 'SELECT request_id AS id FROM delayed_entry WHERE ready_at <= now()';
    expect(await tables.rows(due)).toEqual([{ id: waiting }]);
    // The entry that was locked becomes due some seconds later, because no round keeps it.
    await tables.rows(`UPDATE delayed_entry SET ready_at = '-infinity'`);
    await tendSuspects(there, [place]);
    const kept = `SELECT request_id AS id FROM delayed_entry WHERE ready_at > '-infinity'`;
    expect(await tables.rows(kept)).toEqual([{ id: broken }]);
  });

  test('that have completed are forgotten by one session while another does the same', async () => {
    await parkSome(2);
    await tables.rows('DELETE FROM delayed_entry');
    await expectNoWait(
      () => tendSuspects(here, [place]),
      () => tendSuspects(there, [place]),
    );
    expect(await suspects()).toHaveLength(2);
    await tendSuspects(there, [place]);
    expect(await suspects()).toEqual([]);
  });

  test.each([
    ['returns by itself', ({ id, token }: Claimed) => requeue(there, returning({ id, token }))],
    ['returns from a lost node', () => rescueSome(there, node, 2)],
  ])('are no suspects any more when a run %s to the queue', async (_, comesBack) => {
    const waiting = await parkSome(2);
    await tables.rows(`UPDATE delayed_entry SET ready_at = now()`);
    const start = { timeoutMs: 60_000, slotRound: 0, byMs: Date.now() + 60_000 };
    const other = await tables.node(there);
    const terms = { ...start, modelId: place.modelId, nodeId: other };
    const [run] = await claimSuspect(there, terms, place.address, [place.modelId]);
    await tables.rows(`DELETE FROM node WHERE id = '${other}'`);
    await comesBack(run!);
    expect(await tables.rows('SELECT request_id AS id FROM queue_entry')).toEqual([{ id: run!.id }]);
    const rest = waiting.filter((id) => id !== run!.id);
    expect(await suspects()).toEqual(rest.map((id) => ({ id, address: place.address })));
  });

  test('that cannot run at their address any more become due, and may not run here', async () => {
    await parkSome(1);
    await tables.rows(`UPDATE delayed_entry SET ready_at = '-infinity'`);
    const due = (): Promise<object[]> =>
      tables.rows(`SELECT FROM delayed_entry WHERE ready_at = '-infinity'`);
    const other = { ...place, modelId: 'test/other' };
    expect(await tendSuspects(here, [other])).toMatchObject([{ ...place, mayRun: false }]);
    expect(await due()).toHaveLength(1);
    expect(await tendSuspects(here, [place])).toMatchObject([{ ...place, mayRun: true }]);
    expect(await due()).toEqual([]);
  });

  test('move to another address a minute after their break, and then stay there for a minute', async () => {
    const [id] = (await parkSome(1)) as [string];
    const elsewhere = 'http://gpu-2:9000/';
    expect(await moveSuspects(here, place.modelId, place.address, elsewhere)).toBe(false);
    expect(await suspects()).toEqual([{ id, address: place.address }]);
    await tables.rows(`UPDATE suspect SET since = since - interval '61 s'`);
    expect(await moveSuspects(here, place.modelId, place.address, elsewhere)).toBe(true);
    expect(await suspects()).toEqual([{ id, address: elsewhere }]);
    expect(await moveSuspects(there, place.modelId, elsewhere, place.address)).toBe(false);
    expect(await suspects()).toEqual([{ id, address: elsewhere }]);
  });
});

describe('the log', () => {
  test('has a line once, however often it is written', async () => {
    const run = await runOne(here, node);
    const next = async (from: number, count: number): Promise<number | undefined> =>
      (await appendEvents(here, [logLines(run, from, count)])).get(run.id)?.next;
    expect(await next(0, 2)).toBe(2);
    expect(await next(0, 2)).toBe(2);
    // A batch that overlaps is cut by its sender, and a gap is filled.
    expect(await next(1, 2)).toBe(2);
    expect(await next(3, 1)).toBe(2);
    expect(await next(2, 1)).toBe(3);
    expect(await messages()).toEqual(['line 0', 'line 1', 'line 2']);
  });

  test('has a line once when it is written again while the first write is under way', async () => {
    const run = await runOne(here, node);
    await here.execute('BEGIN');
    await appendEvents(here, [logLines(run, 0, 2)]);
    const again = appendEvents(there, [logLines(run, 0, 2)]);
    await tables.blocked(1);
    await here.execute('COMMIT');
    expect((await again).get(run.id)?.next).toBe(2);
    expect(await messages()).toEqual(['line 0', 'line 1']);
  });

  test('and a concurrent cancel are written one after the other, in the order of their ids', async () => {
    const run = await runOne(here, node);
    await here.execute('BEGIN');
    await appendEvents(here, [logLines(run, 0)]);
    const cancelling = cancel(there, run.id, cancelled);
    await tables.blocked(1);
    await here.execute('COMMIT');
    expect(await cancelling).toMatchObject({ result: 'requested' });
    const events = await tables.rows<{ kind: string }>('SELECT kind FROM request_event ORDER BY id');
    expect(events.map(({ kind }) => kind)).toEqual(['log', 'cancel_requested']);
  });
});

test('a claim that arrives too late takes nothing', async () => {
  const ids = await submitSome(here, 1);
  expect(await claimSome(here, node, 1, { byMs: Date.now() - 60_000 })).toEqual([]);
  expect((await claimSome(here, node, 1)).map(({ id }) => id)).toEqual(ids);
});

test('a node that was declared lost claims nothing', async () => {
  await submitSome(here, 1);
  await rescueSome(there, await tables.node(there), 9);
  expect(await claimSome(here, node, 1)).toEqual([]);
});

describe('a run with a start 30 days in the past or in the future can end', () => {
  const took = (): Promise<object[]> => tables.rows('SELECT state, inference_ms FROM request');

  test.each([
    ['-30 days', 2_147_483_647],
    ['30 days', 0],
  ])('with each statement (started at now %s)', async (since, ms) => {
    for (const lostLimit of [9, 1]) {
      const claimed = await begun(since);
      await rescueSome(here, await tables.node(here), lostLimit);
      const state = lostLimit === 1 ? 'COMPLETED' : 'IN_QUEUE';
      expect(await took()).toEqual([{ state, inference_ms: ms }]);
      expect(await finish(here, [ending(claimed)])).toEqual([false]);
    }
    for (const outcome of ['succeeded', 'failed'] as const) {
      expect(await finish(here, [ending(await begun(since), outcome)])).toEqual([true]);
      expect(await took()).toEqual([{ state: 'COMPLETED', inference_ms: ms }]);
    }
    await requeue(here, returning(await begun(since)));
    expect(await took()).toEqual([{ state: 'IN_QUEUE', inference_ms: ms }]);
  });

  async function begun(since: string): Promise<Claimed> {
    await tables.clear();
    await submitSome(here, 1);
    const [claimed] = await claimSome(here, await tables.node(here), 1);
    await tables.rows(
      `UPDATE lease SET started_at = now() + $1::interval, deadline_at = now() + $1::interval + interval '1 hour'`,
      [since],
    );
    return claimed!;
  }
});

test('a node whose followed run was taken over does not give it up', async () => {
  await submitSome(here, 1);
  const [first] = await claimSome(here, node, 1);
  const { id: requestId, token } = first!;
  const run = { requestId, token, attempt: 1, start: 1, modelId: 'test/model', address: 'http://gpu' };
  expect(await keepFollowedRun(here, { ...run, answer: null })).toBe(true);
  await requeue(here, returning(first!));
  expect(await claimSome(there, node, 1)).toHaveLength(1);
  expect(await keepFollowedRun(here, { ...run, answer: { run: 1 } })).toBe(false);
  expect(await findFollowedRun(there, requestId, 1)).toMatchObject({ start: 1, answer: null });
  expect(await takeAbandonedRuns(there, [run.modelId], [])).toEqual([]);
});

test('a node forgets its followed run, but not once another node may follow it', async () => {
  const models = { all: () => [], changes: new Subject<void>() } as unknown as ModelsService;
  const followed = new FollowedRuns(here, models, undefined as never, undefined as never);
  for (const isTaken of [false, true]) {
    await tables.clear();
    node = await tables.node(here);
    const first = await runOne(here, node);
    const { id: requestId, token } = first;
    const run = { requestId, token, attempt: 1, start: 1, modelId: 'test/model', address: 'http://gpu' };
    expect(await keepFollowedRun(here, { ...run, answer: null })).toBe(true);
    if (isTaken) {
      await requeue(here, returning(first));
      expect(await claimSome(there, node, 1)).toHaveLength(1);
    }
    await followed.forget({ ...run, claimed: first } as unknown as RunExecution);
    const left = isTaken ? expect.objectContaining({ start: 1 }) : undefined;
    expect(await findFollowedRun(there, requestId, 1)).toEqual(left);
  }
});

test('a run that loses its lease before it is kept is given up', async () => {
  await submitSome(here, 1);
  const [first] = await claimSome(here, node, 1);
  const { id: requestId, token } = first!;
  await requeue(here, returning(first!));
  const run = { requestId, token, attempt: 1, start: 1, modelId: 'test/model', address: 'http://gpu' };
  expect(await keepFollowedRun(here, { ...run, answer: null })).toBe(false);
  expect(await findFollowedRun(there, requestId, 1)).toBeUndefined();
  expect(await takeAbandonedRuns(there, [run.modelId], [])).toMatchObject([{ requestId, start: 1 }]);
});
