import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import type { Database } from '../../src/database/database.js';
import { Backlog, type Coming } from '../../src/queue/submit/backlog.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { WaitingIndex } from '../../src/queue/waiting/waiting-index.js';
import { QueueTables } from '../support/queue-tables.js';

const modelId = 'test/model';
let tables: QueueTables;
let database: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
});
afterAll(() => tables.drop());

/** Writes requests of a key that wait, or that are scheduled. */
async function write(keyId: string, count: number, notBefore?: string): Promise<void> {
  const common = { modelId, keyId, priority: 0, virtualStart: 0, input: Buffer.from('{}'), expiresMs: null };
  const options = notBefore === undefined ? {} : { options: { notBefore } };
  await submit(
    database,
    Array.from({ length: count }, () => ({ ...common, ...options, id: v7() })),
  );
}

test('one statement counts the waiting and scheduled requests of all keys that submit at once', async () => {
  const keys = Array.from({ length: 20 }, () => randomUUID());
  const [waiting, scheduled, ...others] = keys as [string, string, ...string[]];
  await write(waiting, 3);
  await write(scheduled, 1);
  await write(scheduled, 2, new Date(Date.now() + 3_600_000).toISOString());
  for (const other of others) await write(other, 2);
  const statements: string[] = [];
  database.onStatement = (name) => statements.push(name);
  const backlog = new Backlog(database, new WaitingIndex());
  const bounds = { isPaused: false, ofModel: null, ofKey: 3 };
  const entered = await Promise.all(
    keys.map(async (keyId) => {
      const item: Coming = { modelId, keyId, bounds };
      return (await backlog.enter([item])).refusals.get(item)?.code;
    }),
  );
  expect(entered).toEqual(['queue_full', 'queue_full', ...others.map(() => undefined)]);
  expect(statements).toHaveLength(1);
});
