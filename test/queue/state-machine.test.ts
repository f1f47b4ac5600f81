import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { v7 } from 'uuid';
import type { Database } from '../../src/database/database.js';
import { appendLog } from '../../src/queue/queries/append-log.js';
import { cancel } from '../../src/queue/queries/cancel.js';
import { expire } from '../../src/queue/queries/expire.js';
import { finish, type Finish } from '../../src/queue/queries/finish.js';
import { promote } from '../../src/queue/queries/promote.js';
import { requeue, type Requeue } from '../../src/queue/queries/requeue.js';
import { rescue } from '../../src/queue/queries/rescue.js';
import { submit } from '../../src/queue/queries/submit.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { claimSome, keyId, QueueTables, submitStartedFor } from '../support/queue-tables.js';
import { attemptOf, lostLimit, type ModelRequest, QueueModel } from '../support/state-model.js';

const modelId = 'test/model';
const hourMs = 3_600_000;

/** What a sequence of commands works on. */
interface World {
  database: Database;
  /** Two nodes that run requests; one that was lost is replaced. */
  nodes: string[];
}

type Command = fc.AsyncCommand<QueueModel, World>;

let tables: QueueTables;
let database: Database;
let commands = 0;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = await tables.session();
});
afterAll(() => tables.drop());

/** The tables, in the words of the model. */
const requestRows = {
  name: 'all_requests',
  text: `
  SELECT r.id, r.priority, r.seq::integer AS seq,
         CASE WHEN l.request_id IS NOT NULL THEN 'lease'
              WHEN q.request_id IS NOT NULL THEN 'queue'
              WHEN d.request_id IS NOT NULL THEN 'delay'
              ELSE 'end' END AS place,
         r.state, r.outcome, r.error->>'code' AS code, r.attempt, r.failed_attempts AS failed, r.lost_attempts AS lost,
         l.token, l.node_id AS node, l.attempt AS "leaseAttempt", l.log_lines AS lines,
         l.cancel_requested_at IS NOT NULL AS "cancelRequested", r.output::text AS output
  FROM request r
  LEFT JOIN lease l ON l.request_id = r.id
  LEFT JOIN queue_entry q ON q.request_id = r.id
  LEFT JOIN delayed_entry d ON d.request_id = r.id
  ORDER BY r.seq`,
};
const endedRows = {
  name: 'all_attempts',
  text: `SELECT request_id AS id, outcome AS text FROM attempt ORDER BY request_id, attempt`,
};
const eventRows = {
  name: 'all_events',
  text: `
  SELECT request_id AS id, kind || ' ' || attempt || coalesce(' ' || message, '') AS text
  FROM request_event
  ORDER BY request_id, request_event.id`,
};

async function readTables(): Promise<object[]> {
  const rows = await database.query<{ id: string }>(requestRows);
  const ended = byId(await database.query(endedRows));
  const events = byId(await database.query(eventRows));
  return rows.map((row) => ({ ...row, ended: ended.get(row.id) ?? [], events: events.get(row.id) ?? [] }));
}

function byId(rows: { id: string; text: string }[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { id, text } of rows) texts.set(id, [...(texts.get(id) ?? []), text]);
  return texts;
}

function asRow(request: ModelRequest): object {
  const { id, priority, seq, place, outcome, code, lease, ended, events } = request;
  const states = { queue: 'IN_QUEUE', delay: 'IN_QUEUE', lease: 'IN_PROGRESS', end: 'COMPLETED' } as const;
  return {
    id,
    priority,
    seq,
    place,
    state: states[place],
    outcome,
    code,
    attempt: attemptOf(request),
    failed: ended.filter((how) => how === 'failed' || how === 'timed_out').length,
    lost: ended.filter((how) => how === 'lost').length,
    token: lease?.token ?? null,
    node: lease?.node ?? null,
    leaseAttempt: lease === null ? null : attemptOf(request),
    lines: lease?.lines ?? null,
    cancelRequested: lease?.cancelRequested ?? false,
    output: outcome === 'succeeded' ? JSON.stringify(`attempt ${ended.length}`) : null,
    ended,
    events,
  };
}

/** One step: what it does to tables and model, and then a look at whether they agree in everything. */
function step(
  name: string,
  check: (model: QueueModel) => boolean,
  run: (model: QueueModel, world: World) => Promise<void>,
): Command {
  return {
    check,
    toString: () => name,
    run: async (model, world) => {
      commands++;
      await run(model, world);
      expect(await readTables()).toEqual(model.requests.map(asRow));
    },
  };
}

const always = (): boolean => true;
const pickFrom = <T>(items: readonly T[], pick: number): T => items[pick % items.length]!;
const ids = (requests: readonly ModelRequest[]): string[] => requests.map(({ id }) => id).sort();

const submitSome = (priorities: number[], overdue: boolean): Command =>
  step(`submit ${priorities.join()}${overdue ? ' overdue' : ''}`, always, async (model) => {
    const items = priorities.map((priority) => ({
      id: v7(),
      modelId,
      keyId,
      priority,
      input: Buffer.from('{}'),
      expiresMs: overdue ? -1 : hourMs,
    }));
    const submitted = await submit(database, items);
    const inOrder = submitted.map((one, i) => ({ ...one, priority: priorities[i]! }));
    inOrder.sort((a, b) => a.seq - b.seq);
    for (const { id, priority, seq } of inOrder) model.submit(id, priority, seq, overdue);
  });

const submitStartedOn = (node: number): Command =>
  step(`submit and start on ${node}`, always, async (model, { nodes }) => {
    const noneWaits = model.waiting().length === 0;
    const started = await submitStartedFor(database, nodes[node]!);
    expect(started !== undefined).toBe(noneWaits);
    if (started === undefined) return;
    const { id, seq, token } = started;
    model.submit(id, 0, seq, false);
    model.start(model.requests.at(-1)!, token, nodes[node]!);
  });

const claimFor = (node: number, limit: number): Command =>
  step(`claim ${limit} for ${node}`, always, async (model, { nodes }) => {
    const expected = model.next(limit);
    const claimed = await claimSome(database, nodes[node]!, limit);
    expect(claimed.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    for (const [i, request] of expected.entries()) {
      model.start(request, claimed[i]!.token, nodes[node]!);
      expect(claimed[i]!.attempt).toBe(attemptOf(request));
    }
  });

const log = (pick: number, from: number, count: number): Command =>
  step(
    `log ${count} lines from ${from} of ${pick}`,
    (model) => model.at('lease').length > 0,
    async (model) => {
      const request = pickFrom(model.at('lease'), pick);
      // From one that may be written already: a write that is repeated.
      const first = Math.max(1, request.lease!.lines + 1 - from);
      const numbers = Array.from({ length: count }, (_, i) => first + i);
      await appendLog(
        database,
        numbers.map((number) => line(request.id, request.lease!.token, number)),
      );
      model.log(request, numbers);
    },
  );

function line(requestId: string, token: string, number: number): Parameters<typeof appendLog>[1][number] {
  return { requestId, token, number, level: 'INFO', source: 'runner', message: `line ${number}`, atMs: 0 };
}

function ending(
  requestId: string,
  token: string,
  attemptOutcome: Finish['attemptOutcome'],
  attempt: number,
): Finish {
  const errors = {
    succeeded: null,
    failed: requestErrors.failed('model_error', 'no', 0, {}),
    timed_out: requestErrors.timedOut(0, 1_000),
    cancelled: requestErrors.cancelled(0),
  };
  const output = attemptOutcome === 'succeeded' ? JSON.stringify(`attempt ${attempt}`) : null;
  return {
    requestId,
    token,
    attemptOutcome,
    output,
    error: errors[attemptOutcome],
    message: null,
  };
}

const finishSome = (picks: number[], how: Finish['attemptOutcome']): Command =>
  step(
    `finish ${picks.join()} as ${how}`,
    (model) => model.at('lease').length > 0,
    async (model) => {
      const running = model.at('lease');
      const chosen = [...new Set(picks.map((pick) => pickFrom(running, pick)))];
      const items = chosen.map((one) => ending(one.id, one.lease!.token, how, attemptOf(one)));
      expect(await finish(database, items)).toEqual(chosen.map(() => true));
      for (const one of chosen) {
        model.finish(one, how === 'timed_out' ? 'failed' : how, how, items[0]!.error?.code ?? null);
      }
    },
  );

const giveBack = (pick: number, attemptOutcome: Requeue['attemptOutcome'], delayMs: number): Command =>
  step(
    `requeue ${pick}, ${attemptOutcome}, after ${delayMs} ms`,
    (model) => model.at('lease').length > 0,
    async (model) => {
      const request = pickFrom(model.at('lease'), pick);
      const item = { ...back(request.id, request.lease!.token), attemptOutcome, delayMs };
      const returned = (await requeue(database, item)) !== undefined;
      expect(returned).toBe(model.requeue(request, attemptOutcome, delayMs > 0));
    },
  );

function back(requestId: string, token: string): Requeue {
  const nothing = { errorCode: null, errorMessage: null, message: null };
  return { requestId, token, attemptOutcome: 'returned', delayMs: 0, ...nothing };
}

const promoteSome = (count: number): Command =>
  step(
    `promote ${count}`,
    (model) => model.at('delay').length > 0,
    async (model) => {
      const ready = model.at('delay').slice(0, count);
      await tables.rows(
        `UPDATE delayed_entry SET ready_at = now() - interval '1 second' WHERE request_id = ANY ($1)`,
        [ids(ready)],
      );
      expect(new Set((await promote(database)).map(({ seq }) => seq))).toEqual(
        new Set(ready.map(({ seq }) => seq)),
      );
      model.promote(ready);
    },
  );

const cancelOne = (pick: number): Command =>
  step(
    `cancel ${pick}`,
    (model) => model.requests.length > 0,
    async (model) => {
      const request = pickFrom(model.requests, pick);
      const { outcome } = request;
      const found = await cancel(database, request.id, requestErrors.cancelled(0));
      expect(found).toMatchObject({ result: model.cancel(request), outcome });
    },
  );

const expireAll = (): Command =>
  step('expire', always, async (model) => {
    const expired = await expire(database, modelId, requestErrors.expired(0));
    expect(expired.map(({ id }) => id).sort()).toEqual(ids(model.expire()));
  });

const loseNode = (node: number): Command =>
  step(`lose node ${node}`, always, async (model, { nodes }) => {
    const [gone, other] = [nodes[node]!, nodes[1 - node]!];
    await tables.rows(`UPDATE node SET heartbeat_at = now() - interval '1 hour' WHERE id = $1`, [gone]);
    const { requests: rescued } = await rescue(database, {
      nodeId: other,
      lostAfterMs: 60_000,
      lostLimit,
      nodeLost: requestErrors.nodeLost(0),
      cancelled: requestErrors.cancelled(0),
    });
    const lost = model.lose(gone);
    expect(rescued.map(({ id }) => id).sort()).toEqual(ids(lost));
    expect(
      rescued
        .filter((one) => one.outcome === null)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids(lost.filter(({ place }) => place === 'queue')));
    expect(await claimSome(database, gone, 9)).toEqual([]);
    nodes[node] = await tables.node(database);
  });

/** Everything that a run without its lease could try, beside one that has its lease. */
const lateWrites = (pick: number, how: Finish['attemptOutcome']): Command =>
  step(
    `late writes of ${pick} as ${how}`,
    (model) => model.requests.some(({ pastTokens }) => pastTokens.length > 0),
    async (model) => {
      const late = pickFrom(
        model.requests.filter(({ pastTokens }) => pastTokens.length > 0),
        pick,
      );
      for (const token of [pickFrom(late.pastTokens, pick), randomUUID()]) {
        expect(await finish(database, [ending(late.id, token, how, 0)])).toEqual([false]);
        expect(await requeue(database, back(late.id, token))).toBeUndefined();
        await appendLog(database, [line(late.id, token, 1_000)]);
      }
    },
  );

const pick = fc.nat(60);
const node = fc.constantFrom(0, 1);
const how = fc.constantFrom<Finish['attemptOutcome']>('succeeded', 'failed', 'timed_out', 'cancelled');
const anyCommand = [
  fc
    .tuple(
      fc.array(fc.constantFrom(-5, 0, 0, 0, 5), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(false, false, true),
    )
    .map(([priorities, overdue]) => submitSome(priorities, overdue)),
  node.map(submitStartedOn),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => claimFor(...args)),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => claimFor(...args)),
  fc.tuple(pick, fc.nat(2), fc.integer({ min: 1, max: 3 })).map((args) => log(...args)),
  fc.tuple(fc.array(pick, { minLength: 1, maxLength: 3 }), how).map((args) => finishSome(...args)),
  fc
    .tuple(pick, fc.constantFrom<Requeue['attemptOutcome']>('failed', 'returned'), fc.constantFrom(0, hourMs))
    .map((args) => giveBack(...args)),
  fc.integer({ min: 1, max: 3 }).map(promoteSome),
  pick.map(cancelOne),
  fc.constant(null).map(expireAll),
  node.map(loseNode),
  fc.tuple(pick, how).map((args) => lateWrites(...args)),
];

/** As many sequences as fit into some seconds; a failure shows the seed and the path that repeat it. */
test('whatever happens in whatever order, the tables follow the rules', async () => {
  const everything = ['request', 'attempt', 'request_event', 'queue_entry', 'delayed_entry', 'lease', 'node'];
  await fc.assert(
    fc.asyncProperty(fc.commands(anyCommand, { maxCommands: 80, size: 'max' }), async (sequence) => {
      await tables.rows(everything.map((table) => `DELETE FROM ${table}`).join('; '));
      const nodes = [await tables.node(database), await tables.node(database)];
      await fc.asyncModelRun(() => ({ model: new QueueModel(), real: { database, nodes } }), sequence);
    }),
    { numRuns: 200, interruptAfterTimeLimit: 12_000 },
  );

  expect(commands).toBeGreaterThan(100);
}, 60_000);
