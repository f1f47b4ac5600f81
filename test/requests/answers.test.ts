import { Allowances } from '../../src/allowances/allowances.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const largeBytes = 300_000;
const { service, calls } = testQueue({
  models: { 'test/one': {}, 'test/pulled': pulled },
  limits: 'off',
  config: { maxCallerBytes: largeBytes, adapters: ['runpod'] },
});
const collection = new CollectionCalls(service);

/** Lets other answers to the service's key take nearly all of its bytes. The returned function gives them back. */
async function withoutRoom(): Promise<() => void> {
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  const hold = service.app.get(Allowances).charge(`key:${key!.id}`, 'bytes', largeBytes - 1_000);
  return () => hold.release();
}

describe('an answer for which its caller has no room', () => {
  test('is refused if the call only reads: a list, many statuses, an input for a worker', async () => {
    const ids = await calls.submitAll(60, 'test/one?delay=1h');
    await calls.submit('test/pulled', { text: 'x'.repeat(largeBytes) });
    const worker = new WorkerCalls(service);
    const run = await worker.run({ models: ['test/pulled'] });
    const asked = {
      list: () => collection.call('GET', '?limit=100'),
      statuses: () => collection.call('POST', '/status', { request_ids: ids }),
      // One id in place of many: its status is in the answer as often.
      status: () => collection.call('POST', '/status', { request_ids: Array(60).fill(ids[0]) }),
      input: () => worker.ofRun('GET', run, 'input'),
    };
    const giveBack = await withoutRoom();
    for (const [name, ask] of Object.entries(asked))
      expect([name, await verdict(ask())]).toEqual([name, [429, 'caller_busy']]);
    giveBack();
    for (const [name, ask] of Object.entries(asked)) {
      const answer = await ask();
      expect([name, answer.status]).toEqual([name, 200]);
      await answer.arrayBuffer();
    }
    await worker.output(run);
    await worker.leave();
  });

  test('is refused before the parts of an output count as read', async () => {
    const id = await calls.submit('test/pulled');
    const worker = new WorkerCalls(service);
    const run = await worker.run({ models: ['test/pulled'] });
    const parts = Array.from({ length: 20 }, (_, i) => `${i} `.padEnd(2_000, 'x'));
    await worker.events(
      run,
      0,
      parts.map((text) => ({ type: 'delta', delta: { text } })),
    );
    const path = `/runpod/v2/test/pulled/stream/${id}`;
    const ask = (): Promise<Response> =>
      service.get(path, { headers: { authorization: `Bearer ${service.key}` } });
    const giveBack = await withoutRoom();
    expect((await ask()).status).toBe(429);
    giveBack();
    const { stream } = (await (await ask()).json()) as { stream: { output: { text: string } }[] };
    expect(stream.map(({ output }) => output.text)).toEqual(parts);
    await worker.output(run);
    await worker.leave();
  });

  test('is sent if the call has taken effect', async () => {
    const giveBack = await withoutRoom();
    const requests = Array.from({ length: 60 }, () => ({ model_id: 'test/one', input: {} }));
    const results = await collection.batch(requests);
    giveBack();
    expect(results.map(({ status }) => status)).toEqual(requests.map(() => 202));
  });
});
