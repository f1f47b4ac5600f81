import { expectWholeRequests } from '../support/hostile-client.js';
import { exchangesOf, expectHarmless } from '../support/hostile-exchanges.js';
import { startTestService } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { QueueCalls } from '../support/queue-calls.js';

test('of 10,000 exchanges with every route, none is answered with a 5xx, and every request is whole', async () => {
  const service = await startTestService({ limits: 'off', config: { adapters: ['fal'] } });
  try {
    const calls = new QueueCalls(service);
    // Some of them are erased during the test.
    const known = await inParallel(8, Array.from({ length: 40 }), () => calls.run('demo/text/echo'));
    await expectHarmless(service, exchangesOf(19, 10_000, known));
    await expectWholeRequests(calls, await calls.count('request'));
  } finally {
    await service.stop();
  }
}, 300_000);
