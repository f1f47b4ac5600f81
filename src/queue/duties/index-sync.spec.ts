import { Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import { LineKeeper } from './index-sync.js';
import { Lines } from '../waiting/waiting-index.js';
import { QueueEvents } from '../queue-events.js';

const place = (seq: number): object => ({ modelId: 'a/model', priority: 0, seq, attempt: 0 });
const upTo = (seq: number): object[] => Array.from({ length: seq }, (_, i) => place(i + 1));

/** The line as the database has it. */
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
const lines = new Lines();
const keeper = new LineKeeper(table as unknown as Database, lines, events);

async function look(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) await keeper.runOnce();
}

beforeAll(() => Logger.overrideLogger(false));
beforeEach(async () => {
  table.entries = upTo(3);
  await keeper.open();
  await keeper.refill();
  await look(4);
  table.reads = 0;
  table.counts = 0;
});

it('leaves a line alone that is right', async () => {
  await look(4);
  expect(table.reads).toBe(0);
});

it('reads a line again that has missed who entered', async () => {
  table.entries = upTo(4);
  await look(4);
  expect(lines.depth('a/model')).toBe(4);
});

it('reads a line again that has missed who left', async () => {
  table.entries = [];
  await look(4);
  expect(lines.depth('a/model')).toBe(0);
});

it('does not read a line again for what is under way, which is another number each time', async () => {
  for (const waiting of [5, 9, 4, 7, 3]) {
    table.entries = upTo(waiting);
    await look(1);
  }
  expect(table.reads).toBe(0);
});

it('counts a long line once in twenty rounds, and in doubt at once again', async () => {
  table.entries = upTo(60_000);
  await keeper.refill();
  await look(40);
  expect(table.counts).toBe(2);
  table.reads = 0;
  table.entries = upTo(60_001);
  await look(21);
  expect(table.reads).toBe(1);
  expect(lines.depth('a/model')).toBe(60_001);
});

it('gives up doubting a long line that is busy until the next time it is counted', async () => {
  table.entries = upTo(60_000);
  await keeper.refill();
  table.reads = 0;
  for (let round = 0; round < 20; round++) {
    table.entries = upTo(60_001 + round);
    await look(1);
  }
  expect(table.counts).toBeGreaterThan(0);
  expect(table.counts).toBeLessThanOrEqual(1 + 3);
  expect(table.reads).toBe(0);
});
