import { EventStream, type StreamEvent } from '../support/event-stream.js';
import { QueueCalls, type Status, unknownId, verdict } from '../support/queue-calls.js';
import { modelsFile, ScriptedModel } from '../support/scripted-model.js';
import { startTestService, type TestService, until } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
let model: ScriptedModel;

beforeAll(async () => {
  model = await new ScriptedModel().start();
  const models = modelsFile(
    model.entry('test/model', { attempts: 2 }),
    model.entry('test/narrow', { concurrency: 1 }),
  );
  service = await startTestService({ limits: '1000/s', models });
  calls = new QueueCalls(service);
});

afterAll(async () => {
  await service.stop();
  await model.stop();
});

const log = (message: string): object => ({ type: 'log', level: 'INFO', message });
const output = { type: 'output', output: {} };

function open(id: string, query = '', headers?: Record<string, string>): Promise<EventStream<Status>> {
  return EventStream.open(`${service.url}${calls.path(id)}/status/stream${query}`, headers);
}

const states = ({ data }: EventStream<Status>): string[] => data.map(({ status }) => status);

const messages = (events: StreamEvent<Status>[]): string[] =>
  events.flatMap(({ data }) => (data.logs ?? []).map(({ message }) => message));

const hasLog = (message: string) => (status: Status) =>
  status.logs?.some((line) => line.message === message) === true;

test('the header fields of a stream keep caches and proxies out of the way', async () => {
  const stream = await open(await calls.run('test/model'));
  await stream.ended;
  const { status, headers } = stream.response;
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(headers.get('cache-control')).toBe('no-cache, no-transform');
  expect(headers.get('x-accel-buffering')).toBe('no');
  expect(headers.get('x-request-id')).toBeTruthy();
});

test('a stream follows a request from the queue to its end, then closes', async () => {
  const ahead = await calls.submit('test/narrow', { hold: true });
  await model.arrived(ahead);
  const id = await calls.submit('test/narrow', { hold: true });
  const stream = await open(id);
  await stream.event(({ queue_position: position }) => position === 0, 'the first event comes at once');
  await model.answer(ahead);
  await stream.event(({ status }) => status === 'IN_PROGRESS', 'the start is sent');
  await model.answer(id);
  await stream.ended;
  expect(states(stream)).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
  expect(stream.data[2]).toEqual(await calls.status(id));
});

test('the events of a stream have no name, an id each, and the status object in one line of data', async () => {
  const stream = await open(await calls.run('test/model'));
  await stream.ended;
  expect(stream.events).toHaveLength(1);
  expect(stream.events[0]).toMatchObject({ id: expect.stringMatching(/^\d+$/), name: undefined });
  expect(stream.text).toMatch(/^\n?id: \d+\ndata: \{.*\}\n\n$/);
});

test('an event comes only when something has changed', async () => {
  const id = await calls.submit('test/model', { hold: true });
  await model.arrived(id);
  const stream = await open(id);
  await stream.event(() => true, 'the first event');
  await model.say(id, [log('not asked for')]);
  await until(async () => (await calls.status(id, '?logs=1')).logs!.length === 1);
  await model.answer(id, `${JSON.stringify(output)}\n`);
  await stream.ended;
  expect(states(stream)).toEqual(['IN_PROGRESS', 'COMPLETED']);
});

test('every state is sent, also of runs that are over before anybody looks', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const ids = await calls.submitAll(40, 'test/narrow');
  const streams = await Promise.all(ids.map((id, index) => open(id, index % 2 === 0 ? '' : '?logs=1')));
  await Promise.all(streams.map((stream) => stream.event(() => true, 'the first event')));
  await model.answer(running);
  for (const stream of streams) {
    await stream.ended;
    const sent = states(stream).filter((state, index, all) => state !== all[index - 1]);
    expect(sent).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const ids = new Map(stream.events.map(({ id, data }) => [data.status, Number(id)]));
    expect([...ids.values()]).toEqual([...new Set(ids.values())].sort((x, y) => x - y));
  }
});

test('positions fall as the queue moves, a second apart', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const ahead = await calls.submitAll(30, 'test/narrow');
  const last = await calls.submit('test/narrow');
  const stream = await open(last);
  for (const id of ahead) await calls.cancel(id);
  await stream.event(({ queue_position: position }) => position === 0, 'the front is reached');
  const positions = stream.data.map(({ queue_position: position }) => position!);
  expect(positions[0]).toBe(30);
  expect(positions).toEqual([...positions].sort((a, b) => b - a));
  // Thirty changes in less than a few seconds: they come together.
  expect(positions.length).toBeLessThan(15);
  await model.answer(running);
  await stream.ended;
  expect(stream.data.at(-1)!.status).toBe('COMPLETED');
});

describe('with logs', () => {
  test('a stream carries each entry once, in order, none left out', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const stream = await open(id, '?logs=1');
    await model.say(id, [log('one'), log('two')]);
    await stream.event(hasLog('two'), 'the first lines');
    await model.say(id, [log('three')]);
    await stream.event(hasLog('three'), 'the next line');
    await model.say(id, [log('four'), output]);
    await stream.ended;
    expect(messages(stream.events)).toEqual(['one', 'two', 'three', 'four']);
    expect(stream.data.every(({ logs }) => Array.isArray(logs))).toBe(true);
  });

  test('a stream shows the entries from before it was opened', async () => {
    const body = [log('one'), log('two'), output].map((line) => JSON.stringify(line)).join('\n');
    const id = await calls.run('test/model', { type: 'application/x-ndjson', body });
    const stream = await open(id, '?logs=true');
    await stream.ended;
    expect(messages(stream.events)).toEqual(['one', 'two']);
  });

  test('a stream carries what an attempt logged before it failed, also to a client that comes back in between', async () => {
    const first = [log('first attempt'), { type: 'error', message: 'again', retryable: true }];
    const id = await calls.submit('test/model', {
      attempts: [
        { type: 'application/x-ndjson', body: first.map((line) => JSON.stringify(line)).join('\n') },
        { hold: true },
      ],
    });
    const streams = [await open(id, '?logs=1')];
    await streams[0]!.event(({ status }) => status === 'IN_QUEUE', 'back in the queue');
    await model.arrived(id, 2);
    await streams[0]!.event(hasLog('first attempt'), 'the log of the first attempt');
    const waiting = streams[0]!.events.filter(({ data }) => data.status === 'IN_QUEUE');
    for (const { id: lastId } of waiting)
      streams.push(await open(id, '?logs=1', { 'last-event-id': lastId! }));
    await model.say(id, [log('second attempt'), output], 2);
    await Promise.all(streams.map((stream) => stream.ended));
    const all = (await calls.status(id, '?logs=1')).logs!.map(({ message }) => message);
    expect(all).toHaveLength(3);
    expect(messages(streams[0]!.events)).toEqual(all);
    for (const [index, { id: lastId }] of waiting.entries()) {
      const seen = streams[0]!.events.slice(
        0,
        1 + streams[0]!.events.findLastIndex((event) => event.id === lastId),
      );
      expect([...messages(seen), ...messages(streams[index + 1]!.events)]).toEqual(all);
    }
  });
});

describe('a reconnect', () => {
  test('with Last-Event-ID goes on after the entries that were seen', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.say(id, [log('one'), log('two')]);
    const stream = await open(id, '?logs=1');
    const seen = await stream.event(hasLog('two'), 'the first lines');
    await stream.close();
    await model.say(id, [log('three')]);
    const again = await open(id, '?logs=1', { 'last-event-id': seen.id! });
    await again.event(hasLog('three'), 'what came meanwhile');
    await model.say(id, [log('four'), output]);
    await again.ended;
    expect(messages(again.events)).toEqual(['three', 'four']);
  });

  test('after the last event is answered with 204', async () => {
    const id = await calls.run('test/model');
    const stream = await open(id);
    await stream.ended;
    const lastId = stream.events.at(-1)!.id!;
    for (const query of ['', '?logs=1']) {
      const again = await open(id, query, { 'last-event-id': lastId });
      await again.ended;
      expect([again.response.status, again.text]).toEqual([204, '']);
    }
  });

  test('from an earlier event gets the end, and the rest of the log with it', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.say(id, [log('one')]);
    const stream = await open(id, '?logs=1');
    const seen = await stream.event(hasLog('one'), 'the first line');
    await stream.close();
    await model.say(id, [log('two'), output]);
    await calls.reached(id, 'COMPLETED');
    const again = await open(id, '?logs=1', { 'last-event-id': seen.id! });
    await again.ended;
    expect(again.response.status).toBe(200);
    expect(states(again)).toEqual(['COMPLETED']);
    expect(messages(again.events)).toEqual(['two']);
  });

  test.each(['', 'x', '-1', '1e3', '9'.repeat(15), '9'.repeat(40), '0x10', ' '])(
    'with %j, which is no id of ours, begins at the beginning',
    async (lastId) => {
      const stream = await open(await calls.run('test/model'), '', { 'last-event-id': lastId });
      await stream.ended;
      expect(states(stream)).toEqual(['COMPLETED']);
    },
  );
});

test('a request that is cancelled in the queue ends its stream', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const id = await calls.submit('test/narrow');
  const stream = await open(id);
  await stream.event(() => true, 'the first event');
  await calls.cancel(id);
  await stream.ended;
  expect(stream.data.at(-1)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
  await model.answer(running);
});

test('an unknown request is refused before any stream begins', async () => {
  const answer = service.get(`${calls.path(unknownId())}/status/stream`, {
    headers: { accept: 'text/event-stream' },
  });
  expect(await verdict(answer)).toEqual([404, 'unknown_request']);
});
