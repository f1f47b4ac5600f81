import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type SpawnedService, spawnService, until } from '../support/index.js';

const key = 'test_delay_key_0123456789';
const pulled = { id: 'test/pulled', runner: { kind: 'worker' } };
const echo = { id: 'test/echo', runner: { kind: 'demo', demo: 'echo' } };

let database: TestDatabase;
let service: SpawnedService;
let agent: Agent;

beforeEach(async () => {
  database = await createTestDatabase();
  const modelsFile = join(await temporaryDirectory(), 'models.yaml');
  await writeFile(modelsFile, JSON.stringify({ models: [pulled, echo] }));
  service = await spawnService({
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    MODELS_FILE: modelsFile,
    SHUTDOWN_DELAY: '1h',
    SHUTDOWN_GRACE: '1h',
  });
  agent = new Agent({ keepAlive: true });
});
afterEach(async () => {
  agent.destroy();
  service.destroy();
  await service.exited;
  await database.drop();
});

interface Answer {
  status: number;
  connection: string | undefined;
  body: string;
}

/** Resolves when the head of the answer has come. */
function begin(method: string, path: string, body?: object, headers = {}): Promise<IncomingMessage> {
  const sent = request(`${service.url}${path}`, {
    agent,
    method,
    headers: { authorization: `Key ${key}`, ...headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return answer;
}

async function call(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
  const response = await begin(method, path, body, headers);
  return {
    status: response.statusCode!,
    connection: response.headers.connection,
    body: await text(response),
  };
}

function claim(): Promise<Answer> {
  const models = [{ model_id: 'test/pulled' }];
  const body = { claim_id: randomUUID(), worker: { id: 'a-worker' }, models };
  return call('POST', '/v1/worker/claims', body, { prefer: 'wait=20' });
}

async function leave(): Promise<void> {
  service.kill('SIGTERM');
  await until(async () => (await call('GET', '/health/ready')).status === 503, {
    message: 'it is not ready',
  });
}

test('after SIGTERM a node serves every call for SHUTDOWN_DELAY, and each answer closes its connection', async () => {
  expect(await call('POST', '/v1/queue/test/echo', {})).toMatchObject({
    status: 202,
    connection: 'keep-alive',
  });
  const late = await call('POST', '/v1/queue/test/echo?delay=1h', {});
  const { request_id: id } = JSON.parse(late.body) as { request_id: string };
  const held = call('GET', `/v1/queue/requests/${id}/status`, undefined, { prefer: 'wait=60' });
  held.catch(() => undefined);

  await leave();
  await until(() => service.output.includes('stopping: calls are served for 3600 s more'));
  const submitted = await call('POST', '/v1/queue/test/pulled', { n: 1 });
  expect(submitted).toMatchObject({ status: 202, connection: 'close' });
  // Its worker has the run from this node, because no other is there.
  const claimed = await claim();
  expect(claimed).toMatchObject({ status: 200, connection: 'close' });
  const { runs } = JSON.parse(claimed.body) as { runs: { request_id: string; lease_token: string }[] };
  const [run] = runs;
  const output = await call(
    'PUT',
    `/v1/worker/runs/${run!.request_id}/output`,
    { done: true },
    {
      'lease-token': run!.lease_token,
    },
  );
  expect(output).toMatchObject({ status: 200, connection: 'close' });
  // A call that was held before has the same end.
  expect(await call('PUT', `/v1/queue/requests/${id}/cancel`)).toMatchObject({ status: 200 });
  expect(await held).toMatchObject({ status: 200, connection: 'close' });
  // The node itself starts nothing more.
  const waiting = await call('POST', '/v1/queue/test/echo', {});
  const status = await call(
    'GET',
    new URL((JSON.parse(waiting.body) as { status_url: string }).status_url).pathname,
  );
  expect(JSON.parse(status.body)).toMatchObject({ status: 'IN_QUEUE' });

  // A second signal ends the delay.
  await until(async () => {
    service.kill('SIGTERM');
    return !(await fetch(`${service.url}/health/live`).then(
      () => true,
      () => false,
    ));
  });
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(service.output).toMatch(/^stopped$/m);
});

test('while calls are served, a connection closes only after an answer with Connection: close', async () => {
  const long = { text: 'x'.repeat(4 * 1024 ** 2) };
  const large = JSON.parse((await call('POST', '/v1/queue/test/echo', long)).body) as { request_id: string };
  const path = `/v1/queue/requests/${large.request_id}`;
  await until(async () => (await call('GET', path)).status === 200);
  // Its head is sent before the node leaves, and most of its body is read after that.
  const answer = await begin('GET', path);
  const { socket } = answer;
  await leave();
  expect(answer.headers.connection).toBe('keep-alive');
  expect((await text(answer)).length).toBeGreaterThan(long.text.length);
  const next = await begin('GET', '/health/live');
  expect([next.socket === socket, next.statusCode, next.headers.connection]).toEqual([true, 200, 'close']);
  next.resume();
  service.kill('SIGTERM');
});

test('a Ctrl-C does not wait for proxies', async () => {
  service.kill('SIGINT');
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(service.output).not.toContain('calls are served');
});
