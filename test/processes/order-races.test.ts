import { QueueEvents } from '../../src/queue/queue-events.js';
import { orderKeyOf } from '../../src/queue/waiting/fair-queue.js';
import type { EntryChange } from '../../src/queue/waiting/waiting-index.js';
import { until } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/shared': { concurrency: 2, attempts: 3, retry: { base: '5ms', cap: '5ms' } } },
  limits: 'off',
});

interface Row {
  id: string;
  keyId: string;
  priority: number;
  start: number;
  seq: number;
}

/** A position that was higher than the last one. The changes from `from` to `to` happened meanwhile. */
interface Rise {
  id: string;
  by: number;
  from: number;
  to: number;
}

type Reason = 'priority' | 'came back' | 'turn' | 'none';

function reasonOf(entry: EntryChange, row: Row): Reason | undefined {
  const order = entry.priority - row.priority || entry.start - row.start || entry.seq - row.seq;
  if (order >= 0) return undefined;
  if (entry.priority < row.priority) return 'priority';
  if (entry.attempt > 0) return 'came back';
  return entry.orderKey === orderKeyOf(row.keyId) ? 'none' : 'turn';
}

/** Reads positions again and again, and keeps every rise. */
class Watcher {
  readonly rises: Rise[] = [];
  readonly ids: string[] = [];
  private readonly changes: EntryChange[] = [];
  private readonly last = new Map<string, { position: number; from: number }>();

  constructor() {
    service.app.get(QueueEvents).subscribe(({ added = [] }) => this.changes.push(...added));
  }

  /** Counts the reasons of all rises. `unexplained`: rises with fewer reasons than places. */
  async reasons(): Promise<{ counts: Record<Reason, number>; unexplained: object[] }> {
    const rows = await service.query<Row>(
      `SELECT id, api_key_id AS "keyId", priority, virtual_start::integer AS start, seq::integer FROM request`,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const counts = { priority: 0, 'came back': 0, turn: 0, none: 0 };
    const unexplained: object[] = [];
    for (const { id, by, from, to } of this.rises) {
      const row = byId.get(id)!;
      const reasons = this.changes.slice(from, to).flatMap((entry) => reasonOf(entry, row) ?? []);
      for (const reason of reasons) counts[reason]++;
      if (reasons.filter((reason) => reason !== 'none').length < by) unexplained.push({ id, by, reasons });
    }
    return { counts, unexplained };
  }

  async watch(whileIt: () => boolean): Promise<void> {
    for (let i = 0; whileIt(); i++) {
      const id = this.ids[i % Math.max(1, this.ids.length)];
      if (id !== undefined) await this.look(id);
      await new Promise(setImmediate);
    }
  }

  async look(id: string): Promise<void> {
    const from = this.changes.length;
    const { queue_position: position } = await calls.status(id);
    const last = this.last.get(id);
    if (position === undefined) {
      // It runs. If it comes back, its position counts as new.
      this.last.delete(id);
      return;
    }
    if (last !== undefined && position > last.position)
      this.rises.push({ id, by: position - last.position, from: last.from, to: this.changes.length });
    this.last.set(id, { position, from });
  }
}

const headersOfKeys = (count: number): Promise<Record<string, string>[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => keyHeader(await calls.newKey({ name: `key ${i}` }))),
  );

test('a position rises for a retry, a higher priority and another key’s turn, and for nothing else', async () => {
  const keys = await headersOfKeys(5);
  model.takesMs = 2;
  const watcher = new Watcher();
  let moving = true;
  const watching = watcher.watch(() => moving);
  // One key has a batch; the others submit now and then.
  await inParallel(8, Array.from({ length: 400 }), async (_, i) => {
    const headers = keys[i % 3 === 0 ? 1 + (i % 4) : 0]!;
    const input = i % 9 === 0 ? { attempts: [{ status: 500 }, {}] } : {};
    const id = await calls.submit(`test/shared${i % 11 === 0 ? '?priority=high' : ''}`, input, headers);
    if (i % 5 === 0) watcher.ids.push(id);
    if (i % 13 === 0) await calls.cancel(id);
  });
  const waits = 'SELECT 1 FROM queue_entry UNION ALL SELECT 1 FROM delayed_entry';
  await until(async () => (await service.query(waits)).length === 0);
  moving = false;
  await watching;

  const { counts, unexplained } = await watcher.reasons();
  expect(unexplained).toEqual([]);
  expect(counts).toEqual({
    priority: expect.any(Number),
    'came back': expect.any(Number),
    turn: expect.any(Number),
    none: 0,
  });
  expect(Math.min(counts.priority, counts['came back'], counts.turn)).toBeGreaterThan(0);
});

test('a key’s cancels raise no position, and its next submissions raise other positions only by its turns', async () => {
  const [one, another] = await headersOfKeys(2);
  const blockers = [
    await calls.submit('test/shared', { hold: true }),
    await calls.submit('test/shared', { hold: true }),
  ];
  for (const id of blockers) await model.arrived(id);
  const watcher = new Watcher();
  const submitAs = (headers: Record<string, string> | undefined, count: number): Promise<string[]> =>
    inParallel(8, Array.from({ length: count }), () => calls.submit('test/shared', {}, headers));
  const [batch, others] = await Promise.all([submitAs(one, 120), submitAs(another, 40)]);
  watcher.ids.push(...others);
  for (const id of watcher.ids) await watcher.look(id);
  let moving = true;
  const watching = watcher.watch(() => moving);
  await inParallel(4, batch, (id) => calls.cancel(id));
  for (const id of watcher.ids) await watcher.look(id);
  expect(watcher.rises).toEqual([]);
  watcher.ids.push(...(await submitAs(one, 30)));
  for (const id of watcher.ids) await watcher.look(id);
  moving = false;
  await watching;

  const { counts, unexplained } = await watcher.reasons();
  expect(unexplained).toEqual([]);
  expect(counts).toEqual({ priority: 0, 'came back': 0, turn: expect.any(Number), none: 0 });
  expect(counts.turn).toBeGreaterThan(0);
  for (const id of blockers) await model.answer(id);
  await until(async () => (await service.query('SELECT 1 FROM queue_entry')).length === 0);
});
