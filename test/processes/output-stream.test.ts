import { until } from '../support/index.js';
import { readOutputStream } from '../support/output-stream.js';
import { ProcessCluster } from '../support/process-cluster.js';

let cluster: ProcessCluster;

beforeAll(async () => (cluster = await new ProcessCluster().start(1)));
afterAll(() => cluster.stop());

const delta = (value: unknown): object => ({ type: 'delta', delta: value });

test('the output of a run whose node is killed starts again with the next attempt, without a repeated part', async () => {
  const victim = await cluster.scheduler();
  const id = await cluster.submit();
  const url = `${cluster.api.url}/v1/queue/requests/${id}/output/stream`;
  const reader = await readOutputStream(url);
  for (let part = 0; part < 5; part++) {
    await cluster.model.say(id, [delta({ part })], 1);
    await reader.has(part + 1);
  }
  const gone = await readOutputStream(url, reader.events[2]!.id);
  await gone.has(2);
  await gone.drop();
  // Deltas that are on their way are lost with the node, or shown, but never both.
  await cluster.model.say(id, [delta({ part: 5 })], 1);
  victim.kill('SIGKILL');
  const heir = await cluster.scheduler();
  await until(() => cluster.model.calls.some((call) => call.id === id && call.attempt === 2));
  for (let part = 0; part < 3; part++) await cluster.model.say(id, [delta({ again: part })], 2);
  await cluster.model.answer(id, '', 2);
  await reader.ended;
  const first = reader.words.slice(0, reader.words.indexOf('reset 2'));
  expect(first).toEqual(Array.from({ length: first.length }, (_, part) => `${part} {"part":${part}}`));
  const second = ['reset 2', '0 {"again":0}', '1 {"again":1}', '2 {"again":2}', 'done true'];
  expect(reader.words.slice(first.length)).toEqual(second);
  // A reader that was at an id of the first attempt comes back to the second.
  for (const { id: seen } of reader.events.slice(0, first.length)) {
    const back = await readOutputStream(url, seen);
    await back.ended;
    expect(back.words).toEqual(second);
  }
  const response = await cluster.api.get(`/v1/queue/requests/${id}`);
  expect(await response.json()).toEqual([{ again: 0 }, { again: 1 }, { again: 2 }]);
  await heir.stop();
});

test('an output stream resumes after its last event, even once the run has ended', async () => {
  const scheduler = await cluster.scheduler();
  const id = await cluster.submit();
  await cluster.model.say(id, [delta(0)], 1);
  const reader = await readOutputStream(`${cluster.api.url}/v1/queue/requests/${id}/output/stream`);
  await reader.has(1);
  await reader.drop();
  await cluster.model.say(id, [delta(1)], 1);
  await cluster.model.answer(id, '', 1);
  await cluster.completed(id);
  const back = await readOutputStream(
    `${cluster.api.url}/v1/queue/requests/${id}/output/stream`,
    reader.lastEventId,
  );
  await back.ended;
  expect(back.words).toEqual(['1 1', 'done true']);
  await scheduler.stop();
});
