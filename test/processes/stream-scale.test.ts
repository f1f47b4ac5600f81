import { connect, type Socket } from 'node:net';
import type { Server, ServerResponse } from 'node:http';
import v8 from 'node:v8';
import vm from 'node:vm';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { StatusSources } from '../../src/queue/reads/status-sources.js';
import { until } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

const { service, model } = testQueue({ models: { 'test/held': { concurrency: 1 } }, limits: '10000/s' });
let sources: StatusSources;
let server: Server;

beforeAll(() => {
  model.hold();
  sources = service.app.get(StatusSources);
  server = service.app.getHttpServer();
});

const submit = async (): Promise<string> => {
  const response = await service.submit('test/held', {});
  return ((await response.json()) as { status_url: string }).status_url;
};
const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
const listeners = (): number => service.app.get(EventEmitter2).listenerCount('queue.changes');
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Sends the call and waits for the first event, on a bare socket that can disconnect at any time. */
async function openRaw(url: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${pathname}/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  await new Promise<void>((resolve, reject) => {
    let text = '';
    socket.on('data', (part) => {
      text += part.toString();
      if (!text.startsWith('HTTP/1.1 200')) reject(new Error(`no stream: ${text}`));
      if (text.includes('"queue_position"') || text.includes('IN_PROGRESS')) resolve();
    });
    socket.once('close', () => reject(new Error(`closed early after: ${text}`)));
  });
  socket.removeAllListeners('close');
  return socket;
}

test('a thousand streams that are dropped abruptly leave no sources, listeners, sockets, timers or responses behind', async () => {
  const urls = await inParallel(20, Array.from({ length: 40 }), submit);
  await until(() => model.running === 1);
  (await openRaw(urls[0]!)).destroy(); // objects that are made once and kept exist before the count
  await until(() => sources.size === 0);
  const before = { listeners: listeners(), timers: timers() };

  const collected = { count: 0 };
  const registry = new FinalizationRegistry<undefined>(() => collected.count++);
  const remember = (_request: object, response: ServerResponse): void =>
    registry.register(response, undefined);
  server.on('request', remember);
  const sockets = await inParallel(
    50,
    Array.from({ length: 1_000 }, (_, i) => urls[i % urls.length]!),
    openRaw,
  );
  server.off('request', remember);
  expect(sources.size).toBe(40);
  expect(await connections()).toBeGreaterThanOrEqual(1_000);
  expect(listeners()).toBe(before.listeners); // one for all streams, not one each

  for (const [i, socket] of sockets.entries()) {
    if (i % 3 === 0) socket.resetAndDestroy();
    else if (i % 3 === 1) socket.destroy();
    else socket.end();
  }
  sockets.length = 0;
  await until(() => sources.size === 0, { explain: () => ({ watched: sources.size }) });
  await until(async () => (await connections()) < 60, { explain: connections });
  expect(listeners()).toBe(before.listeners);
  await until(() => timers() <= before.timers + 5, { explain: () => ({ before, now: timers() }) });
  await until(
    () => {
      collectGarbage();
      return collected.count >= 990;
    },
    { message: 'the responses are collected', explain: () => collected },
  );
});

test('streams that disconnect before their first event leave no source behind', async () => {
  const url = await submit();
  const { hostname, port, pathname } = new URL(url);
  for (let round = 0; round < 200; round++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(`GET ${pathname}/stream HTTP/1.1\r\nHost: h\r\n\r\n`);
    for (let turn = 0; turn < round % 12; turn++) await new Promise(setImmediate);
    socket.resetAndDestroy();
  }
  expect((await service.get(url)).status).toBe(200);
  await until(() => sources.size === 0, { explain: () => ({ watched: sources.size }) });
});

test('five hundred streams of one request share one source, and each gets its events in order to the last', async () => {
  const url = await submit();
  const readers = await inParallel(50, Array.from({ length: 500 }), () => readStream(`${url}/stream`));
  expect(sources.size).toBe(1);
  model.release();
  await Promise.all(readers.map(({ ended }) => ended));
  for (const reader of readers) {
    expect(reader.statuses()[0]).toBe('IN_QUEUE');
    expect(reader.statuses().at(-1)).toBe('COMPLETED');
    // The part before the point orders the events; the rest is a sum of what was shown.
    const ids = reader.events.map(({ id }) => Math.trunc(Number(id)));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  }
  expect(sources.size).toBe(0);
});
