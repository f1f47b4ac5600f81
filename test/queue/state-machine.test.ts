import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { v7 } from 'uuid';
import type { Database } from '../../src/database/database.js';
import { appendEvents } from '../../src/queue/runs/queries/append-events.js';
import { cancel } from '../../src/queue/completion/queries/cancel.js';
import { cancelMany } from '../../src/queue/completion/queries/cancel-many.js';
import { erase } from '../../src/queue/retention/queries/erase.js';
import { expire } from '../../src/queue/completion/queries/expire.js';
import { finish, type Finish } from '../../src/queue/runs/queries/finish.js';
import { findScheduledReady, promote } from '../../src/queue/waiting/queries/promote.js';
import { release } from '../../src/queue/waiting/queries/release.js';
import { requeue, type Requeue } from '../../src/queue/runs/queries/requeue.js';
import { retry } from '../../src/queue/submit/queries/retry.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import {
  claimSome,
  ending,
  keyId,
  logLines,
  QueueTables,
  rescueSome,
  returning,
  submitBounded,
  submitStartedFor,
} from '../support/queue-tables.js';
import { readTables } from '../support/read-tables.js';
import { type Command, type World, workerCommands } from '../support/worker-commands.js';
import { attemptOf, lostLimit, type ModelRequest, type Place, QueueModel } from '../support/state-model.js';

const modelId = 'test/model';
const hourMs = 3_600_000;
/** `npm run test:processes` runs eighty. */
const sequences = Number(process.env['STATE_MACHINE_SEQUENCES'] ?? 8);

let tables: QueueTables;
let database: Database;
let commands = 0;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  await tables.rows(
    `INSERT INTO api_key (id, name, prefix, hash, scopes) VALUES ($1, 'bounded', '', sha256('x'), '{}')`,
    [keyId],
  );
});
afterAll(() => tables.drop());

function asRow(request: ModelRequest): object {
  const { id, priority, start, seq, place, outcome, code, lease, ended, events } = request;
  const { retryOf, retriedAs, erased } = request;
  const same = { id, priority, start, seq, place, outcome, code, ended, events, retryOf, retriedAs, erased };
  const waits = { queue: 'IN_QUEUE', delay: 'IN_QUEUE', held: 'IN_QUEUE' } as const;
  const states = { ...waits, lease: 'IN_PROGRESS', end: 'COMPLETED' } as const;
  return {
    ...same,
    places: place === 'end' ? 0 : 1,
    state: states[place],
    attempt: attemptOf(request),
    failed: ended.filter((how) => how === 'failed' || how === 'timed_out').length,
    lost: ended.filter((how) => how === 'lost').length,
    token: lease?.token ?? null,
    node: lease?.node ?? null,
    worker: lease?.worker ?? null,
    leaseAttempt: lease === null ? null : attemptOf(request),
    lines: lease?.lines ?? null,
    cancelRequested: lease?.cancelRequested ?? false,
    output: outcome === 'succeeded' && !erased ? outputOf(ended.length) : null,
    input: erased ? null : '{}',
  };
}

/** One step: it changes tables and model, and then checks that they agree in everything. */
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
      model.requests.sort((a, b) => a.seq - b.seq);
      expect(await readTables(database)).toEqual(model.requests.map(asRow));
    },
  };
}

const always = (): boolean => true;
const anyRuns = (model: QueueModel): boolean => model.at('lease').length > 0;
const held = ({ id, lease }: ModelRequest): { id: string; token: string } => ({ id, token: lease!.token });
const outputOf = (attempt: number): string => JSON.stringify(`attempt ${attempt}`);
const pickFrom = <T>(items: readonly T[], pick: number): T => items[pick % items.length]!;
const ids = (requests: readonly { id: string }[]): string[] => requests.map(({ id }) => id).sort();

const submitSome = (
  places: Pick<Place, 'priority' | 'start'>[],
  overdue: boolean,
  how: 'free' | 'held',
): Command =>
  step(`submit ${JSON.stringify(places)} ${how}${overdue ? ' overdue' : ''}`, always, async (model) => {
    const items = places.map(({ priority, start }) => ({
      id: v7(),
      modelId,
      keyId,
      priority,
      virtualStart: start,
      input: Buffer.from('{}'),
      expiresMs: overdue ? -1 : hourMs,
    }));
    const submitted = await (how === 'held' ? submitBounded : submit)(database, items);
    const inOrder = submitted.map((one, i) => ({ ...one, ...places[i]! }));
    inOrder.sort((a, b) => a.seq - b.seq);
    for (const { id, ...place } of inOrder) model.submit(id, place, overdue, how === 'held');
  });

const schedule = (priority: number, overdue: boolean): Command =>
  step(`schedule one of ${priority}${overdue ? ' overdue' : ''}`, always, async (model) => {
    const options = { notBefore: new Date(Date.now() + hourMs).toISOString() };
    const expiresMs = overdue ? -1 : 2 * hourMs;
    const input = Buffer.from('{}');
    const item = { id: v7(), modelId, keyId, priority, virtualStart: 0, input, expiresMs, options };
    const [submitted] = await submit(database, [item]);
    model.submit(item.id, { priority, start: 0, seq: submitted!.seq }, overdue);
    Object.assign(model.requests.at(-1)!, { place: 'delay', isScheduled: true });
  });

const submitStartedOn = (node: number): Command =>
  step(`submit and start on ${node}`, always, async (model, { nodes }) => {
    const noneWaits = model.waiting().length === 0;
    const started = await submitStartedFor(database, nodes[node]!);
    expect(started !== undefined).toBe(noneWaits);
    if (started === undefined) return;
    const { id, seq, token } = started;
    model.submit(id, { priority: 0, start: 0, seq }, false);
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
  step(`log ${count} lines from ${from} of ${pick}`, anyRuns, async (model) => {
    const request = pickFrom(model.at('lease'), pick);
    // The lines may begin with ones that are written already: a repeated write changes nothing.
    const first = Math.max(0, request.lease!.lines - from);
    const appended = await appendEvents(database, [logLines(held(request), first, count)]);
    model.log(request, first, count);
    expect(appended.get(request.id)?.next).toBe(request.lease!.lines);
  });

const finishSome = (picks: number[], how: Finish['attemptOutcome']): Command =>
  step(`finish ${picks.join()} as ${how}`, anyRuns, async (model) => {
    const running = model.at('lease');
    const chosen = [...new Set(picks.map((pick) => pickFrom(running, pick)))];
    const items = chosen.map((one) => ending(held(one), how, outputOf(attemptOf(one))));
    const isOfWorker = ({ lease }: ModelRequest): boolean => lease!.worker !== null;
    // A run of a worker that is to be cancelled is cancelled unless it succeeds.
    const yields = (one: ModelRequest): boolean =>
      isOfWorker(one) && one.lease!.cancelRequested && (how === 'failed' || how === 'timed_out');
    for (const by of ['node', 'worker'] as const) {
      const own = chosen.flatMap((one, i) => ((by === 'worker') === isOfWorker(one) ? i : []));
      const ended = await finish(
        database,
        own.map((i) => items[i]!),
        by,
      );
      expect(ended).toEqual(own.map((i) => !yields(chosen[i]!)));
    }
    for (const one of chosen.filter((each) => !yields(each))) {
      model.finish(one, how === 'timed_out' ? 'failed' : how, how, items[0]!.error?.code ?? null);
    }
  });

const giveBack = (pick: number, attemptOutcome: Requeue['attemptOutcome'], delayMs: number): Command =>
  step(`requeue ${pick}, ${attemptOutcome}, after ${delayMs} ms`, anyRuns, async (model) => {
    const request = pickFrom(model.at('lease'), pick);
    const item = returning(held(request), { attemptOutcome, delayMs });
    expect((await requeue(database, item)) !== undefined).toBe(
      model.requeue(request, attemptOutcome, delayMs > 0),
    );
  });

/** Releases requests of the bounded key until `max` run or are about to. Less urgent ones are recalled. */
const releaseSome = (max: number): Command =>
  step(`release up to ${max}`, always, async (model) => {
    await tables.rows('UPDATE api_key SET max_running = $1', [max]);
    const expected = model.release(max);
    const changed = await release(database, { keyId, modelId });
    expect(ids(changed.filter(({ isHeld }) => !isHeld))).toEqual(ids(expected.letIn));
    expect(ids(changed.filter(({ isHeld }) => isHeld))).toEqual(ids(expected.takenBack));
  });

const promoteSome = (count: number, start: number, isBounded: boolean): Command =>
  step(
    `promote ${count}, scheduled ones to ${start}`,
    (model) => model.at('delay').length > 0,
    async (model) => {
      const ready = model.at('delay').slice(0, count);
      await tables.rows(
        `UPDATE delayed_entry SET ready_at = now() - interval '1 second' WHERE request_id = ANY ($1)`,
        [ids(ready)],
      );
      const scheduled = await findScheduledReady(database);
      const promoted = await promote(
        database,
        scheduled.map((one) => ({ ...one, virtualStart: start, isBounded })),
      );
      expect(ids(promoted)).toEqual(ids(ready));
      const last = Math.max(...model.requests.map(({ seq }) => seq));
      const seqs = new Map(promoted.map(({ id, seq }) => [id, seq]));
      for (const request of ready) {
        const seq = seqs.get(request.id)!;
        // A request that joins now is behind all earlier ones.
        expect(request.isScheduled ? seq > last : seq === request.seq).toBe(true);
        model.promote(request, { start: request.isScheduled ? start : request.start, seq }, isBounded);
      }
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

const cancelSome = (picks: number[]): Command =>
  step(
    `cancel all of ${picks.join()}`,
    (model) => model.requests.length > 0,
    async (model) => {
      const chosen = [...new Set(picks.map((pick) => pickFrom(model.requests, pick)))];
      const idsAndStrangers = [...chosen.map(({ id }) => id), v7()];
      const found = await cancelMany(database, { keyId }, idsAndStrangers, requestErrors.cancelled(0));
      expect(ids(found.targets)).toEqual(ids(chosen));
      const results = chosen.map((request) => ({ id: request.id, result: model.cancel(request) }));
      const those = (word: string): string[] => ids(results.filter(({ result }) => result === word));
      expect(found.cancelled.toSorted()).toEqual(those('cancelled'));
      expect(found.requested.toSorted()).toEqual(those('requested'));
    },
  );

const retryOne = (pick: number, start: number): Command =>
  step(
    `retry ${pick} at ${start}`,
    (model) => model.requests.length > 0,
    async (model) => {
      const original = pickFrom(model.requests, pick);
      const terms = { originalId: original.id, maxExpiresMs: null, maxTimeoutMs: 1_000 };
      const id = v7();
      const { priority, isBounded } = original;
      const place = { id, virtualStart: start, priority, isBounded };
      const written = await retry(database, keyId, { ...place, ...terms });
      expect(written !== undefined).toBe(original.place === 'end' && !original.erased);
      if (written !== undefined && 'seq' in written) model.retry(original, id, { start, seq: written.seq });
    },
  );

const eraseOne = (pick: number): Command =>
  step(
    `erase ${pick}`,
    (model) => model.requests.length > 0,
    async (model) => {
      const request = pickFrom(model.requests, pick);
      const isErased = await erase(database, request.id);
      expect(isErased).toBe(request.place === 'end' && !request.erased);
      if (isErased) model.erase(request);
    },
  );

const expireAll = (): Command =>
  step('expire', always, async (model) => {
    const expired = await expire(database, requestErrors.expired(0));
    expect(ids(expired)).toEqual(ids(model.expire()));
  });

const loseNode = (node: number): Command =>
  step(`lose node ${node}`, always, async (model, { nodes }) => {
    const [gone, other] = [nodes[node]!, nodes[1 - node]!];
    await tables.rows(`UPDATE node SET heartbeat_at = now() - interval '1 hour' WHERE id = $1`, [gone]);
    const rescued = await rescueSome(database, other, lostLimit, 60_000);
    const lost = model.lose(gone);
    expect(ids(rescued)).toEqual(ids(lost));
    const goOn = rescued.filter((one) => one.outcome === null);
    expect(ids(goOn)).toEqual(ids(lost.filter(({ place }) => place === 'queue')));
    expect(await claimSome(database, gone, 9)).toEqual([]);
    nodes[node] = await tables.node(database);
  });

/** Everything that a run without its lease could try while another run has the lease. */
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
        const run = { id: late.id, token };
        expect(await finish(database, [ending(run, how)])).toEqual([false]);
        expect(await requeue(database, returning(run))).toBeUndefined();
        expect(await appendEvents(database, [logLines(run, 0)])).toEqual(new Map());
      }
    },
  );

const ofWorkers = workerCommands({ step, held, ids, database: () => database, tables: () => tables });
const pick = fc.nat(60);
const node = fc.constantFrom(0, 1);
const how = fc.constantFrom<Finish['attemptOutcome']>('succeeded', 'failed', 'timed_out', 'cancelled');
const start = fc.constantFrom(0, 0, 1_000, 2_000);
const place = fc.record({ priority: fc.constantFrom(-5, 0, 0, 0, 5), start });
const places = fc.array(place, { minLength: 1, maxLength: 5 });
const goingBack = fc.constantFrom<Requeue['attemptOutcome']>('failed', 'timed_out', 'returned', 'unreached');
const anyCommand = [
  fc
    .tuple(places, fc.constantFrom(false, false, true), fc.constantFrom('free', 'held'))
    .map((args) => submitSome(...args)),
  fc.integer({ min: 1, max: 4 }).map(releaseSome),
  fc.tuple(fc.constantFrom(-1, 0, 1), fc.constantFrom(false, false, true)).map((args) => schedule(...args)),
  node.map(submitStartedOn),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => claimFor(...args)),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => claimFor(...args)),
  fc.tuple(pick, fc.nat(2), fc.integer({ min: 1, max: 3 })).map((args) => log(...args)),
  fc.tuple(fc.array(pick, { minLength: 1, maxLength: 3 }), how).map((args) => finishSome(...args)),
  fc.tuple(pick, goingBack, fc.constantFrom(0, hourMs)).map((args) => giveBack(...args)),
  fc.tuple(fc.integer({ min: 1, max: 3 }), start, fc.boolean()).map((args) => promoteSome(...args)),
  pick.map(cancelOne),
  fc.array(pick, { minLength: 1, maxLength: 4 }).map(cancelSome),
  fc.tuple(pick, start).map((args) => retryOne(...args)),
  pick.map(eraseOne),
  fc.constant(null).map(expireAll),
  node.map(loseNode),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => ofWorkers.claim(...args)),
  fc.tuple(node, fc.integer({ min: 1, max: 4 })).map((args) => ofWorkers.claim(...args)),
  node.map(ofWorkers.lose),
  fc.constant(null).map(ofWorkers.renew),
  fc.tuple(pick, how).map((args) => lateWrites(...args)),
];

/** A sequence has about forty commands. A failure shows the seed and the path that repeat it. */
test('random sequences of operations leave the tables in the state that the model predicts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(anyCommand, { maxCommands: 80, size: 'max' }), async (sequence) => {
      await tables.clear();
      const nodes = [await tables.node(database), await tables.node(database)];
      await fc.asyncModelRun(
        () => ({ model: new QueueModel(), real: { nodes, workers: [randomUUID(), randomUUID()] } }),
        sequence,
      );
    }),
    { numRuns: sequences },
  );
  expect(commands).toBeGreaterThan(sequences);
}, 300_000);
