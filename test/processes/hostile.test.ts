import { expectWholeRequests } from '../support/hostile-client.js';
import { exchangesOf, expectHarmless } from '../support/hostile-exchanges.js';
import { startTestService } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { QueueCalls } from '../support/queue-calls.js';

test('10,000 random exchanges with all routes get no 5xx, and every request stays intact', async () => {
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
