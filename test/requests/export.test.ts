import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { type ExportOptions, exportedRequests } from '../../src/queue/reads/request-export.js';
import { exportLine } from '../../src/requests/cli/export-line.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const dayMs = 86_400_000;
const { service, calls } = testQueue({
  models: { 'test/one': { attempts: 2 }, 'test/two': {}, 'other/three': { concurrency: 1 } },
  limits: '1000/s',
  config: { retentionMs: 400 * dayMs },
});

interface Exported {
  request_id: string;
  model_id: string;
  key: { id: string; name: string };
  attempts: { attempt: number }[];
  [member: string]: unknown;
}

/** Exports through `source`. Each line is JSON by itself. */
async function exported(
  options: ExportOptions = {},
  source: Pick<DataSource, 'query'> = service.app.get(DataSource),
): Promise<{ text: string; requests: Exported[] }> {
  let text = '';
  for await (const row of exportedRequests(source as DataSource, options)) text += exportLine(row);
  const lines = text.split('\n').slice(0, -1);
  return { text, requests: lines.map((line) => JSON.parse(line) as Exported) };
}

const idsOf = ({ requests }: { requests: Exported[] }): string[] =>
  requests.map(({ request_id }) => request_id);

/** Plants completed requests that were submitted this many days ago. */
async function plant(ages: number[], keyId: string, output = '{"a":1}'): Promise<string[]> {
  const ids = ages.map((age) => v7({ msecs: Date.now() - age * dayMs - 60_000 }));
  await service.query(
    `INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, attempt, created_at, completed_at, input, output)
     SELECT id, 'old/model', $2::uuid, 'COMPLETED', 'succeeded', n, 1, uuid_time(id), uuid_time(id), '{}', $3::json
     FROM unnest($1::uuid[]) WITH ORDINALITY AS old (id, n)`,
    [ids, keyId, output],
  );
  return ids.sort();
}

test('a request has its key, times and attempts, and its payloads as they were received', async () => {
  const key = await calls.newKey({ name: 'web shop' });
  const busy = { status: 500, headers: { 'retry-after': '0' }, body: 'not now' };
  const done = { body: '{\n  "id": 12345678901234567890,\r\n  "text": "two\\nlines"\n}' };
  const input = { prompt: 'a cat', attempts: [busy, done] };
  const ok = await calls.submit('test/one?tag=job:17&priority=low', input, keyHeader(key));
  await calls.response(ok);
  const bad = await calls.submit('test/two', { status: 422, body: '{"why":"no"}' });
  await calls.response(bad);
  const waiting = await calls.submit('test/two?delay=1h');

  const { text, requests } = await exported();
  const of = (id: string): Exported => requests.find(({ request_id }) => request_id === id)!;
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  expect(of(ok)).toMatchObject({
    model_id: 'test/one',
    key: { name: 'web shop' },
    status: 'COMPLETED',
    outcome: 'succeeded',
    priority: 'low',
    tags: ['job:17'],
    input,
    error: null,
    created_at: time,
    started_at: time,
    completed_at: time,
    attempts: [
      { attempt: 1, outcome: 'failed', error_code: 'model_error', started_at: time, ended_at: time },
      { attempt: 2, outcome: 'succeeded', error_code: null },
    ],
  });
  expect(text).toContain('"output":{   "id": 12345678901234567890,   "text": "two\\nlines" }');
  expect(of(bad)).toMatchObject({
    outcome: 'failed',
    input: { status: 422 },
    output: null,
    error: { code: 'model_error', details: { why: 'no' } },
  });
  expect(of(waiting)).toMatchObject({
    status: 'IN_QUEUE',
    outcome: null,
    scheduled_at: time,
    started_at: null,
    completed_at: null,
    attempts: [],
    input: {},
    output: null,
    error: null,
  });
});

test('an export has no secret: no URL of a webhook, no key, no Idempotency-Key, no token', async () => {
  const key = await calls.newKey({ name: 'careful' });
  const headers = { ...keyHeader(key), 'idempotency-key': 'the-idempotency-key' };
  const hook = encodeURIComponent('https://example.org/hook?token=the-token-of-the-hook');
  const id = await calls.submit(`test/two?delay=1h&webhook=${hook}`, { prompt: 'x' }, headers);
  const { text, requests } = await exported();
  expect(requests.some(({ request_id }) => request_id === id)).toBe(true);
  for (const secret of ['the-token-of-the-hook', 'the-idempotency-key', key, key.slice(0, 10), service.key])
    expect(text).not.toContain(secret);
});

test('an erased request is exported without its content', async () => {
  const id = await calls.submit('test/two', { status: 422, body: 'the-secret', prompt: 'the-secret' });
  await calls.response(id);
  await fetch(service.url + calls.path(id), { method: 'DELETE', headers: keyHeader(service.key) });
  const { text, requests } = await exported();
  expect(text).not.toContain('the-secret');
  const [erased] = requests.filter(({ request_id }) => request_id === id);
  expect(erased).toMatchObject({ input: null, output: null, erased_at: expect.any(String) as string });
});

describe('over many days', () => {
  const keyId = randomUUID();
  let ids: string[];

  beforeAll(async () => {
    await service.query(`SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 9, 9)`);
    await service.query(
      `INSERT INTO api_key (id, name, prefix, hash, scopes) VALUES ($1, 'old', '', sha256('old'), '{}')`,
      [keyId],
    );
    ids = await plant([8, 8, 8, 5, 1, 0, 0], keyId);
  });

  test.each([1, 2, 3, 500])('pages of %i have each request once, the oldest first', async (maxRows) => {
    expect(idsOf(await exported({ keyIds: [keyId], maxRows }))).toEqual(ids);
  });

  test('a page has no more requests than fit, and at least one', async () => {
    const pages: number[] = [];
    const source = {
      query: async (text: string, values?: unknown[]): Promise<unknown> => {
        const rows = await service.query(text, values);
        if (text.includes('bytes_before')) pages.push(rows.length);
        return rows;
      },
    } as Pick<DataSource, 'query'>;
    // Each has 9 bytes.
    expect(idsOf(await exported({ keyIds: [keyId], maxBytes: 10 }, source))).toEqual(ids);
    expect(Math.max(...pages)).toBe(2);
    pages.splice(0);
    expect(idsOf(await exported({ keyIds: [keyId], maxBytes: 1 }, source))).toEqual(ids);
    expect(Math.max(...pages)).toBe(1);
  });

  test('a statement locks the tables of one day', async () => {
    const locks: number[] = [];
    const dataSource = service.app.get(DataSource);
    const source = {
      query: (text: string, values?: unknown[]) =>
        dataSource.transaction(async (manager) => {
          const rows: unknown = await manager.query(text, values);
          const [counted] = await manager.query<{ tables: number }[]>(
            `SELECT count(*)::integer AS tables FROM pg_locks JOIN pg_class ON pg_class.oid = relation
             WHERE pid = pg_backend_pid() AND relname ~ '^(request|attempt)_\\d+$'`,
          );
          locks.push(counted!.tables);
          return rows;
        }),
    } as Pick<DataSource, 'query'>;
    await exported({ keyIds: [keyId] }, source);
    expect(Math.max(...locks)).toBe(2);
  });

  test('two spans of time have each request once', async () => {
    const between = Date.now() - 3 * dayMs;
    const [early, late] = [
      await exported({ keyIds: [keyId], untilMs: between }),
      await exported({ keyIds: [keyId], sinceMs: between }),
    ];
    expect([...idsOf(early), ...idsOf(late)]).toEqual(ids);
    expect(idsOf(early)).toHaveLength(4);
  });

  test('a filter selects one model, or all models under a prefix', async () => {
    expect(idsOf(await exported({ model: 'old/model' }))).toEqual(ids);
    expect(idsOf(await exported({ model: 'old/*' }))).toEqual(ids);
    expect(idsOf(await exported({ model: 'old/mod' }))).toEqual([]);
    expect(idsOf(await exported({ keyIds: [randomUUID()] }))).toEqual([]);
  });
});
