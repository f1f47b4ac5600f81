import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  config: { adapters: ['fal', 'runpod'] },
  models: { 'acme/text': {} },
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: JSON.stringify(body),
  });

test('an output with line ends is one event of a stream', async () => {
  const answer = await post('/fal/run/acme/text/stream', { body: '{\n  "a": 1,\r\n\n  "b": "\\n"\n}' });
  const [, data] = /^data: (.*)\n\n$/.exec(await answer.text())!;
  expect(JSON.parse(data!)).toEqual({ a: 1, b: '\n' });
});

test('a HEAD request consumes no part of a stream', async () => {
  const submitted = await post('/runpod/v2/acme/text/run', { input: { hold: true } });
  const { id } = (await submitted.json()) as { id: string };
  const url = `${service.url}/runpod/v2/acme/text/stream/${id}`;
  await model.say(id, [{ type: 'delta', delta: 'one' }]);
  const head = await fetch(url, { method: 'HEAD', headers: keyHeader(service.key) });
  expect(head.status).toBe(200);
  (await model.arrived(id)).response.end();
  await calls.reached(id, 'COMPLETED');
  const outputs: unknown[] = [];
  await until(async () => {
    const read = (await (await service.get(url)).json()) as { status: string; stream: { output: unknown }[] };
    outputs.push(...read.stream.map(({ output }) => output));
    return read.status === 'COMPLETED';
  });
  expect(outputs).toEqual(['one']);
});

test('the members of a policy may be null', async () => {
  const policy = { executionTimeout: null, ttl: null, lowPriority: null };
  expect((await post('/runpod/v2/acme/text/run', { input: {}, policy })).status).toBe(200);
});
