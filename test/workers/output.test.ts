import { until } from '../support/index.js';
import { type OutputStreamReader, readOutputStream } from '../support/output-stream.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({ limits: 'off', models: { 'test/pulled': pulled } });
let worker: WorkerCalls;
beforeEach(() => (worker = new WorkerCalls(service)));

const open = (id: string): Promise<OutputStreamReader> =>
  readOutputStream(`${service.url}${calls.path(id)}/output/stream`);
const deltas = (...all: string[]): object[] => all.map((delta) => ({ type: 'delta', delta }));

test('a release sends a reset to the same attempt to readers that have received a delta', async () => {
  const id = await calls.submit('test/pulled');
  const first = await worker.run();
  const early = await open(id);
  await worker.events(first, 0, deltas('a'));
  await early.has(1);
  await worker.release(first);
  const late = await open(id);
  const second = await worker.run();
  await worker.events(second, 0, deltas('b'));
  await until(() => late.words.length > 0);
  expect(await calls.status(id)).toMatchObject({ attempt: 1 });
  await worker.ofRun('PUT', second, 'output', '');
  for (const reader of [early, late]) await reader.ended;
  expect(early.words).toEqual(['0 "a"', 'reset 1', '0 "b"', 'done true']);
  expect(late.words).toEqual(['0 "b"', 'done true']);
});

test('a reader that has received no delta gets no reset', async () => {
  const id = await calls.submit('test/pulled');
  const first = await worker.run();
  const reader = await open(id);
  // The reader has read the output once, and found nothing.
  await worker.events(first, 0, [{ type: 'progress', value: 0.5 }]);
  await worker.release(first);
  const second = await worker.run();
  await worker.events(second, 0, deltas('b'));
  await reader.has(1);
  await worker.ofRun('PUT', second, 'output', '');
  await reader.ended;
  expect(reader.words).toEqual(['0 "b"', 'done true']);
});
