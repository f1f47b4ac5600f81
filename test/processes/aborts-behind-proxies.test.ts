import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import { proxyNames, ProxyProgram } from '../support/proxy-program.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({ models: { 'test/pulled': pulled } });

const heldClaims = (count: number): Promise<unknown> =>
  until(() => service.app.get(WorkerClaims).size === count, { message: `${count} held claims` });

test.each(proxyNames)('a worker that disconnects from its claim behind %s gets no run', async (name) => {
  const port = Number(new URL(service.url).port);
  const proxy = await ProxyProgram.start(name, [port, port]);
  const abort = new AbortController();
  const left = new WorkerCalls({ url: proxy.url, key: service.key })
    .claim({ wait: 50, signal: abort.signal })
    .catch(() => 'left');
  await heldClaims(1);
  abort.abort();
  expect(await left).toBe('left');
  await heldClaims(0);
  const id = await calls.submit('test/pulled');
  const run = await new WorkerCalls(service).run();
  expect([run.request_id, run.attempt]).toEqual([id, 1]);
  await proxy.stop();
});
