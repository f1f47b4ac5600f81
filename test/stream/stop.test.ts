import { HttpConnections } from '../../src/http/http-connections.js';
import { keyHeader } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({ models: { 'test/slow': { concurrency: 1 } } });

test('a stop waits for no open stream', async () => {
  model.hold();
  const id = await calls.submit('test/slow');
  await model.arrived(id);
  const operator = keyHeader(await calls.newKey({ name: 'observer', scopes: ['observe'] }));
  const streams = [
    await readStream(`${service.url}/v1/queue/requests/${id}/status/stream`),
    await readStream(`${service.url}/v1/queue/requests/${id}/output/stream`),
    await readStream(`${service.url}/v1/admin/events`, operator),
  ];
  await service.app.get(HttpConnections).answersEnded(new AbortController().signal);
  expect(streams.map(({ response }) => response.complete)).toEqual([false, false, false]);
  for (const stream of streams) await stream.drop();
});
