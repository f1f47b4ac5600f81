import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/traced': { attempts: 2 } },
  limits: 'off',
});
const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const traceparent = `00-${traceId}-${spanId}-01`;
const caller = { traceparent, tracestate: 'rojo=1,congo=2' };
const other = { traceparent: `00-${traceId}-${spanId}-00` };

/** Returns the trace fields that each call of a request sent to the model. */
async function told(id: string): Promise<object[]> {
  await calls.reached(id, 'COMPLETED');
  const ofRequest = model.calls.filter((call) => call.id === id);
  return ofRequest.map(({ headers: { traceparent: parent, tracestate: state } }) => ({
    traceparent: parent,
    tracestate: state,
  }));
}

const none = { traceparent: undefined, tracestate: undefined };

test('the trace of a caller is passed on to the model in each attempt, even if no spans are exported', async () => {
  const failing = { attempts: [{ status: 503, headers: { 'retry-after': '0' } }, {}] };
  const id = await calls.submit('test/traced', failing, caller);
  expect(await told(id)).toEqual([caller, caller]);
});

test('a request without a valid trace gets none', async () => {
  expect(await told(await calls.submit('test/traced'))).toEqual([none]);
  const unread = { traceparent: `${traceparent}-more`, tracestate: 'rojo=1' };
  expect(await told(await calls.submit('test/traced', {}, unread))).toEqual([none]);
  expect(await told(await calls.submit('test/traced', {}, { tracestate: 'rojo=1' }))).toEqual([none]);
});

test('a batch has the trace of its call, and a retry its own or that of the original request', async () => {
  const init = (headers: object, body?: object) => ({
    method: 'POST',
    headers: { authorization: `Key ${service.key}`, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const requests = [1, 2].map((page) => ({ model_id: 'test/traced', input: { page }, tag: 'a:b' }));
  const batch = await service.get('/v1/queue/requests', init(caller, { requests }));
  const { results } = (await batch.json()) as { results: { request_id: string }[] };
  const ids = results.map(({ request_id }) => request_id);
  for (const id of ids) expect(await told(id)).toEqual([caller]);

  const retry = async (headers: object): Promise<object[]> => {
    const response = await service.get(`/v1/queue/requests/${ids[0]}/retry`, init(headers));
    return told(((await response.json()) as { request_id: string }).request_id);
  };
  expect(await retry({})).toEqual([caller]);
  expect(await retry(other)).toEqual([{ ...none, ...other }]);
});

test('an operator’s retry has the trace of its call or of the original request, also in bulk', async () => {
  const id = await calls.submit('test/traced', {}, caller);
  await calls.reached(id, 'COMPLETED');
  const admin = async (path: string, headers: object, body: object = {}): Promise<{ request_id: string }> => {
    const init = { headers: { authorization: `Key ${service.key}`, ...headers }, body: JSON.stringify(body) };
    const answer = await service.get(`/v1/admin/${path}`, { method: 'POST', ...init });
    expect(answer.status).toBe(202);
    return (await answer.json()) as { request_id: string };
  };
  expect(await told((await admin(`requests/${id}/retry`, {})).request_id)).toEqual([caller]);
  const { request_id } = await admin(`requests/${id}/retry`, other);
  expect(await told(request_id)).toEqual([{ ...none, ...other }]);

  await admin('operations', {}, { action: 'retry', filter: { ids: [request_id] } });
  const again = await until(async () => {
    const [row] = await service.query<{ id: string }>('SELECT id FROM request WHERE retry_of = $1', [
      request_id,
    ]);
    return row?.id;
  });
  expect(await told(again)).toEqual([{ ...none, ...other }]);
});

test('a submission that is repeated under its Idempotency-Key with another trace is the same request', async () => {
  const once = { 'idempotency-key': 'traced-once' };
  const id = await calls.submit('test/traced', {}, { ...once, ...caller });
  expect(await calls.submit('test/traced', {}, { ...once, ...other })).toBe(id);
  expect(await told(id)).toEqual([caller]);
});

test('an erasure deletes the trace', async () => {
  const id = await calls.submit('test/traced', {}, caller);
  await calls.reached(id, 'COMPLETED');
  await service.get(calls.path(id), { method: 'DELETE', headers: { authorization: `Key ${service.key}` } });
  const [row] = await service.query('SELECT traceparent, tracestate FROM request WHERE id = $1', [id]);
  expect(row).toEqual({ traceparent: null, tracestate: null });
});
