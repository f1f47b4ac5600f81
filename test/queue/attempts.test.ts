import type { Script } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/patient': { attempts: 3 },
    'test/once': { attempts: 1 },
    'test/narrow': { concurrency: 1, attempts: 2 },
    'test/short': { attempts: 5, expires: '500ms' },
  },
  limits: '1000/s',
});

/** An answer that asks for a retry at once. */
const busy: Script = { status: 500, headers: { 'retry-after': '0' } };

const attemptsOf = (id: string): Promise<Record<string, unknown>[]> =>
  service.query(
    `SELECT attempt, outcome, error_code, error_message,
            started_at <= ended_at AND node_id IN (SELECT id FROM node) AS ordered
     FROM attempt WHERE request_id = $1 ORDER BY attempt`,
    [id],
  );

const ended = { ordered: true, error_code: null, error_message: null };

describe('attempts', () => {
  test('are made until one succeeds, and each leaves a row', async () => {
    const id = await calls.run('test/patient', { attempts: [busy, { drop: true }, { body: '[1]' }] });
    expect(await (await service.get(calls.path(id))).text()).toBe('[1]');
    expect(model.times(id)).toBe(3);
    const failed = { outcome: 'failed', ordered: true };
    expect(await attemptsOf(id)).toEqual([
      { ...failed, attempt: 1, error_code: 'model_error', error_message: 'The model answered 500.' },
      { ...failed, attempt: 2, error_code: 'model_unavailable', error_message: expect.any(String) },
      { ...ended, attempt: 3, outcome: 'succeeded' },
    ]);
    const { logs } = await calls.status(id, '?logs=1');
    expect(logs!.map(({ level, source }) => [level, source])).toEqual(Array(2).fill(['WARN', 'queue']));
  });

  test('end with the last error when they are used up', async () => {
    const id = await calls.run('test/patient', busy);
    expect(model.times(id)).toBe(3);
    expect((await attemptsOf(id)).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed']);
    expect(await calls.status(id)).toMatchObject({ success: false, error: { code: 'model_error' } });
  });

  test.each<[string, Script]>([
    ['test/patient', { status: 400 }],
    ['test/patient', { status: 501 }],
    ['test/once', busy],
  ])('of %s are not repeated after %j', async (name, script) => {
    const id = await calls.run(name, script);
    expect(model.times(id)).toBe(1);
  });

  test('wait as long as the model asks in Retry-After, outside the queue but with the status IN_QUEUE', async () => {
    const later = { status: 429, headers: { 'retry-after': '3600' } };
    const id = await calls.submit('test/patient', { attempts: [later, {}] });
    await model.arrived(id);
    const status = await calls.reached(id, 'IN_QUEUE');
    expect(status).toMatchObject({ queue_position: 0, reason: 'retrying' });
    const [wait] = await service.query(
      `SELECT ready_at > now() + interval '59 minutes' AS long, ready_at < now() + interval '61 minutes' AS short
       FROM delayed_entry WHERE request_id = $1`,
      [id],
    );
    expect(wait).toEqual({ long: true, short: true });
    const answer = await service.get(`${calls.path(id)}/status`);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_500);
    await calls.cancel(id);
  });

  test('start again after a requeue when the model sends no Retry-After', async () => {
    const id = await calls.submit('test/patient', { attempts: [{ status: 500 }, {}] });
    await model.arrived(id, 2);
    const [wait] = await service.query<{ ok: boolean }>(
      `SELECT (SELECT min(at) FROM request_event WHERE request_id = $1 AND kind = 'requeued')
              <= (SELECT started_at FROM request WHERE id = $1) AS ok`,
      [id],
    );
    expect(wait).toEqual({ ok: true });
  });

  test('retain the sequence number of the request in the queue', async () => {
    const first = await calls.submit('test/narrow', { hold: true });
    await model.arrived(first);
    const id = await calls.submit('test/narrow', { attempts: [busy, {}] });
    const later = await calls.submitAll(3, 'test/narrow');
    const places = `SELECT seq FROM request WHERE id = ANY ($1::uuid[]) ORDER BY id`;
    const before = await service.query(places, [[id, ...later]]);
    await model.answer(first);
    for (const one of [id, ...later]) await calls.reached(one, 'COMPLETED');
    expect(model.times(id)).toBe(2);
    expect(await service.query(places, [[id, ...later]])).toEqual(before);
  });

  test('that wait still expire', async () => {
    const id = await calls.run('test/short', { status: 429, headers: { 'retry-after': '60' } });
    expect(await calls.status(id)).toMatchObject({ success: false, error: { code: 'expired' } });
    expect(await calls.count('delayed_entry')).toBe(0);
  });
});
