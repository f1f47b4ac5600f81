import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setInterval as every } from 'node:timers/promises';
import { HttpConnections } from '../../src/http/http-connections.js';
import { shippedPace } from '../../src/http/progress.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({ limits: 'off', models: { 'test/pulled': pulled } });

/** Each limit of time of the service is far shorter than the whole body takes. */
const shortened = { graceMs: 20, silenceMs: 400, checkMs: 5, minRate: 2_000 };
const pieceEveryMs = 20;
const pieces = 60;
const output = JSON.stringify('x'.repeat(40_000));

beforeEach(() => void Object.assign(service.app.get(HttpConnections).pace, shortened));
afterEach(() => void Object.assign(service.app.get(HttpConnections).pace, shippedPace, { checkMs: 2_000 }));

/** Sends a body piece by piece, on a line that is slow but moves. */
async function sendSlowly(
  method: string,
  path: string,
  headers: object,
  body: string,
): Promise<[number, unknown]> {
  const sent = request(`${service.url}${path}`, {
    method,
    agent: false,
    headers: { ...keyHeader(service.key), ...headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  const server = service.app.getHttpServer();
  const { headersTimeout, keepAliveTimeout } = server;
  // Once the head has come, because a slow machine may take longer for it.
  server.once('request', () => Object.assign(server, { headersTimeout: 100, keepAliveTimeout: 100 }));
  const size = Math.ceil(body.length / pieces);
  let from = 0;
  for await (const _ of every(pieceEveryMs)) {
    sent.write(body.slice(from, from + size));
    from += size;
    if (from >= body.length) break;
  }
  sent.end();
  const response = await answer;
  Object.assign(server, { headersTimeout, keepAliveTimeout });
  return [response.statusCode!, await json(response)];
}

test('an output that a worker sends over a slow connection is accepted', async () => {
  const id = await calls.submit('test/pulled');
  const run = await new WorkerCalls(service).run();
  const path = `/v1/worker/runs/${id}/output`;
  expect(await sendSlowly('PUT', path, { 'lease-token': run.lease_token }, output)).toEqual([200, {}]);
  expect(await (await calls.response(id)).text()).toBe(output);
});

test.each(['/v1/queue/test/pulled', '/v1/queue/test/pulled?logs=1#x'])(
  'a submission over a slow connection is accepted: %s',
  async (path) => {
    const answer = await sendSlowly('POST', path, {}, `{"text":${output}}`);
    expect(answer).toEqual([202, expect.anything()]);
  },
);

test('a pause of the process does not count as silence of a client', async () => {
  // Only the silence matters here. On a busy machine little has come before, and the average counts the time as well.
  service.app.get(HttpConnections).pace.minRate = 0;
  const answer = sendSlowly('POST', '/v1/queue/test/pulled', {}, `{"text":${output}}`);
  for await (const _ of every(5 * pieceEveryMs)) {
    for (const until = performance.now() + 2 * shortened.silenceMs; performance.now() < until;);
    break;
  }
  expect(await answer).toEqual([202, expect.anything()]);
});

test('a file over a slow connection is accepted', async () => {
  const body = JSON.stringify({ file_name: 'a.txt', content_type: 'text/plain' });
  const initiated = await fetch(`${service.url}/v1/storage/upload/initiate`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body,
  });
  const { upload_url: url, file_url: file } = (await initiated.json()) as Record<string, string>;
  const { pathname, search } = new URL(url!);
  const [status] = await sendSlowly('PUT', pathname + search, { 'content-type': 'text/plain' }, output);
  expect(status).toBe(200);
  expect(await (await service.get(file!)).text()).toBe(output);
});
