import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { LongPolls } from '../../src/requests/long-polls.js';
import { until } from '../support/index.js';
import { proxyNames, ProxyProgram, sampleOf } from '../support/proxy-program.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls, model } = testQueue({
  config: { adapters: ['fal', 'openai'] },
  models: { 'test/pulled': pulled, 'test/held': {} },
});
const port = (): number => Number(new URL(service.url).port);

const heldClaims = (count: number): Promise<unknown> =>
  until(() => service.app.get(WorkerClaims).size === count, { message: `${count} held claims` });

test.each(proxyNames)('a worker that disconnects from its claim behind %s gets no run', async (name) => {
  const proxy = await ProxyProgram.start(name, [port(), port()]);
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

test.each(['nginx', 'haproxy'] as const)(
  'a call that waits for its whole output is still open when other silent calls time out behind %s',
  async (name) => {
    const proxy = await ProxyProgram.start(name, [port(), port()], sampleOf(name).replaceAll('60s', '1s'));
    const before = model.calls.length;
    const waiting = ['openai/v1/chat/completions', 'fal/run/test/held'].map((path) =>
      fetch(`${proxy.url}/${path}`, {
        method: 'POST',
        headers: { authorization: `${path.startsWith('fal') ? 'Key' : 'Bearer'} ${service.key}` },
        body: JSON.stringify({ model: 'test/held', path, hold: true }),
      }),
    );
    const ids = await until(() => {
      const arrived = model.calls.slice(before).map(({ id }) => id);
      return arrived.length === 2 && service.app.get(LongPolls).size === 2 && arrived;
    });
    const headers = { prefer: 'wait', authorization: `Key ${service.key}` };
    const other = await fetch(`${proxy.url}${calls.path(ids[0]!)}/status`, { headers });
    expect(other.status).toBe(504);
    for (const id of ids) await model.answer(id);
    for (const answer of await Promise.all(waiting))
      expect([answer.status, await answer.json()]).toMatchObject([200, { attempt: 1 }]);
    await proxy.stop();
  },
);
