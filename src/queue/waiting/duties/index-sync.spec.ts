import { Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../../../database/database.js';
import type { Statement } from '../../../database/statement.js';
import { IndexSync } from './index-sync.js';
import { WaitingIndex } from '../waiting-index.js';
import { QueueEvents } from '../../queue-events.js';

const entry = (seq: number): object => ({ modelId: 'a/model', priority: 0, seq, attempt: 0 });
const upTo = (seq: number): object[] => Array.from({ length: seq }, (_, i) => entry(i + 1));

/** The queue as the database has it. */
class Table {
  entries: object[] = [];
  reads = 0;
  counts = 0;

  query(statement: Statement, [, , after]: unknown[] = []): Promise<object[]> {
    if (statement.name === 'count_waiting') {
      this.counts++;
      return Promise.resolve([{ id: 'a/model', waiting: this.entries.length }]);
    }
    if (statement.name !== 'waiting_queue_entry' || after !== 0) return Promise.resolve([]);
    this.reads++;
    return Promise.resolve(this.entries);
  }
}

const table = new Table();
const events = new QueueEvents(new EventEmitter2());
const index = new WaitingIndex();
const sync = new IndexSync(table as unknown as Database, index, events);

async function check(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) await sync.runOnce();
}

beforeAll(() => Logger.overrideLogger(false));
beforeEach(async () => {
  table.entries = upTo(3);
  await sync.refill();
  await check(4);
  table.reads = 0;
  table.counts = 0;
});

it('does not read a queue with the right length again', async () => {
  await check(4);
  expect(table.reads).toBe(0);
});

it.each([
  ['an addition', 4],
  ['a removal', 0],
])('reads a queue again that missed %s', async (_what, waiting) => {
  table.entries = upTo(waiting);
  await check(4);
  expect(index.depth('a/model')).toBe(waiting);
});

it('does not read a queue again if its difference changes each time, because changes are in flight', async () => {
  for (const waiting of [5, 9, 4, 7, 3]) {
    table.entries = upTo(waiting);
    await check(1);
  }
  expect(table.reads).toBe(0);
});

it('counts a long queue once in twenty rounds, and a suspect one again at once', async () => {
  table.entries = upTo(60_000);
  await sync.refill();
  await check(40);
  expect(table.counts).toBe(2);
  table.reads = 0;
  table.entries = upTo(60_001);
  await check(21);
  expect(table.reads).toBe(1);
  expect(index.depth('a/model')).toBe(60_001);
});

it('stops suspecting a busy long queue until its next regular count', async () => {
  table.entries = upTo(60_000);
  await sync.refill();
  table.reads = 0;
  for (let round = 0; round < 20; round++) {
    table.entries = upTo(60_001 + round);
    await check(1);
  }
  expect(table.counts).toBeGreaterThan(0);
  expect(table.counts).toBeLessThanOrEqual(1 + 3);
  expect(table.reads).toBe(0);
});
