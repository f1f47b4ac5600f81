import { type ProbeApp, startProbeApp } from '../support/http-probe-app.js';
import { problemOf } from '../support/queue-calls.js';

let probe: ProbeApp;
beforeAll(async () => (probe = await startProbeApp()));
afterAll(() => probe.app.close());

const call = (path: string, init?: RequestInit): Promise<Response> => fetch(`${probe.url}${path}`, init);

test('an unknown route is not_found, and the query stays out of the answer', async () => {
  const problem = await problemOf(await call('/nowhere?token=hunter2'));
  expect(problem).toMatchObject({ status: 404, code: 'not_found', instance: '/nowhere' });
});

test.each(['/probe/secret', '/probe/thrown-string'])(
  'an unforeseen failure at %s reveals no internals',
  async (path) => {
    const response = await call(path);
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|SELECT|at .*\.ts/);
  },
);

test('a lost database is answered with 503 and Retry-After', async () => {
  const response = await call('/probe/database');
  expect(response.headers.get('retry-after')).toBe('2');
  const problem = await problemOf(response);
  expect(problem).toMatchObject({ status: 503, code: 'unavailable' });
  expect(JSON.stringify(problem)).not.toMatch(/ECONNREFUSED|10\.0\.0\.5/);
});

test('a problem has the status, time, details and further members of the domain error', async () => {
  expect(await problemOf(await call('/probe/model'))).toMatchObject({
    status: 418,
    code: 'model_error',
    details: { said: 'no' },
    timestamp: '2026-01-01T00:00:00.000Z',
    attempt: 2,
  });
});

test('Retry-After is whole seconds and at least one', async () => {
  const response = await call('/probe/limited');
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
});

test('HEAD gets the header of an error without its body', async () => {
  const response = await call('/nowhere', { method: 'HEAD' });
  expect([response.status, await response.text()]).toEqual([404, '']);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
});

test('a failure in the middle of an answer cuts it off, and the service continues', async () => {
  await expect(call('/probe/late').then((response) => response.text())).rejects.toThrow();
  expect((await call('/nowhere')).status).toBe(404);
});
