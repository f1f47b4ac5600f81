import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  config: { adapters: ['runpod'] },
  models: { 'acme/text': {} },
});

const call = (key: string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(`${service.url}/runpod/v2/acme/text/runsync?wait=1000`, {
    method: 'POST',
    headers: { ...keyHeader(service.key), 'idempotency-key': key },
    body: '{"input":{"hold":true}}',
    signal,
  });

/** Makes a call, closes it, and returns the id of its request. */
async function closedCall(key: string): Promise<string> {
  const before = model.calls.length;
  const controller = new AbortController();
  const closed = call(key, controller.signal).catch(() => undefined);
  const { id } = await until(() => model.calls[before]);
  controller.abort();
  await closed;
  await until(
    async () => (await service.query('SELECT 1 FROM abandoned_call WHERE request_id = $1', [id]))[0],
  );
  return id;
}

test('a client that closes a call and repeats it with its idempotency key gets the same request', async () => {
  const first = await closedCall('first');
  const second = await closedCall('second');
  expect(second).not.toBe(first);
  for (const [key, id] of [
    ['second', second],
    ['first', first],
  ] as const)
    expect(await (await call(key)).json()).toMatchObject({ id, status: 'IN_PROGRESS' });
  expect(await service.query('SELECT 1 FROM abandoned_call')).toEqual([]);
  for (const id of [first, second]) {
    (await model.arrived(id)).response.end();
    await calls.reached(id, 'COMPLETED');
  }
});
