import { Promoter } from '../../src/queue/waiting/duties/promoter.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, type Status, statusCounts, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/one': { concurrency: 1, expires: '1h' },
    'test/short': { concurrency: 1, max_waiting: 2 },
    'test/tags': {},
  },
  limits: '1000/s',
});

const fractionS = (ms: number): string => `${ms / 1_000}s`;
const inFuture = (ms: number): string => new Date(Date.now() + ms).toISOString();

async function accepted(path: string, input: object = {}, headers?: Record<string, string>): Promise<string> {
  const answer = await service.submit(path, input, headers);
  const body = (await answer.json()) as { request_id: string };
  expect([answer.status, body]).toEqual([202, expect.anything()]);
  return body.request_id;
}

/** Keeps the only slot of a model busy until the test says so. */
async function busy(modelId: string): Promise<() => Promise<void>> {
  const id = await accepted(modelId, { hold: true });
  await model.arrived(id);
  return async () => {
    await model.answer(id);
    await calls.reached(id, 'COMPLETED');
  };
}

test('the status of a waiting or completed request has the additional fields after the original ones', async () => {
  const end = await busy('test/one');
  const id = await accepted('test/one?tag=job:17&tag=team:blue');
  const common = ['status', 'request_id', 'response_url', 'status_url', 'cancel_url', 'metrics'];
  const details = ['model_id', 'created_at', 'started_at', 'completed_at', 'attempt', 'tags'];
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const waiting = await service.get(`${calls.path(id)}/status`);
  expect(waiting.headers.get('retry-after')).toBe('1');
  const status = (await waiting.json()) as Status;
  expect(Object.keys(status)).toEqual([...common, 'queue_position', ...details, 'reason']);
  expect(status).toMatchObject({
    model_id: 'test/one',
    created_at: time,
    started_at: null,
    completed_at: null,
    attempt: 1,
    tags: ['job:17', 'team:blue'],
    reason: 'busy',
  });
  await end();
  const completed = await calls.reached(id, 'COMPLETED');
  expect(Object.keys(completed)).toEqual([...common, 'success', 'error', ...details]);
  expect(completed).toMatchObject({ started_at: time, completed_at: time, attempt: 1 });
});

describe('an unknown or wrong parameter is refused, and nothing is submitted', () => {
  test.each([
    ['prority=high', 'did you mean "priority"?'],
    ['xyzzy=1', 'There are webhook, priority'],
    ['priority=urgent', 'expected one of high, normal, low'],
    ['priority=high&priority=low', 'expected one of high, normal, low'],
    ['delay=soon', 'expected a duration'],
    ['delay=31d', 'at most 30 days'],
    ['not_before=tomorrow', 'RFC 3339'],
    ['not_before=2030-01-31', 'RFC 3339'],
    ['not_before=2030-02-29T08:00:00Z', 'RFC 3339'],
    ['not_before=2030-11-31T08:00:00Z', 'RFC 3339'],
    ['not_before=2030-11-30T24:00:00Z', 'RFC 3339'],
    [`not_before=${inFuture(40 * 86_400_000)}`, 'at most 30 days'],
    [`not_before=${inFuture(60_000)}&delay=1s`, 'not both'],
    ['expires=2h', 'at most 3600s'],
    ['expires=0s', 'at least 1ms'],
    ['expires=999999999d', 'at most 36500d'],
    ['timeout=999999999999999d', 'at most 36500d'],
    ['timeout=2m', 'at most 60s'],
    ['tag=nocolon', 'expected key:value'],
    ['tag=a:b%20c', 'expected key:value'],
    [`tag=${'a'.repeat(65)}:b`, 'expected key:value'],
    [Array.from({ length: 9 }, (_, i) => `tag=a:${i}`).join('&'), 'at most 8'],
    ['webhook=ftp://example.com/', 'expected a URL'],
    ['webhook=https://a.example/&fal_webhook=https://b.example/', 'twice'],
  ])('%s', async (query, detail) => {
    const before = await calls.count('request');
    const answer = await service.submit(`test/one?${query}`, {});
    expect(answer.status).toBe(400);
    const problem = await problemOf(answer);
    expect(problem.code).toBe('invalid_query');
    expect(problem.detail).toContain(detail);
    expect(await calls.count('request')).toBe(before);
  });
});

test('durations may be written in milliseconds, as client libraries do', async () => {
  const durations = ['delay=1036800000ms', 'delay=0.30000000000000004ms', 'expires=3600000.00ms'];
  for (const query of durations) await calls.cancel(await accepted(`test/one?${query}`));
});

test('the queue time of a scheduled request starts when the request joins the queue', async () => {
  const id = await accepted('test/tags');
  await calls.reached(id, 'COMPLETED');
  await service.query(
    `UPDATE request SET created_at = started_at - interval '1 hour', not_before = started_at - interval '2 seconds'
     WHERE id = $1`,
    [id],
  );
  expect((await calls.status(id)).metrics).toMatchObject({ queue_time: 2 });
});

test('a submission may have empty parameters and logs, also with an encoded model id', async () => {
  for (const path of ['test/tags', 'test%2Ftags', 'test/%74ags']) {
    await calls.response(await accepted(`${path}?logs=1&priority=&tag=&webhook=&delay=`));
  }
});

test('priorities are strict, and queue positions reflect them', async () => {
  const end = await busy('test/one');
  const low = await accepted('test/one?priority=low');
  const normal = await accepted('test/one');
  const high = await accepted('test/one?priority=high');
  const second = await accepted('test/one?priority=high');
  const order = [high, second, normal, low];
  const positions = await Promise.all(order.map(async (id) => (await calls.status(id)).queue_position));
  expect(positions).toEqual([0, 1, 2, 3]);
  await end();
  await Promise.all(order.map((id) => calls.reached(id, 'COMPLETED')));
  const ran = model.calls.map(({ id }) => id).filter((id) => order.includes(id));
  expect(ran).toEqual(order);
});

test('a key with a maximum priority gets 403 above it, and submits with it by default', async () => {
  const low = keyHeader(await calls.newKey({ maxPriority: 'low' }));
  expect(await verdict(service.submit('test/one?priority=normal', {}, low))).toEqual([403, 'forbidden']);
  const id = await accepted('test/one', {}, low);
  expect(await service.query('SELECT priority FROM request WHERE id = $1', [id])).toEqual([{ priority: 1 }]);
});

describe('a scheduled request', () => {
  test('counts in no position before its time, and then joins the queue like a new submission', async () => {
    const end = await busy('test/one');
    const later = await accepted(`test/one?delay=${fractionS(1_500)}&expires=30m`);
    const first = await accepted('test/one');
    const waiting = (await calls.status(later)) as Status & Record<string, unknown>;
    expect(waiting).toMatchObject({ reason: 'scheduled', queue_position: 1 });
    expect(Date.parse(String(waiting['scheduled_at']))).toBeGreaterThan(
      Date.parse(String(waiting['created_at'])),
    );
    expect(await calls.status(first)).toMatchObject({ queue_position: 0 });
    await until(async () => {
      const { reason, queue_position } = (await calls.status(later)) as Status & { reason?: string };
      return reason === 'busy' && queue_position === 1;
    });
    const behind = await accepted('test/one');
    expect(await calls.status(behind)).toMatchObject({ queue_position: 2 });
    const [{ counts } = { counts: undefined }] = await service.query<{ counts: boolean }>(
      `SELECT expires_at - not_before BETWEEN '29 min' AND '31 min' AS counts FROM request WHERE id = $1`,
      [later],
    );
    expect(counts).toBe(true);
    await end();
    const order = [first, later, behind];
    await Promise.all(order.map((id) => calls.reached(id, 'COMPLETED')));
    expect(model.calls.map(({ id }) => id).filter((id) => order.includes(id))).toEqual(order);
  });

  test('has no place of its own before it has joined the queue, also when its time has passed', async () => {
    const end = await busy('test/one');
    const promoter = service.app.get(Promoter);
    await promoter.stop();
    const later = await accepted(`test/one?delay=${fractionS(20)}`);
    const first = await accepted('test/one');
    await until(
      async () => (await service.query('SELECT FROM delayed_entry WHERE ready_at < now()')).length === 1,
    );
    expect(await calls.status(later)).toMatchObject({ reason: 'scheduled', queue_position: 1 });
    promoter.start();
    await promoter.runOnce();
    expect(await calls.status(later)).toMatchObject({ reason: 'busy', queue_position: 1 });
    await end();
    await Promise.all([first, later].map((id) => calls.reached(id, 'COMPLETED')));
  });

  test('has a Retry-After in its status, and can be cancelled', async () => {
    const id = await accepted(`test/one?not_before=${inFuture(3_600_000)}`);
    const answer = await service.get(`${calls.path(id)}/status`);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(await (await calls.cancel(id)).json()).toEqual({ status: 'CANCELLED' });
    expect(await calls.count('delayed_entry')).toBe(0);
  });

  test('with a time in the past starts at once', async () => {
    await calls.response(await accepted(`test/tags?not_before=${inFuture(-60_000)}`));
  });
});

test('the option expires ends a waiting request, also behind others', async () => {
  const end = await busy('test/one');
  const patient = await accepted('test/one');
  const id = await accepted('test/one?expires=200ms');
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ error: { code: 'expired' }, attempt: 1 });
  expect(model.times(id)).toBe(0);
  await end();
  await calls.reached(patient, 'COMPLETED');
});

test.each(['at once', 'after a wait'])('the option timeout ends a run that started %s', async (when) => {
  const end = when === 'at once' ? undefined : await busy('test/one');
  const id = await accepted(`test/one?timeout=300ms`, { hold: true });
  await end?.();
  const { error } = await calls.reached(id, 'COMPLETED');
  expect(error).toMatchObject({
    code: 'timed_out',
    message: 'The run took longer than the 0.3 s that it may take.',
  });
});

test('an Idempotency-Key that is repeated with other options is refused', async () => {
  const key = { 'idempotency-key': 'options' };
  const id = await accepted('test/tags?tag=a:1', {}, key);
  expect(await accepted('test/tags?tag=a:1&logs=1', {}, key)).toBe(id);
  expect(await verdict(service.submit('test/tags?tag=a:2', {}, key))).toEqual([
    422,
    'idempotency_key_reused',
  ]);
});

describe('the number of waiting requests is limited', () => {
  const refused = async (answer: Response): Promise<void> => {
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await problemOf(answer)).code).toBe('queue_full');
  };

  test('for a model', async () => {
    const end = await busy('test/short');
    const waiting = [await accepted('test/short'), await accepted('test/short')];
    await refused(await service.submit('test/short', {}));
    await end();
    await Promise.all(waiting.map((id) => calls.reached(id, 'COMPLETED')));
    await calls.response(await accepted('test/short'));
  });

  test('for a model, exactly, with concurrent submissions too', async () => {
    const end = await busy('test/short');
    const counts = await statusCounts(Array.from({ length: 20 }, () => service.submit('test/short', {})));
    expect(counts).toEqual({ 202: 2, 429: 18 });
    await end();
  });

  test('for a key, exactly, with concurrent submissions too', async () => {
    const headers = keyHeader(await calls.newKey({ maxWaiting: 3 }));
    const end = await busy('test/one');
    const answers = Array.from({ length: 20 }, () => service.submit('test/one', {}, headers));
    expect(await statusCounts(answers)).toEqual({ 202: 3, 429: 17 });
    await end();
  });

  test('by the requests that wait now, not by those submitted earlier', async () => {
    const headers = keyHeader(await calls.newKey({ maxWaiting: 1 }));
    for (let n = 0; n < 5; n++) await calls.response(await accepted('test/tags', {}, headers));
    const end = await busy('test/one');
    for (let n = 0; n < 3; n++) {
      const id = await accepted('test/one', {}, headers);
      await refused(await service.submit('test/one', {}, headers));
      await calls.cancel(id);
    }
    await end();
  });

  test('but a full queue still returns an earlier request for its idempotency key', async () => {
    const end = await busy('test/short');
    const first = { 'idempotency-key': 'full' };
    const id = await accepted('test/short', {}, first);
    await accepted('test/short');
    await refused(await service.submit('test/short', {}));
    expect(await accepted('test/short', {}, first)).toBe(id);
    const other = service.submit('test/short', { other: true }, first);
    expect(await verdict(other)).toEqual([422, 'idempotency_key_reused']);
    await refused(await service.submit('test/short', {}, { 'idempotency-key': 'new' }));
    await end();
  });

  test('for a key', async () => {
    const headers = keyHeader(await calls.newKey({ maxWaiting: 1 }));
    const end = await busy('test/one');
    const id = await accepted('test/one', {}, headers);
    await refused(await service.submit('test/one', {}, headers));
    await end();
    await calls.reached(id, 'COMPLETED');
    await until(async () => (await service.submit('test/one', {}, headers)).status === 202);
  });
});
