import pg from 'pg';
import { type TestService, until } from '../support/index.js';
import { keyHeader, type QueueCalls } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testNodes } from '../support/test-nodes.js';

const nodes = testNodes({ 'test/narrow': { concurrency: 1 }, 'test/model': {} });
const { model } = nodes;
const start = (shutdownGraceMs: number): Promise<QueueCalls> => nodes.start({ shutdownGraceMs });

/** Runs `look` while no service runs. */
async function offline<T>(look: (query: TestService['query']) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: nodes.databaseUrl() });
  await client.connect();
  try {
    return await look(async (sql: string, values?: unknown[]) => (await client.query(sql, values)).rows);
  } finally {
    await client.end();
  }
}

/** Returns whether one statement has waited for a lock for this long. */
async function hasWaited(query: TestService['query'], seconds: number): Promise<boolean> {
  // Within a transaction now() is constant, and so is pg_stat_activity until its snapshot is cleared.
  await query('SELECT pg_stat_clear_snapshot()');
  const sessions = await query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND clock_timestamp() - query_start > $1 * interval '1 second'`,
    [seconds],
  );
  return sessions.length === 1;
}

describe('a service that stops', () => {
  test('requeues an unfinished run at its old position, and the next service runs it', async () => {
    const first = await start(0);
    const running = await first.submit('test/narrow', { attempts: [{ hold: true }, { body: '["again"]' }] });
    const call = await model.arrived(running);
    const waiting = await first.submitAll(3, 'test/narrow');
    await first.service.stop();
    await until(() => call.closed, { message: 'the call to the model is hung up' });

    await offline(async (query) => {
      const rows = await query<{ request_id: string; attempt: number; state: string; failed: number }>(
        `SELECT request_id, queue_entry.attempt, state, failed_attempts AS failed
         FROM queue_entry JOIN request ON id = request_id ORDER BY queue_entry.priority, queue_entry.virtual_start, queue_entry.seq`,
      );
      expect(rows.map(({ request_id: id }) => id)).toEqual([running, ...waiting]);
      expect(rows[0]).toMatchObject({ attempt: 1, state: 'IN_QUEUE', failed: 0 });
      const returned = { outcome: 'returned', error_code: null };
      expect(await query(`SELECT outcome, error_code FROM attempt`)).toEqual([returned]);
      for (const table of ['lease', 'node', 'slot_grant']) {
        expect(await query(`SELECT FROM ${table}`)).toEqual([]);
      }
    });

    const second = await start(0);
    expect(await (await second.response(running)).text()).toBe('["again"]');
    await second.reached(waiting[2]!, 'COMPLETED');
    const order = await second.service.query<{ id: string }>(`SELECT id FROM request ORDER BY started_at`);
    expect(order.map(({ id }) => id)).toEqual([running, ...waiting]);
    expect(model.times(running)).toBe(2);
    for (const id of waiting) expect(model.times(id)).toBe(1);
  });

  test('waits for a claim in progress, and executes the claimed run', async () => {
    const only = await start(30_000);
    const ahead = await only.submit('test/narrow', { hold: true });
    await model.arrived(ahead);
    const claimed = await only.submit('test/narrow');
    await offline(async (query) => {
      await query('BEGIN');
      await query('SELECT FROM request WHERE id = $1 FOR UPDATE', [claimed]);
      await model.answer(ahead);
      await until(() => hasWaited(query, 0), { message: 'the claim waits for the row' });
      const stopped = only.service.stop();
      await Promise.race([stopped, until(() => hasWaited(query, 1))]);
      await query('COMMIT');
      await stopped;
      expect(await query('SELECT outcome, attempt FROM attempt WHERE request_id = $1', [claimed])).toEqual([
        { outcome: 'succeeded', attempt: 1 },
      ]);
    });
    expect(model.times(claimed)).toBe(1);
  });

  test('waits for a submission that starts at once, and executes it', async () => {
    const only = await start(30_000);
    await offline(async (query) => {
      await query('BEGIN');
      // A claim waits here for its lease.
      await query('LOCK TABLE lease IN SHARE MODE');
      const answer = only.service.submit('test/model', { attempts: [{ body: '"ran"' }] });
      await until(() => hasWaited(query, 0), { message: 'the submission waits for its lease' });
      const stopped = only.service.stop();
      await Promise.race([stopped, until(() => hasWaited(query, 1))]);
      await query('COMMIT');
      await stopped;
      const answered = await answer.then((response) => response.status).catch(() => undefined);
      expect([202, undefined]).toContain(answered);
      expect(await query('SELECT outcome, attempt FROM attempt')).toEqual([
        { outcome: 'succeeded', attempt: 1 },
      ]);
      expect(await query('SELECT state FROM request')).toEqual([{ state: 'COMPLETED' }]);
    });
  });

  test('lets runs end within the grace period, and starts no new run', async () => {
    const first = await start(30_000);
    const running = await first.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const waiting = await first.submit('test/narrow');
    const stopping = first.service.stop();
    await model.answer(running, '["in time"]');
    await stopping;
    expect(model.times(waiting)).toBe(0);

    const second = await start(0);
    expect(await (await second.response(running)).text()).toBe('["in time"]');
    expect(await (await second.response(waiting)).json()).toEqual({ done: waiting, attempt: 1 });
    expect(model.times(running)).toBe(1);
  });

  test('cancels a run whose cancel was requested instead of requeueing it', async () => {
    const first = await start(0);
    const id = await first.submit('test/model', { hold: true });
    await model.arrived(id);
    await first.service.query(`UPDATE lease SET cancel_requested_at = now()`);
    await first.service.stop();
    const second = await start(0);
    expect((await second.response(id)).status).toBe(499);
  });

  test('closes its streams, and they continue at the next service', async () => {
    const first = await start(0);
    const id = await first.submit('test/model', { attempts: [{ hold: true }, { body: '[2]' }] });
    await model.arrived(id);
    const url = (calls: QueueCalls): string => `${calls.service.url}${calls.path(id)}/status/stream`;
    const stream = await readStream(url(first));
    const { id: lastId } = await stream.event(({ status }) => status === 'IN_PROGRESS', 'the run is seen');
    await first.service.stop();
    await stream.ended;
    const second = await start(0);
    const again = await readStream(url(second), { 'last-event-id': lastId });
    await again.ended;
    expect(again.data.at(-1)).toMatchObject({ status: 'COMPLETED', success: true });
  });

  test('may be stopped twice', async () => {
    const { service } = await start(0);
    await Promise.all([service.stop(), service.stop()]);
  });
});

test('status, log, response and key survive a restart', async () => {
  const first = await start(0);
  const body = '{"type":"log","message":"drawn"}\n{"type":"output","output":{"n":12345678901234567890}}';
  const id = await first.run('test/model', { type: 'application/x-ndjson', body });
  const urls = /"(response|status|cancel)_url":"[^"]*",/g;
  const look = async ({ service, path }: QueueCalls): Promise<string[]> => {
    const shown = [`${path(id)}/status?logs=1`, path(id), `${path(id)}?logs=1`].map(async (url) => {
      const answer = await service.get(url, { headers: keyHeader(service.key) });
      return (await answer.text()).replaceAll(urls, '');
    });
    return Promise.all(shown);
  };
  const before = await look(first);
  expect(before[1]).toBe('{"n":12345678901234567890}');
  await first.service.stop();
  expect(await look(await start(0))).toEqual(before);
});
