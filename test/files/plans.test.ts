import { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { FileCalls } from '../support/file-calls.js';
import { brokenByNewColumns } from '../support/grown-tables.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ limits: '1000/s' });

/** Statements that calls and duties of files have run, with their values. */
const used = new Map<string, { text: string; values: unknown[] }>();
const { query, transaction } = Database.prototype;

beforeAll(() => {
  const note = ({ name, text }: Statement, values: unknown[] = []): unknown =>
    used.set(name, { text, values });
  Database.prototype.query = function <Row extends object>(statement: Statement, values?: unknown[]) {
    note(statement, values);
    return query.call(this, statement, values) as Promise<Row[]>;
  };
  Database.prototype.transaction = function <T>(work: (run: typeof query) => Promise<T>): Promise<T> {
    return transaction.call(this, (run) =>
      work((statement, values) => {
        note(statement, values);
        return run(statement, values);
      }),
    ) as Promise<T>;
  };
});
afterAll(() => Object.assign(Database.prototype, { query, transaction }));

const expected = [
  'begin_uploads',
  'end_uploads',
  'find_files',
  'use_files_in_inputs',
  'use_files_in_output',
  'lock_prunable_files',
  'remove_files',
  'forget_file_uses',
  'read_removed_files',
  'delete_files',
  'end_stray_file_uses',
];

test('no statement about files scans a table sequentially', async () => {
  const files = new FileCalls(service);
  const [kept, old] = [await files.store('x'), await files.store('y')];
  await files.bytes(kept);
  await calls.run('demo/text/echo', { file: kept });
  await service.query(
    `UPDATE file SET expires_at = now() - interval '1 hour' WHERE name = 'cat.png' AND id = $1`,
    [new URL(old).pathname.split('/')[3]],
  );
  await service.query(
    `INSERT INTO file (id, api_key_id, name, content_type, state, uploads, upload, size, sha256, stored_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'a', 'a/b', 'stored', 1, 1, 1, sha256('a'), now()
     FROM generate_series(1, 20000)`,
  );
  await service.query(
    `INSERT INTO file_use (request_id, file_id, in_input)
     SELECT uuid_at(now() - n * interval '1 second'), id, true
     FROM (SELECT id, row_number() OVER () AS n FROM file WHERE name = 'a') AS file`,
  );
  await service.query('ANALYZE file, file_use');
  await service.app.get(FilePruner).runOnce();
  expect([...used.keys()]).toEqual(expect.arrayContaining(expected));
  for (const name of expected) {
    const { text, values } = used.get(name)!;
    const literals = values.map((value) =>
      Buffer.isBuffer(value) || Array.isArray(value) ? `'{}'` : `'${String(value)}'`,
    );
    const filled = text.replaceAll(/\$(\d+)/g, (_, n: string) => literals[Number(n) - 1]!);
    // On a connection of the service, which has the service's planner settings.
    const explain = { name: `explain_${name}`, text: `EXPLAIN ${filled}` };
    const plan = await service.app.get(Database).query<{ 'QUERY PLAN': string }>(explain);
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(`${name}\n${lines}`).not.toMatch(/Seq Scan on (file|file_use)\b/);
  }
});

test('a migration that adds columns breaks no statement about files that a running node has prepared', async () => {
  const statements = expected.map((name) => [name, used.get(name)!.text] as const);
  expect(await brokenByNewColumns(service.databaseUrl, statements)).toEqual([]);
});
