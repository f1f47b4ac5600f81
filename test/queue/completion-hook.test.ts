import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { registerCompletionHook } from '../../src/queue/completion.js';
import { cancel } from '../../src/queue/queries/cancel.js';
import type { Claimed } from '../../src/queue/queries/claim.js';
import { expire } from '../../src/queue/queries/expire.js';
import { finish } from '../../src/queue/queries/finish.js';
import { requeue } from '../../src/queue/queries/requeue.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import {
  claimSome,
  ending,
  keyId,
  QueueTables,
  rescueSome,
  returning,
  runOne,
  submitSome,
} from '../support/queue-tables.js';

const hook = {
  name: 'noted',
  sql: `INSERT INTO noted (request_id, model_id, api_key_id, attempt, outcome, completed_at)
  SELECT id, model_id, api_key_id, attempt, outcome, completed_at
  FROM completed`,
};
registerCompletionHook(hook);

let tables: QueueTables;
let database: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  await tables.rows(
    `CREATE TABLE noted (request_id uuid, model_id text, api_key_id uuid, attempt integer, outcome text,
                         completed_at timestamptz)`,
  );
});
beforeEach(async () => {
  await tables.rows('TRUNCATE noted');
  await tables.clear();
  node = await tables.node(database);
});
afterAll(() => tables.drop());

const run = (): Promise<Claimed> => runOne(database, node);

async function cancelWaiting(): Promise<void> {
  const [id] = await submitSome(database, 1);
  await cancel(database, id!, requestErrors.cancelled(0));
}

async function expireWaiting(): Promise<void> {
  await submitSome(database, 1);
  await tables.rows(`UPDATE queue_entry SET expires_at = now() - interval '1 s'`);
  await expire(database, requestErrors.expired(0));
}

async function rescueLost(lostLimit: number): Promise<void> {
  await rescueSome(database, await tables.node(database), lostLimit);
}

describe('what follows from a completion is written', () => {
  test.each<[verb: string, outcome: string, attempt: number, complete: () => Promise<unknown>]>([
    ['a finish of successes alone', 'succeeded', 1, async () => finish(database, [ending(await run())])],
    ['a finish of a failure', 'failed', 1, async () => finish(database, [ending(await run(), 'failed')])],
    ['a cancel of what waits', 'cancelled', 0, cancelWaiting],
    ['an expiry', 'expired', 0, expireWaiting],
    ['a rescue that gives up', 'failed', 1, async () => run().then(() => rescueLost(1))],
  ])('by %s, in the same commit', async (_verb, outcome, attempt, complete) => {
    await complete();
    const [noted, ...others] = await tables.rows(
      `SELECT noted.outcome, noted.attempt, noted.model_id, noted.api_key_id,
              noted.xmin::text = request.xmin::text AS same_commit,
              noted.completed_at = request.completed_at AND noted.outcome = request.outcome AS same_end
       FROM noted JOIN request ON request.id = noted.request_id`,
    );
    expect(others).toEqual([]);
    const request = { model_id: 'test/model', api_key_id: keyId };
    expect(noted).toEqual({ outcome, attempt, ...request, same_commit: true, same_end: true });
  });

  test('for those of a batch that held their lease, and for no other', async () => {
    const [lost, ...kept] = [await run(), await run(), await run()];
    for (const [i, how] of (['succeeded', 'failed'] as const).entries()) {
      const stranger = { ...lost, token: randomUUID() };
      const batch = [ending(stranger, how), ending(kept[i]!, how)];
      expect(await finish(database, batch)).toEqual([false, true]);
    }
    const noted = await tables.rows<{ request_id: string }>('SELECT request_id FROM noted');
    expect(noted.map(({ request_id: id }) => id)).toEqual(kept.map(({ id }) => id));
  });
});

describe('nothing follows', () => {
  afterEach(async () => expect(await tables.rows('SELECT FROM noted')).toEqual([]));

  test('from a run that goes back to the queue, whoever gives it back', async () => {
    await requeue(database, returning(await run()));
    await claimSome(database, node, 1);
    await rescueLost(9);
  });

  test('from a cancel that asks a run to stop', async () => {
    await cancel(database, (await run()).id, requestErrors.cancelled(0));
  });

  test('from a finish that was rolled back', async () => {
    const ended = ending(await run());
    await database.execute('BEGIN');
    expect(await finish(database, [ended])).toEqual([true]);
    await database.execute('ROLLBACK');
  });
});

test('a hook is refused once the statements are made, unless it is one of theirs', async () => {
  await finish(database, [ending(await run())]);
  expect(() => registerCompletionHook(hook)).not.toThrow();
  expect(() => registerCompletionHook({ name: 'other', sql: hook.sql })).toThrow('too late');
});
