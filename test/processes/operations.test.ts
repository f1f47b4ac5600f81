import pg from 'pg';
import { OperationRunner } from '../../src/operations/duties/operation-runner.js';
import { keyHeader } from '../support/queue-calls.js';
import {
  spawnService,
  type SpawnedService,
  startTestService,
  type TestService,
  until,
} from '../support/index.js';

/** The size; recorded measurements use OPERATION_SIZE=500000. */
const size = Number(process.env['OPERATION_SIZE'] ?? 20_000);
const retries = 300;
/** Long enough for a node to find what a killed node left, and to complete it. */
const patience = { timeoutMs: 60_000 + size };

interface Operation {
  id: string;
  state: string;
  total: number;
  done: number;
  skipped: number;
  failed: number;
}

/** The nodes only serve calls, so nothing runs. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ limits: '10000/s', config: { role: 'api' } });
});
afterAll(() => service.stop());

const startNode = (): Promise<SpawnedService> =>
  spawnService({ ROLE: 'api', DATABASE_URL: service.databaseUrl, LOG_LEVEL: 'error' });
const model = 'demo/text/echo';

/** Writes requests as submissions do, but all at once. */
async function write(count: number, tag: string, state: 'IN_QUEUE' | 'COMPLETED'): Promise<void> {
  await service.query(
    `WITH written AS (
       INSERT INTO request (id, model_id, api_key_id, seq, input, tags, state, outcome, output, completed_at, started_at, attempt)
       SELECT uuidv7(), $3, (SELECT id FROM api_key ORDER BY id LIMIT 1), nextval('request_seq'), '{"prompt":"x"}', ARRAY[$2], $4::text,
              CASE $4 WHEN 'COMPLETED' THEN 'succeeded' END, CASE $4 WHEN 'COMPLETED' THEN '1'::json END,
              CASE $4 WHEN 'COMPLETED' THEN now() END, CASE $4 WHEN 'COMPLETED' THEN now() END,
              CASE $4 WHEN 'COMPLETED' THEN 1 ELSE 0 END
       FROM generate_series(1, $1::integer)
       RETURNING id, model_id, priority, seq, state
     )
     INSERT INTO queue_entry (model_id, priority, seq, request_id)
     SELECT model_id, priority, seq, id FROM written WHERE state = 'IN_QUEUE'`,
    [count, tag, model, state],
  );
}

async function call(base: string, path: string, body?: object): Promise<Operation> {
  const answer = await fetch(`${base}/v1/admin/operations${path}`, {
    headers: keyHeader(service.key),
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  expect([200, 202]).toContain(answer.status);
  return (await answer.json()) as Operation;
}
const read = (id: string): Promise<Operation> => call(service.url, `/${id}`);
const reached = (id: string, done: number): Promise<Operation> =>
  until(async () => {
    const operation = await read(id);
    return operation.done >= done && operation;
  }, patience);
const over = (id: string): Promise<Operation> =>
  until(async () => {
    const operation = await read(id);
    return ['done', 'stopped'].includes(operation.state) && operation;
  }, patience);
const count = async (where: string, values: unknown[] = []): Promise<number> =>
  (await service.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${where}`, values))[0]!
    .count;
const cancelled = (tag: string): Promise<number> =>
  count(`request WHERE tags @> ARRAY[$1] AND outcome = 'cancelled'`, [tag]);

const collected = (id: string): Promise<Operation> =>
  until(async () => {
    const operation = await read(id);
    return operation.state !== 'collecting' && operation;
  }, patience);

const times: string[] = [];
afterAll(() => {
  if (process.env['OPERATION_SIZE'] !== undefined) process.stdout.write(`${times.join('\n')}\n`);
});
async function timed<T>(what: string, work: Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work;
  times.push(`${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s ${JSON.stringify(result)}`);
  return result;
}

test('a node that serves no calls executes operations too', async () => {
  const runner = service.app.get(OperationRunner);
  await runner.stop();
  await write(10, 'left:1', 'COMPLETED');
  const { id } = await call(service.url, '', { action: 'erase', filter: { tag: 'left:1' } });
  const config = { databaseUrl: service.databaseUrl, role: 'scheduler' } as const;
  const node = await startTestService({ config });
  await node.app.get(OperationRunner).runOnce();
  expect(await read(id)).toMatchObject({ state: 'done', total: 10, done: 10 });
  await node.stop();
  runner.start();
});

test(
  'one bulk cancel is stopped half-way, another continues on a second node after SIGKILL, and the counts are exact',
  async () => {
    await write(size, 'many:1', 'IN_QUEUE');
    const body = { action: 'cancel', filter: { tag: 'many:1' } };
    const first = await timed('the first is taken', call(service.url, '', body));
    expect((await timed('members of the first', collected(first.id))).total).toBe(size);
    await timed('a quarter', reached(first.id, size / 4));
    await call(service.url, `/${first.id}/stop`, {});
    const stopped = await timed('stopped', over(first.id));
    expect(stopped).toMatchObject({ state: 'stopped', skipped: 0, failed: 0 });
    expect(stopped.done).toBeLessThan(size);
    expect(await cancelled('many:1')).toBe(stopped.done);

    const node = await startNode();
    // The step of the second operation that reaches this request waits, and is killed in the middle.
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query('BEGIN');
    const held = await holder.query(
      `SELECT pg_backend_pid() AS pid FROM request WHERE id = (SELECT id FROM request
       WHERE tags @> ARRAY['many:1'] AND state = 'IN_QUEUE' ORDER BY id DESC OFFSET $1 LIMIT 1) FOR UPDATE`,
      [Math.floor((size - stopped.done) / 4)],
    );
    const { pid } = (held.rows as { pid: number }[])[0]!;
    const { id: secondId } = await timed('the second is taken', call(node.url, '', body));
    const second = await timed('members of the second', collected(secondId));
    expect(second.total).toBe(size - stopped.done);
    const waiting = 'pg_stat_activity WHERE $1::integer = ANY (pg_blocking_pids(pid))';
    await until(async () => (await count(waiting, [pid])) > 0, patience);
    node.kill('SIGKILL');
    await node.exited;
    const { done: before } = await read(second.id);
    expect(before).toBeLessThan(second.total);
    // The operation need not cancel requests that others cancel meanwhile.
    const others = await service.query<{ id: string }>(
      `SELECT id FROM request WHERE tags @> ARRAY['many:1'] AND state = 'IN_QUEUE' ORDER BY id DESC LIMIT 10`,
    );
    for (const { id } of others) {
      const answer = await fetch(`${service.url}/v1/queue/requests/${id}/cancel`, {
        method: 'PUT',
        headers: keyHeader(service.key),
      });
      expect([answer.status, await answer.json()]).toEqual([200, expect.anything()]);
    }
    await holder.end();
    const { state, total, done, skipped, failed } = await timed('taken over, to the end', over(second.id));
    expect({ state, sum: done + skipped + failed, skipped, failed }).toEqual({
      state: 'done',
      sum: total,
      skipped: others.length,
      failed: 0,
    });
    expect(await cancelled('many:1')).toBe(size);
    expect(stopped.done + done + skipped).toBe(size);
    expect(await count('queue_entry')).toBe(0);
    expect(await count('operation_member')).toBe(0);
  },
  2 * patience.timeoutMs,
);

test(
  'a bulk retry creates one new request for each, even across SIGKILL',
  async () => {
    await write(retries, 'again:1', 'COMPLETED');
    const node = await startNode();
    const { id } = await call(node.url, '', {
      action: 'retry',
      filter: { tag: 'again:1', status: 'COMPLETED' },
    });
    // In the middle of a step, whose new requests are not counted yet.
    const made = (): Promise<number> => count(`request WHERE retry_of IS NOT NULL`);
    await until(async () => (await made()) > retries / 4, patience);
    node.kill('SIGKILL');
    await node.exited;
    expect(await made()).toBeLessThan(retries);
    expect(await over(id)).toMatchObject({
      state: 'done',
      total: retries,
      done: retries,
      skipped: 0,
      failed: 0,
    });
    expect(await made()).toBe(retries);
    expect(
      await count(`(SELECT DISTINCT retry_of FROM request WHERE retry_of IS NOT NULL) AS original`),
    ).toBe(retries);
  },
  2 * patience.timeoutMs,
);
