import { Allowances } from '../../src/allowances/allowances.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'] },
  models: { 'test/pulled': pulled },
});

function post(path: string, body: object): Promise<Response> {
  return fetch(`${service.url}/openai/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify(body),
  });
}

test('a cancel call that waits for the run to end counts as an open call', async () => {
  const answer = await post('responses', { model: 'test/pulled', background: true });
  const { id } = (await answer.json()) as { id: string };
  const worker = new WorkerCalls(service);
  const run = await worker.run();
  const allowances = service.app.get(Allowances);
  const { take } = allowances;
  const taken: string[] = [];
  allowances.take = (caller, resource, amount) => {
    taken.push(resource);
    return take.call(allowances, caller, resource, amount);
  };
  try {
    const cancelled = post(`responses/${id}/cancel`, {});
    // The worker does not beat, so the run continues until it is released.
    await until(() => taken.includes('streams'));
    await worker.release(run);
    expect(await (await cancelled).json()).toMatchObject({ id, status: 'cancelled' });
  } finally {
    Reflect.deleteProperty(allowances, 'take');
  }
});
