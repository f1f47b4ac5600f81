import { until } from '../support/index.js';
import { ndjson, type Script } from '../support/model-server.js';
import { problemOf, type Status, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/model': {},
    'test/narrow': { concurrency: 1 },
    'test/patient': { attempts: 2 },
  },
  limits: '1000/s',
});

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** The members that every status has. */
const common = (id: string, modelId: string): object => {
  const url = `${service.url}/v1/queue/requests/${id}`;
  return {
    request_id: id,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
    model_id: modelId,
    created_at: time,
    started_at: null,
    completed_at: null,
    attempt: 1,
    tags: [],
  };
};

const seconds = (value: unknown): void => {
  expect(value).toEqual(expect.any(Number));
  expect(value as number).toBeGreaterThanOrEqual(0);
  expect(Number((value as number).toFixed(3))).toBe(value);
};

describe('a request that waits', () => {
  let running: string;
  let waiting: string[];
  beforeAll(async () => {
    running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    waiting = await calls.submitAll(4, 'test/narrow');
  });

  test('is IN_QUEUE, with its position, its URLs, its reason, no metrics yet and an empty log', async () => {
    const [id] = waiting as [string];
    const waits = { status: 'IN_QUEUE', queue_position: 0, metrics: {}, reason: 'busy' };
    const status = { ...common(id, 'test/narrow'), ...waits };
    expect(await calls.status(id)).toEqual(status);
    expect(await calls.status(id, '?logs=1')).toEqual({ ...status, logs: [] });
  });

  test('has its position in the queue, 0 at the front', async () => {
    const positions = waiting.map(async (id) => (await calls.status(id)).queue_position);
    expect(await Promise.all(positions)).toEqual([0, 1, 2, 3]);
  });

  test('moves up when a request ahead of it is cancelled', async () => {
    await calls.cancel(waiting[1]!);
    const positions = [0, 2, 3].map(async (i) => (await calls.status(waiting[i]!)).queue_position);
    expect(await Promise.all(positions)).toEqual([0, 1, 2]);
    await model.answer(running);
    await calls.reached(waiting[3]!, 'COMPLETED');
  });
});

describe('a request that runs', () => {
  test('is IN_PROGRESS, with its queue time and without a position', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const status = await calls.reached(id, 'IN_PROGRESS');
    const metrics = { queue_time: expect.any(Number) };
    expect(status).toEqual({
      ...common(id, 'test/model'),
      status: 'IN_PROGRESS',
      metrics,
      started_at: time,
    });
    seconds(status.metrics.queue_time);
    await model.answer(id);
  });

  test('shows its log while it runs', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.say(id, [{ type: 'log', level: 'INFO', message: 'half done' }]);
    const logs = await until(async () => {
      const status = await calls.status(id, '?logs=true');
      return status.logs!.length > 0 && status.logs;
    });
    expect(logs).toEqual([{ message: 'half done', level: 'INFO', source: 'runner', timestamp: time }]);
    await model.say(id, [{ type: 'output', output: {} }]);
  });
});

describe('a request that is over', () => {
  test('is COMPLETED, with success, its queue time and its inference time', async () => {
    const id = await calls.run('test/model');
    const status = await calls.status(id);
    expect(status).toEqual({
      ...common(id, 'test/model'),
      status: 'COMPLETED',
      started_at: time,
      completed_at: time,
      metrics: { queue_time: expect.any(Number), inference_time: expect.any(Number) },
      success: true,
      error: null,
    });
    seconds(status.metrics.queue_time);
    seconds(status.metrics.inference_time);
  });

  test('has an error with the cause and the time of its failure', async () => {
    const id = await calls.run('test/model', { status: 422, body: '{"reason":"no such style"}' });
    const status = await calls.status(id);
    expect(status).toMatchObject({ status: 'COMPLETED', success: false });
    expect(status.error).toEqual({
      code: 'model_error',
      message: expect.any(String),
      timestamp: time,
      details: { reason: 'no such style' },
    });
  });

  test('has no inference time if it was cancelled in the queue', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    const id = await calls.submit('test/narrow');
    await calls.cancel(id);
    const status = await calls.status(id, '?logs=1');
    expect(status.metrics).toEqual({ queue_time: expect.any(Number), inference_time: null });
    expect(status).toMatchObject({ success: false, error: { code: 'cancelled' }, logs: [] });
    await model.answer(running);
  });
});

describe('the query parameter logs', () => {
  let id: string;
  beforeAll(async () => (id = await calls.run('test/model')));

  test.each(['?logs=1', '?logs=true', '?logs=1&other=2'])('%s turns logs on', async (query) =>
    expect(await calls.status(id, query)).toHaveProperty('logs', []),
  );

  test.each(['', '?logs=0', '?logs=false', '?log=1', '?LOGS=1'])('%s leaves them off', async (query) =>
    expect(await calls.status(id, query)).not.toHaveProperty('logs'),
  );

  test.each(['?logs=', '?logs', '?logs=2', '?logs=yes', '?logs=TRUE', '?logs=1&logs=1', '?logs=%00'])(
    '%s is invalid_query, for the status, the stream and the response',
    async (query) => {
      for (const route of ['/status', '/status/stream', '']) {
        const answer = service.get(`${calls.path(id)}${route}${query}`);
        expect(await verdict(answer)).toEqual([400, 'invalid_query']);
      }
    },
  );
});

describe('a log', () => {
  const said = (lines: object[]): Script => ({ type: 'application/x-ndjson', body: ndjson(lines) });

  /** Returns the log of a run whose model emits these lines. */
  async function logOf(lines: object[]): Promise<NonNullable<Status['logs']>> {
    const id = await calls.run('test/model', said([...lines, { type: 'output', output: 1 }]));
    return (await calls.status(id, '?logs=1')).logs!;
  }

  const line = (message: string, level = 'INFO'): object => ({ type: 'log', level, message });

  test('has the levels that the model gave, oldest first', async () => {
    const levels = ['WARN', 'DEBUG', 'ERROR', 'INFO'];
    const logs = await logOf(levels.map((level, i) => line(`line ${i}`, level)));
    expect(logs.map(({ level }) => level)).toEqual(levels);
    expect(logs.map(({ message }) => message)).toEqual(['line 0', 'line 1', 'line 2', 'line 3']);
    const times = logs.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort());
  });

  test('contains an entry of the queue when a run fails', async () => {
    const id = await calls.run('test/model', { status: 400 });
    const { logs, error } = await calls.status(id, '?logs=1');
    expect(logs).toEqual([
      { message: error!.message, level: 'ERROR', source: 'queue', timestamp: expect.any(String) },
    ]);
  });

  test('stores at most 1,000 entries, and the last one states that the log is full', async () => {
    const logs = await logOf(Array.from({ length: 1_500 }, (_, i) => line(`line ${i}`)));
    expect(logs).toHaveLength(1_000);
    expect(logs[998]!.message).toBe('line 998');
    const full = { level: 'WARN', source: 'queue', message: expect.stringMatching(/full/) };
    expect(logs[999]).toMatchObject(full);
  });

  test('stores at most 64 KiB of text, and the last entry states that the log is full', async () => {
    const logs = await logOf(Array.from({ length: 100 }, () => line('漢'.repeat(700))));
    const bytes = Buffer.byteLength(logs.map(({ message }) => message).join(''));
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    expect(bytes).toBeGreaterThan(60 * 1024);
    expect(logs.at(-1)!.message).toMatch(/full/);
  });

  test('that is full after one attempt gets no entries from the next attempt', async () => {
    const lines = Array.from({ length: 100 }, () => line('x'.repeat(1_000)));
    const first = said([...lines, { type: 'error', message: 'again', retryable: true }]);
    const second = said([line('late'), { type: 'output', output: 1 }]);
    const id = await calls.run('test/patient', { attempts: [first, second] });
    expect(model.times(id)).toBe(2);
    const { logs, success } = await calls.status(id, '?logs=1');
    expect(success).toBe(true);
    expect(logs!.at(-1)!.message).toMatch(/full/);
    expect(logs!.filter(({ message }) => /full/.test(message))).toHaveLength(1);
  });
});

test.each([
  ['a UUIDv7 that nobody has', unknownId()],
  ['a UUIDv7 of before there was a key', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
  ['a UUIDv4', '7d9f0e0a-3c5b-4f5e-9a43-2b8b7a6f1c11'],
  ['no UUID', 'nonsense'],
  ['a number', '1'],
  ['nothing that a path may hold', '%00'],
  ['a word of SQL', "'%20OR%20true--"],
  ['too long', 'a'.repeat(1_000)],
])('an id that is %s is unknown_request, on every route', async (_name, id) => {
  for (const route of ['/status', '/status/stream', '/output/stream', '']) {
    expect(await verdict(service.get(`${calls.path(id)}${route}`))).toEqual([404, 'unknown_request']);
  }
  expect(await verdict(calls.cancel(id))).toEqual([404, 'unknown_request']);
});

test('an id in upper case is unknown_request, and a status is never cached', async () => {
  const id = await calls.run('test/model');
  const answer = service.get(`${calls.path(id.toUpperCase())}/status`);
  expect(await verdict(answer)).toEqual([404, 'unknown_request']);
  const { headers } = await service.get(`${calls.path(id)}/status`);
  expect(headers.get('cache-control')).toBe('no-store');
});

test('the problem of an unknown request names the call it answers', async () => {
  const path = `${calls.path(unknownId())}/status`;
  expect(await problemOf(await service.get(`${path}?logs=1`))).toMatchObject({ instance: path });
});
