import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Submissions } from '../../src/queue/submit/submissions.js';
import { StatusSources } from '../../src/queue/reads/status-sources.js';
import { until } from '../support/index.js';
import { queueRequest } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

/** Three URLs of this length make an event so large that the kernel's buffers are full after a few dozen. */
const publicBaseUrl = `http://queue.example/${'x'.repeat(40_000)}`;
/** Bytes that the service may buffer for one client, plus the event that is being written. */
const maxHeldBytes = 256 * 1024 + 2 * 3 * publicBaseUrl.length + 64 * 1024;

const { service, model } = testQueue({
  models: { 'test/chatty': { concurrency: 1 } },
  config: { publicBaseUrl },
});

test('a client that stops reading uses bounded memory and is disconnected, while others get everything', async () => {
  // Not over HTTP, where the Location field would be as long as the URLs.
  const request = await queueRequest(service, 'test/chatty', { hold: true });
  const { id } = await service.app.get(Submissions).submit(request);
  const url = `${service.url}/v1/queue/requests/${id}/status/stream?logs=1`;

  const answers: ServerResponse[] = [];
  const server: Server = service.app.getHttpServer();
  const remember = (_request: object, response: ServerResponse): void => void answers.push(response);
  server.on('request', remember);
  const slow = await readStream(url);
  const quick = await readStream(url);
  server.off('request', remember);
  await until(() => slow.events.length > 0 && quick.events.length > 0);
  slow.response.pause();
  const [toSlow, toQuick] = answers as [ServerResponse, ServerResponse];
  const socket: Socket = toSlow.socket!;

  let maxHeld = 0;
  let lines = 0;
  while (!socket.destroyed && lines < 400) {
    await model.say(id, [{ type: 'log', level: 'INFO', message: `line ${++lines}` }]);
    await until(() => quick.logs().length === lines);
    maxHeld = Math.max(maxHeld, socket.writableLength + toSlow.writableLength);
  }
  expect(socket.destroyed).toBe(true);
  expect(maxHeld).toBeLessThan(maxHeldBytes);
  expect(toQuick.socket!.destroyed).toBe(false);

  await model.say(id, [{ type: 'log', level: 'INFO', message: 'after the drop' }]);
  await model.answer(id, '{"type":"output","output":{"done":true}}\n');
  await quick.ended;
  expect(quick.statuses().at(-1)).toBe('COMPLETED');
  expect(quick.logs()).toEqual([
    ...Array.from({ length: lines }, (_, i) => `line ${i + 1}`),
    'after the drop',
  ]);
  await until(() => service.app.get(StatusSources).size === 0);

  // The dropped client resumes where it stopped, and has missed nothing.
  slow.response.resume();
  await slow.ended;
  const again = await readStream(url, { 'last-event-id': slow.lastEventId });
  await again.ended;
  expect([...slow.logs(), ...again.logs()]).toEqual(quick.logs());
}, 60_000);
