import { Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../../../database/database.js';
import type { Statement } from '../../../database/statement.js';
import { IndexSync } from './index-sync.js';
import { type EntryChange, WaitingIndex } from '../waiting-index.js';
import { QueueEvents } from '../../queue-events.js';

const entry = (seq: number): object => ({ modelId: 'a/model', priority: 0, start: 0, seq, attempt: 0 });
const upTo = (seq: number): object[] => Array.from({ length: seq }, (_, i) => entry(i + 1));

/** The queue as the database has it. */
class Table {
  entries: object[] = [];
  delayed: object[] = [];
  /** Called when the first page of a table has been read, and is on its way. */
  afterRead = (_table: string): void => undefined;
  reads = 0;
  counts = 0;

  query(statement: Statement, [, , , after]: unknown[] = []): Promise<object[]> {
    if (statement.name === 'count_waiting') {
      this.counts++;
      return Promise.resolve([{ id: 'a/model', waiting: this.entries.length }]);
    }
    if (after !== 0) return Promise.resolve([]);
    if (statement.name === 'waiting_queue_entry') this.reads++;
    const page = statement.name === 'waiting_queue_entry' ? this.entries : this.delayed;
    this.afterRead(statement.name);
    return Promise.resolve(page);
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
  table.delayed = [];
  table.afterRead = () => undefined;
  await sync.refill();
  await check(4);
  table.reads = 0;
  table.counts = 0;
});

it.each(['waiting_queue_entry', 'waiting_delayed_entry'])(
  'counts a request once that leaves its delay when a refill has read %s',
  async (read) => {
    [table.entries, table.delayed] = [upTo(2), [entry(3)]];
    table.afterRead = (name) => {
      if (name === read) [table.entries, table.delayed] = [upTo(3), []];
    };
    await sync.refill();
    expect(index.depth('a/model')).toBe(3);
  },
);

it.each(['waiting_queue_entry', 'waiting_delayed_entry'])(
  'counts a held request once that is released when a refill has read %s',
  async (read) => {
    const held = entry(3) as EntryChange;
    [table.entries, table.delayed] = [upTo(2), [{ ...held, isHeld: true }]];
    table.afterRead = (name) => {
      if (name !== read) return;
      [table.entries, table.delayed] = [upTo(3), []];
      events.publish({ released: [held] });
    };
    await sync.refill();
    expect(index.depth('a/model')).toBe(3);
    expect(index.claimable('a/model')).toBe(3);
  },
);

it('leaves a request held that is held again when a refill has read it', async () => {
  table.afterRead = (name) => {
    if (name === 'waiting_queue_entry') events.publish({ held: [entry(3) as EntryChange] });
  };
  await sync.refill();
  expect(index.claimable('a/model')).toBe(2);
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
