import type { Database } from '../../src/database/database.js';
import { appendEvents, type EventBatch } from '../../src/queue/runs/queries/append-events.js';
import type { Claimed } from '../../src/queue/runs/queries/claim.js';
import { readOutput, readOutputOf } from '../../src/queue/reads/queries/read-output.js';
import { readStatus } from '../../src/queue/reads/queries/read-status.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { claimSome, logLines, QueueTables, returning, runOne, submitSome } from '../support/queue-tables.js';

let tables: QueueTables;
let here: Database;
let there: Database;
let node: string;

beforeAll(async () => {
  tables = await QueueTables.create();
  here = tables.session();
  there = tables.session();
});
beforeEach(async () => {
  await tables.clear();
  node = await tables.node(here);
});
afterAll(() => tables.drop());

const said = (run: Claimed, from: number, what: Partial<EventBatch>): EventBatch => {
  const batch = { ...logLines(run, from, 0), ...what };
  const { logs, progress, deltas } = batch;
  return { ...batch, count: logs.length + deltas.length + (progress === null ? 0 : 1) };
};
const append = async (database: Database, batch: EventBatch) =>
  (await appendEvents(database, [batch])).get(batch.requestId);
const rows = (run: Claimed, index = 0) =>
  readOutput(here, { requestId: run.id, attempt: run.attempt, index, sinceMs: 0 }, 100);

test('the parts of an output are rows with one numbering for all batches of an attempt', async () => {
  const run = await runOne(here, node);
  expect(await append(here, said(run, 0, { deltas: ['"a"', '{"b":1.0}'] }))).toEqual({
    attempt: 1,
    next: 2,
    nextIndex: 2,
    cancel: false,
    isWritten: true,
    isTooLarge: false,
  });
  const third = said(run, 2, { deltas: ['12345678901234567890'] });
  expect(await append(here, third)).toMatchObject({ nextIndex: 3 });
  expect(await rows(run)).toEqual([
    { index: 0, delta: '"a"' },
    { index: 1, delta: '{"b":1.0}' },
    { index: 2, delta: '12345678901234567890' },
  ]);
  expect(await rows(run, 2)).toHaveLength(1);
});

test('a part that is written twice concurrently is stored once', async () => {
  const run = await runOne(here, node);
  const batch = said(run, 0, { deltas: ['"a"'], logs: logLines(run, 0).logs });
  await append(here, batch);
  await here.execute('BEGIN');
  const more = said(run, 2, { deltas: ['"b"'] });
  await append(here, more);
  const again = append(there, more);
  await tables.blocked(1);
  await here.execute('COMMIT');
  expect(await again).toMatchObject({ next: 3, nextIndex: 2, isWritten: false });
  expect(await append(there, batch)).toMatchObject({ next: 3, nextIndex: 2, isWritten: false });
  expect(await readOutputOf(here, run.id, 1)).toEqual(['"a"', '"b"']);
});

test('a batch beyond the output limit is refused entirely, and a repeated batch is not counted again', async () => {
  const run = await runOne(here, node);
  const maxOutputBytes = 10;
  const [first, second] = [0, 1].map((from) => said(run, from, { deltas: ['"aaa"'], maxOutputBytes }));
  const refused = said(run, 2, { deltas: ['1'], logs: logLines(run, 0).logs, maxOutputBytes });
  for (const batch of [first!, second!, second!, first!])
    expect(await append(here, batch)).toMatchObject({ isTooLarge: false });
  expect(await append(here, refused)).toMatchObject({ isTooLarge: true, next: 2, nextIndex: 2 });
  expect(await append(here, second!)).toMatchObject({ isTooLarge: false, next: 2 });
  expect(await append(here, { ...refused, deltas: [] })).toMatchObject({ isTooLarge: false, next: 4 });
  expect(await rows(run)).toHaveLength(2);
});

test('a new attempt numbers its parts from 0, and the earlier attempt retains its own parts', async () => {
  const run = await runOne(here, node);
  await append(here, said(run, 0, { deltas: ['"a"', '1'] }));
  await requeue(here, returning(run, { attemptOutcome: 'failed' }));
  expect(await append(here, said(run, 2, { deltas: ['"late"'] }))).toBeUndefined();
  const [next] = (await claimSome(here, node, 1)) as [Claimed];
  expect(await append(here, said(next, 0, { deltas: ['"b"'] }))).toMatchObject({ attempt: 2, nextIndex: 1 });
  expect(await readOutputOf(here, run.id, 1)).toEqual(['"a"', '1']);
  expect(await readOutputOf(here, run.id, 2)).toEqual(['"b"']);
});

test('the status shows only the latest progress of the current run', async () => {
  const run = await runOne(here, node);
  const progress = async () => (await readStatus(here, [run.id]))[0]!.progress;
  expect(await progress()).toBeNull();
  await append(here, said(run, 0, { progress: { value: 0.4, message: 'halfway' } }));
  expect(await progress()).toEqual({ value: 0.4, message: 'halfway' });
  await append(here, said(run, 1, { deltas: ['1'] }));
  expect(await progress()).toEqual({ value: 0.4, message: 'halfway' });
  await append(here, said(run, 2, { progress: { value: 0.5, message: null } }));
  expect(await progress()).toEqual({ value: 0.5, message: null });
  await requeue(here, returning(run));
  expect(await progress()).toBeNull();
  await claimSome(here, node, 1);
  expect(await progress()).toBeNull();
});

test('a progress that is too small for its column is stored as 0, with the other events of its batch', async () => {
  const run = await runOne(here, node);
  for (const [value, stored, from] of [
    [1e-60, 0, 0],
    [1e-45, 1e-45, 2],
    [1 / 3, 0.33333334, 4],
    [1, 1, 6],
  ] as const) {
    const batch = said(run, from, { progress: { value, message: null }, deltas: ['1'] });
    expect(await append(here, batch)).toMatchObject({ isWritten: true });
    expect((await readStatus(here, [run.id]))[0]!.progress).toMatchObject({ value: stored });
  }
});

test('one statement serves many runs, each by its own counter', async () => {
  await submitSome(here, 3);
  const runs = await claimSome(here, node, 3);
  await append(here, said(runs[1]!, 0, { deltas: ['"early"'] }));
  const batches = runs.map((run, i) => said(run, 0, { deltas: [`"of ${i}"`], logs: logLines(run, 0).logs }));
  const appended = await appendEvents(here, batches);
  expect(runs.map(({ id }) => appended.get(id)?.next)).toEqual([2, 1, 2]);
  const outputs = await Promise.all(runs.map(({ id }) => readOutputOf(here, id, 1)));
  expect(outputs).toEqual([['"of 0"'], ['"early"'], ['"of 2"']]);
});

test('an output part for a time without a partition creates the partition', async () => {
  const run = await runOne(here, node);
  const parts = await tables.rows<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'output_delta'::regclass`,
  );
  if (parts.length > 0) await tables.rows(`DROP TABLE ${parts.map(({ name }) => name).join()}`);
  expect(await append(here, said(run, 0, { deltas: ['1'] }))).toMatchObject({ nextIndex: 1 });
  expect(await readOutputOf(here, run.id, 1)).toEqual(['1']);
});
