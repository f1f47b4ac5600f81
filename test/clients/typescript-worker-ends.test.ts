import type { Run } from '../../clients/typescript/src/worker/index.js';
import { bodyOf, ProtocolWorkers, untilAborted } from '../support/protocol-workers.js';
import type { WorkerProtocol } from '../support/worker-protocol.js';

const workers = new ProtocolWorkers();
const { work, callTo } = workers;
let service: WorkerProtocol;

beforeEach(async () => (service = await workers.start()));
afterEach(() => workers.stop());

/** Ends as soon as it is told to, without a word. */
async function* untilStopped(_input: unknown, run: Run) {
  yield 'a';
  await untilAborted(run).catch(() => undefined);
}

test('what a run had said when the worker had to stop is not its output: it is handed back', async () => {
  const { drain, over } = work(untilStopped, { grace: 0 });
  service.offer();
  await callTo('beats');
  drain();
  await over;
  expect(service.of('release')).toHaveLength(1);
  expect([...service.of('output'), ...service.of('failure')]).toEqual([]);
});

test('nor is it when the request is cancelled: the run has failed', async () => {
  work(untilStopped);
  service.offer();
  await callTo('beats');
  service.tell({ cancel: ['request-0'] });
  expect(bodyOf(await callTo('failure'))).toEqual({
    message: 'The run must stop: cancelled.',
    retryable: false,
  });
  expect(service.of('output')).toEqual([]);
});

test('an output that is returned counts, also when the worker had to stop', async () => {
  const { drain, over } = work(
    async function* (input, run) {
      yield* untilStopped(input, run);
      return { text: 'a' };
    },
    { grace: 0 },
  );
  service.offer();
  await callTo('beats');
  drain();
  await over;
  expect(service.of('output').map(bodyOf)).toEqual([{ text: 'a' }]);
});
