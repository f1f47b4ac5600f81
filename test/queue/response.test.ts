import { RunnerRegistry } from '../../src/queue/runs/runner-registry.js';
import { keyHeader, problemOf, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/model': { circuit: 'off' },
    'test/hasty': { timeout: '200ms', attempts: 3 },
    'test/narrow': { concurrency: 1 },
    'test/brief': { concurrency: 1, expires: '300ms' },
    'test/demo': { runner: { kind: 'demo', demo: 'echo' } },
  },
  limits: '1000/s',
  config: { retentionMs: 5 * 86_400_000, maxOutputBytes: 10_000 },
});

describe('the response of a success', () => {
  test.each([
    ['an object', '{"image":{"url":"x"}}'],
    ['numbers beyond 2^53', '{"seed":12345678901234567890,"tiny":1.000000000000000000001,"e":1E+2}'],
    ['its own spelling', '{ "b" : 1,\n\t"a":"\\u00e9\\/", "a":2 }'],
    ['a text', '"done"'],
    ['a number', '42'],
    ['nothing', 'null'],
    ['false', 'false'],
    ['a list', '[]'],
    ['characters of every kind', '{"é":"漢字 😀 \\ud83d\\ude00 \\\\u0000"}'],
  ])("is the model's output byte for byte: %s", async (_name, output) => {
    const id = await calls.run('test/model', { body: output });
    const response = await service.get(calls.path(id));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe(output);
  });

  test('has U+FFFD in place of NUL and of lone surrogates, also in names, and is otherwise unchanged', async () => {
    const output = '{ "\\u0000":[1.0,12345678901234567890,"a\\ud83d"], "\\udc00" : "\\ud83d\\ude00" }';
    const response = await calls.response(await calls.submit('test/model', { body: output }));
    expect(await response.text()).toBe(
      '{ "\\ufffd":[1.0,12345678901234567890,"a\\ufffd"], "\\ufffd" : "\\ud83d\\ude00" }',
    );
  });

  test('is bounded by its bytes, not by its characters', async () => {
    const output = `"${'é'.repeat(6_000)}"`;
    service.app.get(RunnerRegistry).register('demo', { run: () => Promise.resolve(output) });
    const { error } = await calls.status(await calls.run('test/demo'));
    expect(error).toMatchObject({ message: "The model's output is larger than 10000 bytes." });
  });

  test('is wrapped in a frame with logs=1, and its text is unchanged', async () => {
    const output = '{"seed":12345678901234567890, "a":1}';
    const body = `{"type":"log","message":"drawn"}\n{"type":"output","output":${output}}`;
    const id = await calls.run('test/model', { type: 'application/x-ndjson', body });
    const response = await service.get(`${calls.path(id)}?logs=1`);
    const text = await response.text();
    expect(text).toContain(`"response":${output},`);
    const { logs, metrics } = await calls.status(id, '?logs=1');
    const frame = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(frame)).toEqual(['request_id', 'status', 'response', 'logs', 'metrics']);
    expect(frame).toMatchObject({ request_id: id, status: 'COMPLETED', logs, metrics });
    expect(logs).toHaveLength(1);
  });

  test.each(['?logs=0', '?logs=false'])('has no frame with %s', async (query) => {
    const id = await calls.run('test/model', { body: '[1]' });
    expect(await (await service.get(`${calls.path(id)}${query}`)).text()).toBe('[1]');
  });
});

describe('the response before the end', () => {
  test('is not_completed with a Retry-After', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    const waiting = await calls.submit('test/narrow');
    await model.arrived(running);
    for (const url of [waiting, running].flatMap((id) => [calls.path(id), `${calls.path(id)}?logs=1`])) {
      const response = await service.get(url);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await verdict(response)).toEqual([400, 'not_completed']);
    }
    await calls.cancel(waiting);
    await model.answer(running);
    await calls.reached(running, 'COMPLETED');
  });
});

describe('the response of a failure', () => {
  /** Returns the failure in the response, and checks that the status has the same. */
  async function failureOf(name: string, input: object): Promise<[number, string, unknown]> {
    const id = await calls.run(name, input);
    const response = await service.get(calls.path(id));
    const problem = await problemOf(response);
    const { error } = await calls.status(id);
    const { code, detail: message, timestamp, details } = problem;
    expect(error).toEqual({ code, message, timestamp, ...(details !== undefined && { details }) });
    return [response.status, code, details];
  }

  test.each([400, 401, 422, 451])('has the status %i and the body of the model', async (status) => {
    const said = { reason: 'no such style', seed: 1 };
    const script = { status, body: JSON.stringify(said) };
    expect(await failureOf('test/model', script)).toEqual([status, 'model_error', said]);
  });

  test('has no details when the body of the model is empty', async () => {
    expect(await failureOf('test/model', { status: 400, body: '' })).toEqual([400, 'model_error', undefined]);
  });

  test.each([
    ['answers 500', { status: 500 }, 'model_error'],
    ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'model_error'],
    ['answers no JSON', { body: '<html>' }, 'model_error'],
    ['answers more than is allowed', { body: JSON.stringify('x'.repeat(20_000)) }, 'model_error'],
    ['is not there', { status: 503 }, 'model_unavailable'],
    ['hangs up', { drop: true }, 'model_unavailable'],
  ])('is a 502 where the model %s', async (_name, script, code) => {
    expect((await failureOf('test/model', script)).slice(0, 2)).toEqual([502, code]);
  });

  test('is 504 timed_out when the run exceeds its timeout, and the run is not retried', async () => {
    expect((await failureOf('test/hasty', { hold: true })).slice(0, 2)).toEqual([504, 'timed_out']);
    const [run] = await service.query(`SELECT outcome, attempt FROM attempt WHERE outcome = 'timed_out'`);
    expect(run).toEqual({ outcome: 'timed_out', attempt: 1 });
  });

  test('is 504 expired when the request waits too long for a busy model', async () => {
    const running = await calls.submit('test/brief', { hold: true });
    await model.arrived(running);
    expect((await failureOf('test/brief', {})).slice(0, 2)).toEqual([504, 'expired']);
    await model.answer(running);
    await calls.reached(running, 'COMPLETED');
  });

  test('is 499 cancelled when the request was cancelled, waiting or running', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const waiting = await calls.submit('test/narrow');
    for (const id of [waiting, running]) {
      await calls.cancel(id);
      expect(await verdict(calls.response(id))).toEqual([499, 'cancelled']);
      expect(await verdict(calls.response(id, '?logs=1'))).toEqual([499, 'cancelled']);
    }
  });
});

describe('a request removed by retention', () => {
  const routes = ['/status', '/status/stream', '/output/stream', ''];

  async function longGone(): Promise<string> {
    const id = await calls.run('test/model');
    await service.query(`UPDATE request SET completed_at = now() - interval '6 days' WHERE id = $1`, [id]);
    return id;
  }

  test('is 410 gone on every route', async () => {
    const id = await longGone();
    for (const route of routes) {
      expect(await verdict(service.get(`${calls.path(id)}${route}`))).toEqual([410, 'gone']);
    }
    expect(await verdict(calls.cancel(id))).toEqual([410, 'gone']);
  });

  test('stays unknown to another key', async () => {
    const id = await longGone();
    const headers = keyHeader(await calls.newKey());
    expect(await verdict(service.get(calls.path(id), { headers }))).toEqual([404, 'unknown_request']);
  });

  test('is 410 gone when only the time in its id is left', async () => {
    const old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
    await service.query(`UPDATE api_key SET created_at = '2022-01-01'`);
    for (const route of routes) {
      expect(await verdict(service.get(`${calls.path(old)}${route}`))).toEqual([410, 'gone']);
    }
    expect(await verdict(service.get(calls.path(unknownId())))).toEqual([404, 'unknown_request']);
  });

  test('still has a status when only its payloads were removed', async () => {
    const id = await calls.run('test/model');
    await service.query(`UPDATE request SET input = NULL, output = NULL WHERE id = $1`, [id]);
    expect(await verdict(service.get(calls.path(id)))).toEqual([410, 'gone']);
    expect(await calls.status(id)).toMatchObject({ status: 'COMPLETED', success: true });
  });
});
