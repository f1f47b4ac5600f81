import { Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../database/database.js';
import type { Statement } from '../database/statement.js';
import { LineKeeper } from './line-keeper.js';
import { Lines } from './lines.js';
import { QueueEvents } from './queue-events.js';

const place = (seq: number): object => ({ modelId: 'a/model', priority: 0, seq, attempt: 0 });
const upTo = (seq: number): object[] => Array.from({ length: seq }, (_, i) => place(i + 1));

/** The line as the database has it. */
class Table {
  entries: object[] = [];
  reads = 0;

  query(statement: Statement, [, , after]: unknown[] = []): Promise<object[]> {
    if (statement.name === 'count_waiting')
      return Promise.resolve([{ id: 'a/model', waiting: this.entries.length }]);
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
