import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../src/database/database.js';
import { newId } from '../../src/database/new-id.js';
import type { Queries, Statement } from '../../src/database/statement.js';
import * as drive from '../../src/batches/queries/drive.js';
import * as erasedLines from '../../src/batches/queries/erased-lines.js';
import * as lines from '../../src/batches/queries/lines.js';
import * as operators from '../../src/batches/queries/operator-batches.js';
import * as reads from '../../src/batches/queries/read-batches.js';
import * as writes from '../../src/batches/queries/write-batches.js';
import { newBatch } from '../support/batch-rows.js';
import { literal, type Value } from '../support/literals.js';
import { QueueTables, submitSome } from '../support/queue-tables.js';

let tables: QueueTables;
let database: Database;
const used = new Map<string, { statement: Statement; values: Value[] }>();
const [batchId, keyId] = [newId(), randomUUID()];

/** Records each statement with its values, and finds nothing. */
const recorder: Queries = {
  query: (statement, values = []) => {
    used.set(statement.name, { statement, values: values as Value[] });
    return Promise.resolve([]);
  },
};

/** The functions that send the statements of batches. */
const calls: readonly ((queries: Queries) => Promise<unknown>)[] = [
  (queries) => drive.leaseBatch(queries, randomUUID()),
  (queries) => drive.nextBatchDueMs(queries),
  (queries) => drive.renewBatch(queries, lease),
  (queries) => drive.releaseBatch(queries, lease, 1),
  (queries) => drive.startBatch(queries, lease, 1),
  (queries) => drive.endBatchEarly(queries, lease, 'expired'),
  (queries) => drive.finalizeBatch(queries, lease),
  (queries) => drive.endBatch(queries, lease),
  (queries) => erasedLines.batchesWithErasedLines(queries),
  (queries) => erasedLines.erasedLinesOf(queries, batchId),
  (queries) => erasedLines.replaceSegment(queries, batchId, segment, segment),
  (queries) => erasedLines.markErasedLinesGone(queries, batchId, [batchId]),
  (queries) => lines.recordLines(queries, lease, [line], { from: 0, to: 1 }),
  (queries) => lines.readProgress(queries, batchId),
  (queries) => lines.openRequestsOf(queries, batchId),
  (queries) => lines.finishedLines(queries, batchId, 'output', 1),
  (queries) => lines.readBatchFile(queries, batchId, 'output'),
  (queries) => lines.readResults(queries, 'output', [batchId], 1),
  (queries) => lines.recordSegment(queries, lease, { ...segment, lines: [] }),
  (queries) => operators.listOperatorBatches(queries, { limit: 1 }),
  (queries) => operators.findOperatorBatch(queries, batchId),
  (queries) => reads.findBatch(queries, batchId, keyId),
  (queries) => reads.listBatches(queries, keyId, { limit: 1 }),
  (queries) => writes.insertBatch(queries, addedBatch),
  (queries) => writes.findBatchByKey(queries, keyId, 'once'),
  (queries) => writes.countOpenBatches(queries, keyId),
  (queries) => writes.cancelBatch(queries, batchId),
  (queries) => writes.removeBatch({ query: found(queries) }, batchId),
  (queries) => writes.oldBatches(queries, 1),
];

const lease = { id: batchId, token: randomUUID(), endsAs: null };
const segment = { kind: 'output', number: 1, fileId: randomUUID(), bytes: 1 } as const;
const line = { line: 1, customId: 'a', requestId: randomUUID(), refused: null };
const addedBatch = newBatch(batchId, keyId, 'once');

/** As if a row were found, so that the statements after it are sent. */
function found(queries: Queries): Queries['query'] {
  return async <Row extends object>(statement: Statement, values?: unknown[]) => {
    await queries.query(statement, values);
    return [{}] as Row[];
  };
}

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  // Some of them throw, because they find nothing.
  await Promise.allSettled(calls.map((call) => call(recorder)));
});
afterAll(() => tables.drop());

/** Returns the plan that every connection of the service would get for any values. */
async function planOf(name: string): Promise<string> {
  const { statement, values } = used.get(name)!;
  const rows = await database.transaction(async (query) => {
    const run = (text: string): Promise<Record<string, string>[]> => query({ name: '', text });
    await run(`PREPARE plan_of AS ${statement.text}`);
    const given = values.length === 0 ? '' : `(${values.map(valueOf).join(', ')})`;
    const plan = await run(`EXPLAIN EXECUTE plan_of ${given}`);
    await run('DEALLOCATE plan_of; ROLLBACK');
    return plan;
  });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Objects are JSON. */
function valueOf(value: Value | object): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && !Buffer.isBuffer(value) ? literal(JSON.stringify(value)) : literal(value as Value);
}

/** What some plans must have, beside what all must have. */
const parts: Record<string, RegExp[]> = {
  list_batches: [/Index Scan Backward using batch_by_key on batch/],
  list_batches_of_all: [/Index Scan Backward using batch_pkey on batch/],
  insert_batch: [/Conflict Arbiter Indexes: batch_once/],
  find_batch_by_key: [/using batch_once on batch/],
  lease_batch: [/Index Scan using batch_open on batch/],
  old_batches: [/Index Scan using batch_ended on batch/],
  ...Object.fromEntries(
    ['batch_progress', 'finished_lines_of_batch', 'file_of_batch', 'open_lines_of_batch'].map((name) => [
      name,
      [/using batch_line_pkey on batch_line/, /using request_\d{8}_pkey on request_\d{8}/],
    ]),
  ),
};

async function expectGoodPlans(): Promise<void> {
  const bad: string[] = [];
  for (const name of used.keys()) {
    const plan = await planOf(name);
    // Nothing reads whole days of requests. The batches that are open are few, but those that have ended are many.
    const isBad =
      /Seq Scan|Hash Join|Merge Join|Join Filter/.test(plan) ||
      (name !== 'old_batches' && /using batch_ended\b/.test(plan)) ||
      !(parts[name] ?? []).every((part) => part.test(plan));
    if (isBad) bad.push(`${name}\n${plan}`);
  }
  expect(bad).toEqual([]);
}

/** Fills the tables with batches that have ended, and one that runs with a window of lines. */
async function fill(batches: number): Promise<void> {
  await tables.rows(
    `INSERT INTO batch (id, api_key_id, format, priority, input_file_id, fingerprint, window_seconds, expires_at,
                        status, ended_at)
     SELECT gen_random_uuid(), CASE WHEN n % 3 = 0 THEN $1::uuid ELSE gen_random_uuid() END, 'own', 1,
            gen_random_uuid(), '', 60, now(), 'completed', now() - n * interval '1 minute'
     FROM generate_series(1, $2::integer) AS n`,
    [keyId, batches],
  );
  await insertOpen();
}

async function insertOpen(): Promise<void> {
  await writes.insertBatch(database, addedBatch);
  await tables.rows(
    `INSERT INTO batch_line (batch_id, line, request_id, custom_id)
     SELECT $1::uuid, n, gen_random_uuid(), n::text FROM generate_series(1, 2000) AS n`,
    [batchId],
  );
}

test('the plan tests cover all statements of batches', () => {
  const folder = 'src/batches/queries';
  const names = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/\bstatement(?:Of\w+)?\(\s*'(\w+)'/g)].map(
      ([, name]) => name!,
    ),
  );
  expect([...used.keys()].sort()).toEqual(names.sort());
});

test('the statements find their rows by index, whatever the statistics say', async () => {
  await expectGoodPlans();
  await tables.rows('ANALYZE batch, batch_line, batch_segment, erased_line');
  await fill(5_000);
  await expectGoodPlans();
  await tables.rows('ANALYZE batch, batch_line, batch_segment, erased_line');
  await expectGoodPlans();
});

test.each([
  ['look random', `(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 6400) AS n)`],
  ['compress well', `repeat('a', 204800)`],
])('large outputs that do not fit are not read, even if they %s', async (_, text) => {
  const ids = await submitSome(database, 64);
  await tables.rows(`UPDATE request SET output = to_json(${text}) WHERE id = ANY ($1)`, [ids]);
  const maxBytes = 512 * 1024;
  const found = await lines.readResults(database, 'output', ids, maxBytes);
  expect([...found].map(([id, output]) => [id, output?.length])).toEqual(
    ids.slice(0, 3).map((id) => [id, 204_802]),
  );
  await lines.readResults(recorder, 'output', ids, maxBytes);
  const { statement, values } = used.get('results_of_lines')!;
  const [row] = await database.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
    { name: '', text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}` },
    values,
  );
  const { Plan: plan } = row!['QUERY PLAN'][0]!;
  expect(plan['Temp Written Blocks']).toBe(0);
  expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(500);
});
