import { until } from '../support/index.js';
import type { Status } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

type WithProgress = Status & { progress?: { value: number; message: string | null } };

const { service, calls, model } = testQueue({ models: { 'test/model': { attempts: 2 } }, limits: '1000/s' });

const progress = (value: number, message?: string): object => ({ type: 'progress', value, message });
const shownIn = (statuses: Status[]): unknown[] =>
  statuses.map((status) => (status as WithProgress).progress?.value);
const statusOf = (id: string): Promise<WithProgress> => calls.status(id);

test('the status shows the latest progress while the request runs, and not after its end', async () => {
  const id = await calls.submit('test/model', { hold: true });
  await model.arrived(id);
  expect(await statusOf(id)).not.toHaveProperty('progress');
  await model.say(id, [progress(0.25), progress(0.5, 'half\0way')]);
  await until(async () => (await statusOf(id)).progress?.value === 0.5);
  expect((await statusOf(id)).progress).toEqual({ value: 0.5, message: 'half\ufffdway' });
  await model.say(id, [progress(0.75)]);
  await until(async () => (await statusOf(id)).progress?.value === 0.75);
  expect((await statusOf(id)).progress).toEqual({ value: 0.75, message: null });
  await model.answer(id, '{"type":"output","output":1}\n');
  expect(await calls.reached(id, 'COMPLETED')).not.toHaveProperty('progress');
});

test('a stream sends progress up to the last value, at most four times a second', async () => {
  const id = await calls.submit('test/model', { hold: true });
  const stream = await readStream(`${service.url}${calls.path(id)}/status/stream`);
  await model.arrived(id);
  const began = performance.now();
  // Each value comes with a log line, which a stream without logs does not show.
  for (let step = 1; step <= 100; step++) {
    await model.say(id, [progress(step / 100), { type: 'log', message: 'a' }]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await stream.event((status) => (status as WithProgress).progress?.value === 1, 'the last value');
  const quarters = (performance.now() - began) / 250;
  const shown = shownIn(stream.data).filter((value) => value !== undefined);
  expect(shown).toEqual([...shown].sort((a, b) => Number(a) - Number(b)));
  expect(new Set(shown).size).toBe(shown.length);
  expect(shown.length).toBeLessThanOrEqual(quarters + 2);
  await model.answer(id, '{"type":"output","output":1}\n');
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('COMPLETED');
});

test('a log line and a progress that the model sends together are one event', async () => {
  const id = await calls.submit('test/model', { hold: true });
  await model.arrived(id);
  const stream = await readStream(`${service.url}${calls.path(id)}/status/stream?logs=1`);
  const steps = [0.1, 0.2, 0.3, 0.4];
  for (const step of steps) {
    await model.say(id, [{ type: 'log', message: String(step) }, progress(step)]);
    await stream.event(({ logs }) => logs?.at(-1)?.message === String(step), 'the line');
  }
  await model.answer(id, '{"type":"output","output":1}\n');
  await stream.ended;
  const running = stream.data.filter(({ status, logs }) => status === 'IN_PROGRESS' && logs!.length > 0);
  expect(running.map(({ logs }) => logs!.map(({ message }) => Number(message)))).toEqual(
    steps.map((step) => [step]),
  );
  expect(shownIn(running)).toEqual(steps);
  expect(new Set(shownIn(stream.data)).size).toBe(steps.length + 1);
  // The start, four steps and the end.
  expect(stream.data.filter((status) => (status as WithProgress).progress !== undefined)).toHaveLength(4);
});

test('another attempt begins without the progress of the one before', async () => {
  const id = await calls.submit('test/model', { hold: true });
  await model.say(id, [progress(0.9)]);
  await until(async () => (await statusOf(id)).progress?.value === 0.9);
  const retry = { type: 'error', message: 'again', retryable: true };
  await model.say(id, [retry]);
  await model.arrived(id, 2);
  expect(await statusOf(id)).not.toHaveProperty('progress');
  await model.answer(id, undefined, 2);
});
