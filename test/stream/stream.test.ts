import { until } from '../support/index.js';
import { ndjson } from '../support/model-server.js';
import { type Status, unknownId, verdict } from '../support/queue-calls.js';
import { messagesOf, readStream, type StreamReader } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/model': { attempts: 2 }, 'test/narrow': { concurrency: 1 } },
  limits: '1000/s',
});

const log = (message: string): object => ({ type: 'log', level: 'INFO', message });
const output = { type: 'output', output: {} };

function open(id: string, query = '', headers?: Record<string, string>): Promise<StreamReader> {
  return readStream(`${service.url}${calls.path(id)}/status/stream${query}`, headers);
}

const hasLog = (message: string) => (status: Status) =>
  status.logs?.some((line) => line.message === message) === true;

test('the headers of a stream prevent caching and buffering by proxies', async () => {
  const stream = await open(await calls.run('test/model'));
  await stream.ended;
  expect(stream.response.statusCode).toBe(200);
  expect(stream.response.headers).toMatchObject({
    'content-type': expect.stringMatching(/^text\/event-stream/),
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': expect.stringMatching(/./),
  });
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
  expect(stream.statuses()).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
  expect(stream.data[2]).toEqual(await calls.status(id));
});

test('each event of a stream has an id, no name, and the status object in one data line', async () => {
  const stream = await service.get(`${calls.path(await calls.run('test/model'))}/status/stream`);
  expect(await stream.text()).toMatch(/^\n?id: \d+\ndata: \{.*\}\n\n$/);
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
  expect(stream.statuses()).toEqual(['IN_PROGRESS', 'COMPLETED']);
});

test('a stream sends every state, even of very short runs', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const ids = await calls.submitAll(40, 'test/narrow');
  const streams = await Promise.all(ids.map((id, index) => open(id, index % 2 === 0 ? '' : '?logs=1')));
  await Promise.all(streams.map((stream) => stream.event(() => true, 'the first event')));
  await model.answer(running);
  for (const stream of streams) {
    await stream.ended;
    const sent = stream.statuses().filter((state, index, all) => state !== all[index - 1]);
    expect(sent).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const ids = new Map(stream.events.map(({ id, data }) => [data.status, Number(id)]));
    expect([...ids.values()]).toEqual([...new Set(ids.values())].sort((x, y) => x - y));
  }
});

test('positions fall as the queue moves, and a stream merges rapid changes', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const ahead = await calls.submitAll(30, 'test/narrow');
  const last = await calls.submit('test/narrow');
  const stream = await open(last);
  await Promise.all(ahead.map((id) => calls.cancel(id)));
  await stream.event(({ queue_position: position }) => position === 0, 'the front is reached');
  const positions = stream.data.map(({ queue_position: position }) => position!);
  expect(positions[0]).toBe(30);
  expect(positions).toEqual([...positions].sort((a, b) => b - a));
  // Thirty changes at about the same time are merged.
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
    expect(stream.logs()).toEqual(['one', 'two', 'three', 'four']);
    expect(stream.data.every(({ logs }) => Array.isArray(logs))).toBe(true);
  });

  test('a stream shows the entries from before it was opened', async () => {
    const body = ndjson([log('one'), log('two'), output]);
    const id = await calls.run('test/model', { type: 'application/x-ndjson', body });
    const stream = await open(id, '?logs=true');
    await stream.ended;
    expect(stream.logs()).toEqual(['one', 'two']);
  });

  test('a stream contains the log of a failed attempt, also for a client that reconnects in between', async () => {
    const first = [log('first attempt'), { type: 'error', message: 'again', retryable: true }];
    const id = await calls.submit('test/model', {
      attempts: [{ type: 'application/x-ndjson', body: ndjson(first) }, { hold: true }],
    });
    const streams = [await open(id, '?logs=1')];
    await streams[0]!.event(({ status }) => status === 'IN_QUEUE', 'back in the queue');
    await model.arrived(id, 2);
    await streams[0]!.event(hasLog('first attempt'), 'the log of the first attempt');
    const waiting = streams[0]!.events.filter(({ data }) => data.status === 'IN_QUEUE');
    for (const { id: lastId } of waiting)
      streams.push(await open(id, '?logs=1', { 'last-event-id': lastId }));
    await model.say(id, [log('second attempt'), output], 2);
    await Promise.all(streams.map((stream) => stream.ended));
    const all = (await calls.status(id, '?logs=1')).logs!.map(({ message }) => message);
    expect(all).toHaveLength(3);
    expect(streams[0]!.logs()).toEqual(all);
    for (const [index, { id: lastId }] of waiting.entries()) {
      const seen = streams[0]!.events.slice(
        0,
        1 + streams[0]!.events.findLastIndex((event) => event.id === lastId),
      );
      expect([...messagesOf(seen), ...streams[index + 1]!.logs()]).toEqual(all);
    }
  });
});

describe('a reconnect', () => {
  test('with Last-Event-ID continues after the received entries', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.say(id, [log('one'), log('two')]);
    const stream = await open(id, '?logs=1');
    const seen = await stream.event(hasLog('two'), 'the first lines');
    await stream.drop();
    await model.say(id, [log('three')]);
    const again = await open(id, '?logs=1', { 'last-event-id': seen.id });
    await again.event(hasLog('three'), 'what came meanwhile');
    await model.say(id, [log('four'), output]);
    await again.ended;
    expect(again.logs()).toEqual(['three', 'four']);
  });

  test('after the last event is answered with 204', async () => {
    const id = await calls.run('test/model');
    const stream = await open(id);
    await stream.ended;
    const lastId = stream.events.at(-1)!.id;
    for (const query of ['', '?logs=1']) {
      const headers = { 'last-event-id': lastId };
      const again = await service.get(`${calls.path(id)}/status/stream${query}`, { headers });
      expect([again.status, await again.text()]).toEqual([204, '']);
    }
  });

  test('from an earlier event gets the final status with the rest of the log', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.say(id, [log('one')]);
    const stream = await open(id, '?logs=1');
    const seen = await stream.event(hasLog('one'), 'the first line');
    await stream.drop();
    await model.say(id, [log('two'), output]);
    await calls.reached(id, 'COMPLETED');
    const again = await open(id, '?logs=1', { 'last-event-id': seen.id });
    await again.ended;
    expect(again.response.statusCode).toBe(200);
    expect(again.statuses()).toEqual(['COMPLETED']);
    expect(again.logs()).toEqual(['two']);
  });

  test.each(['', '?logs=1'])('shows no status twice while nothing has changed %s', async (query) => {
    const running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const waiting = await calls.submit('test/narrow');
    for (const id of [running, waiting]) {
      const first = await open(id, query);
      const { id: lastId } = await first.event(() => true, 'the status');
      await first.drop();
      for (let times = 0; times < 3; times++) {
        const again = await open(id, query, { 'last-event-id': lastId });
        await again.spoke();
        expect(again.events).toEqual([]);
        await again.drop();
      }
    }
    // What has changed meanwhile is shown, although it is no event of the request.
    const first = await open(waiting, query);
    const { id: lastId } = await first.event(({ queue_position: position }) => position === 0, 'its place');
    await first.drop();
    const ahead = await calls.submit('test/narrow?priority=high');
    const again = await open(waiting, query, { 'last-event-id': lastId });
    await again.event(({ queue_position: position }) => position === 1, 'the new place');
    await model.answer(running);
    await again.ended;
    expect(again.statuses().at(-1)).toBe('COMPLETED');
    expect((await calls.reached(ahead, 'COMPLETED')).success).toBe(true);
  });

  test.each(['', 'x', '0', '0.', '7.x', '1.2.3', '-1', '1e3', '9'.repeat(15), '9'.repeat(40), '0x10', ' '])(
    'with the invalid id %j starts from the beginning',
    async (lastId) => {
      const stream = await open(await calls.run('test/model'), '', { 'last-event-id': lastId });
      await stream.ended;
      expect(stream.statuses()).toEqual(['COMPLETED']);
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
