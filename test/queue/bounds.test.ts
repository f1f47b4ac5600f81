import { EventEmitter2 } from '@nestjs/event-emitter';
import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { Clock } from '../../src/database/clock.js';
import type { Database } from '../../src/database/database.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { beat } from '../../src/queue/cluster/queries/heartbeat.js';
import { cancel } from '../../src/queue/completion/queries/cancel.js';
import { cancelMany } from '../../src/queue/completion/queries/cancel-many.js';
import type { Claimed } from '../../src/queue/runs/queries/claim.js';
import { expire } from '../../src/queue/completion/queries/expire.js';
import { finish } from '../../src/queue/runs/queries/finish.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { BoundedKeys } from '../../src/queue/waiting/bounded-keys.js';
import { Releaser } from '../../src/queue/waiting/duties/releaser.js';
import { promote } from '../../src/queue/waiting/queries/promote.js';
import { findExceededBounds, findUnboundedKeys, recall } from '../../src/queue/waiting/queries/recall.js';
import { findReleasable } from '../../src/queue/waiting/queries/releasable.js';
import { lockKey, release } from '../../src/queue/waiting/queries/release.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { submitOnce } from '../../src/queue/submit/queries/submit-once.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { WaitingIndex } from '../../src/queue/waiting/waiting-index.js';
import { startTestService, until } from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import {
  claimSome,
  ending,
  keyId,
  QueueTables,
  rescueSome,
  returning,
  submitBounded,
  submitSome,
} from '../support/queue-tables.js';
import { seeded } from '../support/seeded.js';

const modelId = 'test/model';
const heldQueue = { keyId, modelId };
const hourMs = 3_600_000;
const cancelled = requestErrors.cancelled(0);

let tables: QueueTables;
let here: Database;
let there: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  there = tables.session();
  await tables.rows(
    `INSERT INTO api_key (id, name, prefix, hash, scopes) VALUES ($1, 'bounded', '', sha256('x'), '{}')`,
    [keyId],
  );
});
beforeEach(async () => {
  await tables.clear();
  await bound(null);
  node = await tables.node(here);
});
afterAll(() => tables.drop());

/** `setAgo`: the time since the bound was set, as an interval; null: the key has had it from the start. */
const bound = (max: number | null, setAgo: string | null = null): Promise<object[]> =>
  tables.rows('UPDATE api_key SET max_running = $1, bounded_at = now() - $2::interval', [max, setAgo]);

async function submitHeld(count: number, { priority = 0, model = modelId } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => v7());
  const input = Buffer.from('{}');
  const common = { modelId: model, keyId, priority, virtualStart: 0, input, expiresMs: hourMs };
  const items = ids.map((id) => ({ ...common, id }));
  await submitBounded(here, items);
  return ids;
}

/** The releaser of a process that has just started. */
function newReleaser(cluster = new Cluster()): Releaser {
  const events = new QueueEvents(new EventEmitter2());
  const keys = new BoundedKeys(here, events);
  return new Releaser(here, keys, events, new WaitingIndex(), new Clock(), cluster);
}

const firstRound = (): Promise<void> => newReleaser().runOnce();

/** Returns the ids of the released requests (`in`) and of the recalled ones (`back`). */
async function released(database = here, of = heldQueue): Promise<{ in: string[]; back: string[] }> {
  const changed = await release(database, of);
  const idsOf = (isHeld: boolean): string[] =>
    changed.filter((one) => one.isHeld === isHeld).map(({ id }) => id);
  return { in: idsOf(false).sort(), back: idsOf(true).sort() };
}

const idsIn = async (table: string, condition = 'true'): Promise<string[]> =>
  (
    await tables.rows<{ id: string }>(`SELECT request_id AS id FROM ${table} WHERE ${condition} ORDER BY seq`)
  ).map(({ id }) => id);
const heldIds = (): Promise<string[]> => idsIn('delayed_entry', `ready_at = 'infinity'`);

describe('a key at its bound', () => {
  test('parks its requests, and releases the first ones in the order of the queue', async () => {
    await bound(2);
    const late = await submitHeld(3);
    const urgent = await submitHeld(1, { priority: -1 });
    expect(await claimSome(here, node, 9)).toEqual([]);
    expect((await released()).in).toEqual([late[0]!, ...urgent].sort());
    expect(await released()).toEqual({ in: [], back: [] });
    expect((await claimSome(here, node, 9)).map(({ id }) => id)).toEqual([...urgent, late[0]]);
    expect(await heldIds()).toEqual(late.slice(1));
  });

  test('parks only its own requests when one statement writes requests of several keys', async () => {
    await bound(1);
    const common = { modelId, priority: 0, virtualStart: 0, input: Buffer.from('{}'), expiresMs: hourMs };
    const [held, free, scheduled] = [v7(), v7(), v7()];
    const options = { notBefore: new Date(Date.now() + hourMs).toISOString() };
    await submitOnce(here, [
      { ...common, id: held, keyId, isBounded: true },
      { ...common, id: free, keyId: randomUUID() },
      { ...common, id: scheduled, keyId: randomUUID(), options },
    ]);
    expect(await heldIds()).toEqual([held]);
    expect(await idsIn('queue_entry', 'bounded_key_id IS NULL')).toEqual([free]);
    expect(await idsIn('delayed_entry', 'is_scheduled AND bounded_key_id IS NULL')).toEqual([scheduled]);
  });

  test('has a separate bound for each model, and other keys are not affected', async () => {
    await bound(1);
    const ids = [...(await submitHeld(2)), ...(await submitHeld(2, { model: 'test/other' }))];
    expect((await released()).in).toEqual([ids[0]]);
    expect((await released(here, { keyId, modelId: 'test/other' })).in).toEqual([ids[2]]);
    const [stranger] = await submitSome(here, 1);
    expect((await claimSome(here, node, 9)).map(({ id }) => id)).toEqual([ids[0], stranger]);
  });

  test('releases the next request when one has finished', async () => {
    await bound(1);
    const ids = await submitHeld(2);
    await released();
    await finish(
      here,
      (await claimSome(here, node, 9)).map((run) => ending(run)),
    );
    expect((await released()).in).toEqual([ids[1]]);
  });

  test.each([
    ['waits for another attempt', (run: Claimed) => requeue(here, returning(run, { delayMs: hourMs }))],
    ['waits again at its place', (run: Claimed) => requeue(here, returning(run))],
    ['was lost with its node', async () => rescueSome(here, await tables.node(here), 9)],
  ])('releases no other request when one %s', async (_, end: (run: Claimed) => Promise<unknown>) => {
    await bound(1);
    await submitHeld(2);
    await released();
    const [run] = (await claimSome(here, node, 9)) as [Claimed];
    await end(run);
    expect((await released()).in).toEqual([]);
  });

  test('releases the next request only after the last attempt of the current one', async () => {
    await bound(1);
    const [first, second] = await submitHeld(2);
    await released();
    for (const delayMs of [0, hourMs, 0]) {
      const [run] = (await claimSome(here, node, 9)) as [Claimed];
      expect(run.boundedKeyId).toBe(keyId);
      await requeue(here, returning(run, { attemptOutcome: 'failed', delayMs }));
      expect((await released()).in).toEqual([]);
      await tables.rows(`UPDATE delayed_entry SET ready_at = now() WHERE request_id = $1`, [first]);
      await promote(here, []);
    }
    const [last] = (await claimSome(here, node, 9)) as [Claimed];
    expect([last.id, last.attempt]).toEqual([first, 4]);
    await finish(here, [ending(last)]);
    expect((await released()).in).toEqual([second]);
  });

  test('has parked requests that expire and that can be cancelled, one by one or in bulk', async () => {
    await bound(1);
    const ids = await submitHeld(6);
    await released();
    expect(await cancel(here, ids[1]!, cancelled)).toMatchObject({ result: 'cancelled' });
    expect(await cancelMany(here, { keyId }, [ids[0]!, ids[2]!, ids[3]!], cancelled)).toMatchObject({
      cancelled: expect.arrayContaining([ids[0], ids[2], ids[3]]) as string[],
    });
    await tables.rows(`UPDATE delayed_entry SET expires_at = now() WHERE request_id = $1`, [ids[4]]);
    expect(await expire(here, requestErrors.expired(0))).toMatchObject([{ id: ids[4] }]);
    expect((await released()).in).toEqual([ids[5]]);
  });
});

describe('a released request', () => {
  test('gives way to a more urgent request until it is claimed', async () => {
    await bound(1);
    const [late] = await submitHeld(1);
    await released();
    const [urgent] = await submitHeld(1, { priority: -1 });
    expect(await released()).toEqual({ in: [urgent], back: [late] });
    expect(await released()).toEqual({ in: [], back: [] });
    await claimSome(here, node, 9);
    await submitHeld(1, { priority: -2 });
    expect(await released()).toEqual({ in: [], back: [] });
  });

  test('does not give way while a claim has it locked', async () => {
    await bound(1);
    await submitHeld(1);
    await released();
    await submitHeld(1, { priority: -1 });
    await here.execute('BEGIN');
    await claimSome(here, node, 1);
    expect(await released(there)).toEqual({ in: [], back: [] });
    await here.execute('COMMIT');
    expect(await released(there)).toEqual({ in: [], back: [] });
  });

  test('is parked again when the bound is lowered, and more are released when it is raised', async () => {
    await bound(3);
    const ids = await submitHeld(5);
    await released();
    const [running] = await claimSome(here, node, 1);
    await bound(1);
    expect(await released()).toEqual({ in: [], back: ids.slice(1, 3) });
    expect(await heldIds()).toEqual(ids.slice(1));
    await bound(4);
    expect(await released()).toEqual({ in: ids.slice(1, 4), back: [] });
    expect(running!.id).toBe(ids[0]);
  });

  test('is no longer counted when the bound is removed, and all parked requests are released', async () => {
    await bound(1);
    const ids = await submitHeld(1_500);
    await released();
    expect(await findReleasable(here, 0)).toEqual([]);
    await bound(null);
    expect(await findReleasable(here, 0)).toEqual([heldQueue]);
    expect((await released()).in).toHaveLength(1_000);
    expect((await released()).in).toHaveLength(499);
    expect(await findReleasable(here, 0)).toEqual([]);
    expect(await idsIn('queue_entry')).toEqual(ids);
    expect(await idsIn('queue_entry', 'bounded_key_id IS NOT NULL')).toEqual(ids.slice(0, 1));
  });

  test('replaces an earlier request that a cancel has locked, until the cancel is rolled back', async () => {
    await bound(1);
    const ids = await submitHeld(3);
    await here.execute('BEGIN');
    await cancel(here, ids[0]!, cancelled);
    expect((await released(there)).in).toEqual([ids[1]]);
    await here.execute('ROLLBACK');
    expect(await released(there)).toEqual({ in: [ids[0]], back: [ids[1]] });
  });
});

test('concurrent releases wait for each other, and together release no more requests than the bound', async () => {
  await bound(2);
  await submitHeld(5);
  const third = tables.session();
  await third.execute('BEGIN');
  await third.query(lockKey, [keyId]);
  const both = [released(here), released(there)];
  await tables.blocked(2);
  await third.execute('COMMIT');
  expect((await Promise.all(both)).flatMap((one) => one.in)).toHaveLength(2);
});

describe('a new bound', () => {
  test('applies to requests that wait, run or wait for a retry; scheduled requests stay scheduled', async () => {
    const ids = await submitSome(here, 5);
    const runs = await claimSome(here, node, 2);
    await requeue(here, returning(runs[1]!, { delayMs: hourMs }));
    const notBefore = new Date(Date.now() + hourMs).toISOString();
    const scheduled = { id: v7(), modelId, keyId, priority: 0, virtualStart: 0, expiresMs: null };
    await submit(here, [{ ...scheduled, input: Buffer.from('{}'), options: { notBefore } }]);
    expect(await recall(here, keyId)).toEqual([]);
    await bound(3, '0');
    expect(await findReleasable(here, 0)).toEqual([{ keyId, modelId: null }]);
    expect(await findUnboundedKeys(here, 0)).toEqual([keyId]);
    expect((await recall(here, keyId)).map(({ id }) => id).sort()).toEqual(ids.slice(2).sort());
    expect(await findUnboundedKeys(here, 0)).toEqual([]);
    expect(await findReleasable(here, 0)).toEqual(
      expect.arrayContaining([heldQueue, { keyId, modelId: null }]),
    );
    expect((await released()).in).toEqual([ids[2]]);
    expect(await findExceededBounds(here, 0)).toEqual([]);
    await bound(2, '0');
    expect(await findExceededBounds(here, 0)).toEqual([heldQueue]);
    expect(await heldIds()).toEqual(ids.slice(3));
    expect(await idsIn('delayed_entry', 'is_scheduled')).toEqual([scheduled.id]);
  });

  test('applies in the first round of a process, however long ago it was set', async () => {
    const ids = await submitSome(here, 5);
    await claimSome(here, node, 2);
    await bound(3, '1 day');
    await firstRound();
    const counted = await tables.rows('SELECT FROM lease WHERE bounded_key_id = $1', [keyId]);
    expect(counted).toHaveLength(2);
    expect(await idsIn('queue_entry')).toEqual([ids[2]]);
    expect(await heldIds()).toEqual(ids.slice(3));
  });

  test('is noticed by the next heartbeat of a node, and applies in the round that follows', async () => {
    const cluster = new Cluster();
    const beatOnce = async () => cluster.update(await beat(here, node, hourMs), performance.now());
    await beatOnce();
    const releaser = newReleaser(cluster);
    await releaser.runOnce();
    const ids = await submitSome(here, 3);
    await bound(1, '0');
    await releaser.runOnce();
    expect(await heldIds()).toEqual([]);
    await beatOnce();
    await releaser.runOnce();
    expect(await heldIds()).toEqual(ids.slice(1));
  });

  test('counts the current runs of the key before the first release', async () => {
    await submitSome(here, 2);
    await claimSome(here, node, 2);
    await bound(2, '0');
    const ids = await submitHeld(2);
    await firstRound();
    expect(await heldIds()).toEqual(ids);
  });

  test('takes requests out of the queue if it is lower than the one before', async () => {
    await bound(3);
    const ids = await submitHeld(4);
    await released();
    await bound(1, '0');
    await firstRound();
    expect(await idsIn('queue_entry')).toEqual([ids[0]]);
    expect(await heldIds()).toEqual(ids.slice(1));
  });

  test('is applied again in the next round if a release fails', async () => {
    await bound(3);
    const ids = await submitHeld(4);
    await released();
    await bound(1, '1 hour');
    const releaser = newReleaser();
    const failing = jest.spyOn(here, 'atomically').mockRejectedValueOnce(new Error('it took too long'));
    await releaser.runOnce();
    failing.mockRestore();
    expect(await heldIds()).toEqual(ids.slice(3));
    await releaser.runOnce();
    expect(await heldIds()).toEqual(ids.slice(1));
  });

  test('skips a request that a claim has locked, and counts it as running in the next round', async () => {
    await submitSome(here, 2);
    await bound(1);
    await here.execute('BEGIN');
    const [run] = await claimSome(here, node, 1);
    expect(await recall(there, keyId)).toHaveLength(1);
    await here.execute('COMMIT');
    await recall(there, keyId);
    expect((await released(there)).in).toEqual([]);
    await finish(here, [ending(run!)]);
    expect((await released(there)).in).toHaveLength(1);
  });
});

test('a scheduled request of a bounded key is parked when its time comes', async () => {
  await bound(1);
  const id = v7();
  const notBefore = new Date(Date.now() + hourMs).toISOString();
  const item = {
    id,
    modelId,
    keyId,
    priority: 0,
    virtualStart: 0,
    input: Buffer.from('{}'),
    expiresMs: null,
  };
  await submitBounded(here, [{ ...item, options: { notBefore } }]);
  expect(await released()).toEqual({ in: [], back: [] });
  await tables.rows(`UPDATE delayed_entry SET ready_at = now()`);
  const promoted = await promote(here, [{ id, virtualStart: 7, isBounded: true }]);
  expect(promoted).toMatchObject([{ id, keyId, start: 7, isScheduled: true, isHeld: true }]);
  expect((await released()).in).toEqual([id]);
});

/** Requests of the bounded key. */
interface Counts {
  taken: number;
  started: number;
}

test.each([1, 2, 3])(
  'concurrent operations never run more requests than the bound (seed %i)',
  async (seed) => {
    const max = 3;
    await bound(max);
    const ids: string[] = [];
    let isOver = false;
    const watch = async (): Promise<Counts[]> => {
      const seen: Counts[] = [];
      while (!isOver) {
        seen.push(
          ...(await tables.rows<Counts>(
            `SELECT (SELECT count(*)::integer FROM lease) AS started,
                  (SELECT count(*)::integer FROM lease) + (SELECT count(*)::integer FROM queue_entry)
                  + (SELECT count(*)::integer FROM delayed_entry WHERE ready_at < 'infinity') AS taken`,
          )),
        );
      }
      return seen;
    };

    const worker = async (database: Database, random: () => number): Promise<void> => {
      const runs: Claimed[] = [];
      const take = (): Claimed => runs.splice(Math.floor(random() * runs.length), 1)[0]!;
      const giveBack = async (delayMs: number): Promise<void> => {
        if (runs.length === 0) return;
        const run = take();
        const entry = await requeue(database, returning(run, { delayMs }));
        if (entry === undefined) await finish(database, [ending(run)]);
      };
      const steps = [
        async () => void ids.push(...(await submitHeld(3, { priority: Math.floor(random() * 3) - 1 }))),
        () => release(database, heldQueue),
        () => release(database, heldQueue),
        async () => void runs.push(...(await claimSome(database, node, 2))),
        async () => void runs.push(...(await claimSome(database, node, 2))),
        async () => runs.length > 0 && (await finish(database, [ending(take())])),
        () => giveBack(0),
        () => giveBack(1),
        () => promote(database, []),
        async () =>
          ids.length > 0 && (await cancel(database, ids[Math.floor(random() * ids.length)]!, cancelled)),
        async () => {
          if (runs.length === 0) return;
          await tables.rows('UPDATE lease SET node_id = $1 WHERE request_id = $2', [randomUUID(), take().id]);
          await rescueSome(database, node, 99, hourMs);
        },
      ];
      for (let i = 0; i < 60; i++) await steps[Math.floor(random() * steps.length)]!();
      for (const run of runs) await finish(database, [ending(run)]);
    };

    const watching = watch();
    const sessions = [tables.session(), tables.session(), tables.session()];
    await Promise.all(sessions.map((session, i) => worker(session, seeded(100 * seed + i))));
    await rescueSome(here, node, 99, hourMs);
    for (let left = 1; left > 0;) {
      await promote(here, []);
      await release(here, heldQueue);
      await finish(
        here,
        (await claimSome(here, node, 9)).map((run) => ending(run)),
      );
      [left] = (
        await tables.rows<{ left: number }>(
          `SELECT count(*)::integer AS left FROM request WHERE state <> 'COMPLETED'`,
        )
      ).map((row) => row.left) as [number];
    }
    isOver = true;
    const seen = await watching;
    expect(Math.max(...seen.map(({ taken }) => taken))).toBe(max);
    expect(Math.max(...seen.map(({ started }) => started))).toBeGreaterThan(1);
    expect(await tables.rows(`SELECT DISTINCT outcome FROM request ORDER BY outcome`)).toEqual([
      { outcome: 'cancelled' },
      { outcome: 'succeeded' },
    ]);
  },
);

test('a bound that was set while no process ran holds from the first claim on', async () => {
  await tables.clear();
  const model = await new ModelServer().start();
  model.takesMs = 20;
  await submitSome(here, 12);
  await bound(2, '1 day');
  const models = model.file({ [modelId]: { concurrency: 8 } });
  const service = await startTestService({ models, config: { databaseUrl: tables.databaseUrl } });
  try {
    await until(
      async () => (await tables.rows(`SELECT FROM request WHERE state <> 'COMPLETED'`)).length === 0,
    );
    expect(model.maxAtOnce).toBe(2);
  } finally {
    await service.stop();
    await model.stop();
  }
});
