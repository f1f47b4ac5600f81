import { keyHeader, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({ limits: 'off', models: { 'test/one': {} } });

const inputOf = (id: string, init?: RequestInit): Promise<Response> =>
  service.get(`${calls.path(id)}/input`, init);

/** Submits a body as it is. */
async function submitText(body: string): Promise<string> {
  const answer = await fetch(`${service.url}/v1/queue/test/one`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body,
  });
  return ((await answer.json()) as { request_id: string }).request_id;
}

test('a caller reads the input as it was sent, while the request runs and after its end', async () => {
  const body = '{"hold": true, "n":12345678901234567890.10}';
  const id = await submitText(body);
  await model.arrived(id);
  const answer = await inputOf(id);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'application/json; charset=utf-8',
    body,
  ]);
  await model.answer(id);
  await calls.reached(id, 'COMPLETED');
  expect(await (await inputOf(id, { headers: keyHeader(service.key) })).text()).toBe(body);
});

test('a large input comes back whole', async () => {
  const body = JSON.stringify({ text: Array.from({ length: 300_000 }, (_, i) => i).join() });
  const id = await submitText(body);
  await calls.reached(id, 'COMPLETED');
  expect(await (await inputOf(id)).text()).toBe(body);
});

test('an input is answered 404 to another key, and 410 after an erasure', async () => {
  const id = await calls.submit('test/one');
  await calls.reached(id, 'COMPLETED');
  const stranger = keyHeader(await calls.newKey());
  expect(await verdict(inputOf(id, { headers: stranger }))).toEqual([404, 'unknown_request']);
  const erased = await fetch(`${service.url}${calls.path(id)}`, {
    method: 'DELETE',
    headers: keyHeader(service.key),
  });
  expect(erased.status).toBe(204);
  expect(await verdict(inputOf(id))).toEqual([410, 'gone']);
});

test('an input that retention has deleted is answered 410', async () => {
  const id = await calls.submit('test/one');
  await calls.reached(id, 'COMPLETED');
  await service.query('UPDATE request SET input = NULL WHERE id = $1', [id]);
  expect(await verdict(inputOf(id))).toEqual([410, 'gone']);
});
