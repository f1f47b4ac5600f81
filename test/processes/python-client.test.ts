import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type Call, ModelServer, ndjson } from '../support/model-server.js';
import { startTestService, type TestService } from '../support/index.js';
import { QueueCalls } from '../support/queue-calls.js';
import { webhookAllow } from '../support/test-webhooks.js';

const client = resolve('clients/python');

interface Input {
  /** The name under which its calls are counted. */
  name?: string;
  n?: number;
  /** Log messages, emitted one after another before the answer. */
  logs?: string[];
  /** Parts of the output. */
  deltas?: unknown[];
  /** The status of a refusal. */
  fail?: number;
}

const counts = new Map<string, number>();
const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

/** Squares `n`, or fails. The model `held` never answers. A GET returns how many calls each name had. */
function respond({ method, url, body, response }: Call): void {
  const json = (status: number, value: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (method === 'GET') return json(200, Object.fromEntries(counts));
  const { name = '', n = 0, logs = [], deltas = [], fail } = JSON.parse(body) as Input;
  count(name);
  if (url.endsWith('/held')) return void response.on('close', () => count(`${name}, stopped`));
  if (fail !== undefined) return json(fail, { why: 'because' });
  if (logs.length + deltas.length === 0) return json(200, { square: n * n });
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const lines: object[] = [
    ...logs.map((message) => ({ type: 'log', level: 'info', message })),
    ...deltas.map((delta) => ({ type: 'delta', delta })),
    ...(deltas.length === 0 ? [{ type: 'output', output: { square: n * n } }] : []),
  ];
  const say = (next: number): void => {
    if (next === lines.length) return void response.end();
    response.write(ndjson([lines[next]!]));
    setTimeout(say, deltas.length > 0 ? 40 : 5, next + 1);
  };
  say(0);
}

const runner = (path: string) => ({ kind: 'http', url: `${model.url}/${path}` });
const model = new ModelServer();
let service: TestService;
let limitedKey: string;
const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;

beforeAll(async () => {
  await model.start();
  model.respond = respond;
  const schema = { type: 'object', properties: { n: { type: 'integer' } } };
  service = await startTestService({
    limits: 'off',
    config: { webhookAllow, webhookSecret },
    models: JSON.stringify({
      models: [
        {
          id: 'test/math/square',
          runner: runner('square'),
          concurrency: 16,
          attempts: 1,
          input_schema: schema,
        },
        { id: 'test/math/held', runner: runner('held'), concurrency: 8, attempts: 1 },
        { id: 'demo/text/echo', runner: { kind: 'demo', demo: 'echo' }, concurrency: 8 },
        { id: 'demo/image/fractal', runner: { kind: 'demo', demo: 'fractal' }, concurrency: 1 },
      ],
    }),
  });
  limitedKey = await new QueueCalls(service).newKey({ rateLimitSubmit: '1/s' });
});
afterAll(async () => {
  await model.stop();
  await service.stop();
});

/** Finds the first Python that has what the tests need. Only Debian's own Python sees Debian's packages. */
function findPython(): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', 'import httpx, pytest, setuptools, wheel']).status === 0,
  );
  if (found === undefined) {
    const packages = 'python3-httpx python3-pytest python3-setuptools python3-wheel';
    throw new Error(`The Python client's tests need on Debian and Ubuntu: apt-get install ${packages}`);
  }
  return found;
}

test('the Python client passes its own tests against this service', async () => {
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: client,
    PYTHONDONTWRITEBYTECODE: '1',
    NOWSERVING_TEST_URL: service.url,
    NOWSERVING_TEST_KEY: service.key,
    NOWSERVING_TEST_LIMITED_KEY: limitedKey,
    NOWSERVING_TEST_MODEL: model.url,
    NOWSERVING_TEST_WEBHOOK_SECRET: webhookSecret,
  };
  const said = await new Promise<{ code: unknown; output: string }>((done) => {
    // pytest names a test that hangs, and shows where each of its threads waits.
    const args = ['-m', 'pytest', '--quiet', '-o', 'faulthandler_timeout=240'];
    const options = { cwd: client, env, maxBuffer: 2 ** 26, timeout: 570_000 };
    execFile(findPython(), args, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : (error.code ?? error.signal), output: stdout + stderr }),
    );
  });
  expect(said).toEqual({ code: 0, output: expect.stringMatching(/^\d+ passed in /m) as string });
  expect(said.output).not.toMatch(/skipped|xfailed|warning/);
}, 600_000);
