import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { keyHeader } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, receiver, hooks } = testWebhooks({}, { 'test/one': { concurrency: 1 } });

/** Adds an endpoint of a key. Returns its path at the receiver. */
async function endpoint(key: string, events: string[]): Promise<string> {
  const path = hooks.newPath();
  const answer = await fetch(`${service.url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { ...keyHeader(key), 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url(path), events }),
  });
  expect(answer.status).toBe(201);
  return path;
}

const bodiesAt = (path: string): { type: string; batch_id?: string; status?: string }[] =>
  receiver.at(path).map(({ body }) => JSON.parse(body) as { type: string });

async function cancelled(batches: BatchCalls, id: string): Promise<void> {
  await batches.until(id, ({ counts }) => counts.running === 1);
  await batches.cancel(id);
}

const held = inputLines(2, () => ({ hold: true }));

test.each([
  ['completed', inputLines(2), '', undefined],
  ['failed', 'no JSON', '', undefined],
  ['expired', held, '&completion_window=2s', undefined],
  ['cancelled', held, '', cancelled],
] as const)(
  'an endpoint that lists batch.completed is notified when a batch is %s',
  async (status, text, options, end) => {
    const key = await calls.newKey();
    const path = await endpoint(key, ['batch.completed']);
    const batches = new BatchCalls({ url: service.url, key });
    const { batch_id: id } = await batches.send(text, `?model_id=test/one${options}`);
    await end?.(batches, id);
    const batch = await batches.ended(id);
    await receiver.arrived(path);
    expect(bodiesAt(path)).toEqual([
      { type: 'batch.completed', timestamp: batch.ended_at, ...(await batches.read(id)) },
    ]);
    expect(batch.status).toBe(status);
  },
);

test('an endpoint receives only the events that it lists, for the batch and for each of its requests', async () => {
  const [key, stranger, earlier] = [await calls.newKey(), await calls.newKey(), await calls.newKey()];
  const ofBatch = await endpoint(key, ['batch.completed']);
  const ofRequests = await endpoint(key, ['request.completed']);
  const ofAll = await endpoint(key, ['request.started', 'request.completed', 'batch.completed']);
  const ofOther = await endpoint(stranger, ['batch.completed', 'request.completed']);
  // The node has to know that some endpoint lists starts. A start that comes while it looks is lost (a known fault).
  const ofEarlier = await endpoint(earlier, ['request.started']);
  await calls.submit('test/one', {}, keyHeader(earlier));
  await receiver.arrived(ofEarlier);
  const batches = new BatchCalls({ url: service.url, key });
  // The URL of the batch is that of an endpoint, too.
  const webhook = encodeURIComponent(receiver.url(ofBatch));
  const { batch_id: id } = await batches.send(inputLines(3), `?model_id=test/one&webhook=${webhook}`);
  await batches.ended(id);
  await receiver.arrived(ofAll, 7);
  await receiver.arrived(ofRequests, 3);
  await receiver.arrived(ofBatch);
  const typesAt = (path: string): string[] =>
    bodiesAt(path)
      .map(({ type }) => type)
      .sort();
  expect(typesAt(ofBatch)).toEqual(['batch.completed']);
  expect(typesAt(ofRequests)).toEqual(Array.from({ length: 3 }, () => 'request.completed'));
  expect(typesAt(ofAll)).toEqual([
    'batch.completed',
    ...Array.from({ length: 3 }, () => 'request.completed'),
    ...Array.from({ length: 3 }, () => 'request.started'),
  ]);
  expect(typesAt(ofOther)).toEqual([]);
});
