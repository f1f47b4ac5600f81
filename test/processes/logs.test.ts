import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  createTestDatabase,
  SpawnedService,
  spawnService,
  submitTo,
  type TestDatabase,
  until,
} from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { Terminal } from '../support/terminal.js';

const key = 'test_logs_key_0123456789';
const secret = 'hush_hush_0123456789';
const model = new ModelServer();
let database: TestDatabase;
let directory: string;
let environment: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  await model.start();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-logs-'));
  const modelsFile = join(directory, 'models.yaml');
  const runner = { kind: 'http', url: `${model.url}?key=${secret}`, headers: { 'x-model-key': secret } };
  await writeFile(modelsFile, model.file({ 'test/first': { runner }, 'test/second': {} }));
  environment = {
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    MODELS_FILE: modelsFile,
    RATE_LIMIT_SUBMIT: 'off',
    RATE_LIMIT_OTHER: 'off',
  };
});
afterAll(async () => {
  await model.stop();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

interface Line {
  level: string;
  context?: string;
  msg: string;
  count?: number;
  model?: string;
  code?: string;
}

/** Returns the output of `npm run requests`. */
async function translated(...args: string[]): Promise<string> {
  const command = new SpawnedService(environment, { script: 'dist/src/requests.js', args });
  expect({ ...(await command.exited), output: command.output }).toMatchObject({ code: 0 });
  return command.output.trim();
}

/** Returns the log lines in the output of a process. */
const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** Runs some requests that fail, and after them one that succeeds. */
async function runSome(url: string): Promise<string> {
  const failing = Array.from({ length: 5 }, () => submitTo(url, key, 'test/first', { status: 500 }));
  for (const { status_url } of await Promise.all(failing)) await completed(status_url);
  const { status_url, request_id } = await submitTo(url, key, 'test/second', {});
  await completed(status_url);
  return request_id;
}

const completed = (statusUrl: string): Promise<unknown> =>
  until(async () => (await (await fetch(statusUrl)).text()).includes('"COMPLETED"'));

test('without a terminal, log lines are JSON: models at the start, counted failures, and outcomes at debug', async () => {
  const service = await spawnService({ ...environment, LOG_LEVEL: 'debug' });
  const id = await runSome(service.url);
  await service.stop();
  const lines = linesOf(service.output);
  expect(lines.map(({ msg }) => msg)).toContain('serves 2 models: test/first, test/second');
  // An old version of Node is warned of, too.
  const failures = lines.filter(({ level, context }) => level === 'warn' && context !== 'Node');
  expect(failures).toMatchObject([
    { model: 'test/first', code: 'model_error', count: 1 },
    { model: 'test/first', code: 'model_error', count: 4 },
  ]);
  const handle = await translated('handle', id);
  expect(handle).toMatch(/^rh_[\w-]{22}$/);
  const end = expect.stringMatching(`^${handle} of test/second succeeded after 1 attempt in \\d+ ms$`);
  expect(lines).toContainEqual(expect.objectContaining({ level: 'debug', msg: end }));
  expect(service.output).not.toContain('\x1b');
  expect(service.output).not.toMatch(new RegExp(`${secret}|${key}`));
});

test('the log contains no ids of requests or files, no keys and no secrets of URLs', async () => {
  const service = await spawnService({ ...environment, LOG_LEVEL: 'trace', WEBHOOK_ALLOW: '127.0.0.1' });
  const { url } = service;
  const headers = { authorization: `Key ${key}` };
  const initiated = await fetch(`${url}/v1/storage/upload/initiate`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ content_type: 'image/png', file_name: 'cat.png' }),
  });
  const { file_url, upload_url } = (await initiated.json()) as Record<'file_url' | 'upload_url', string>;
  await (
    await fetch(upload_url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'x' })
  ).text();
  await (await fetch(file_url)).text();
  // A model that repeats the call and the input that it got.
  const error = JSON.stringify({ message: `no ${file_url} at ${model.url}?key=${secret}` });
  const webhook = `?webhook=${encodeURIComponent(`http://127.0.0.1:1/${secret}?token=${secret}`)}`;
  const failing = await submitTo(url, key, `test/first${webhook}`, { status: 400, body: error });
  const { request_id: id } = failing;
  await completed(failing.status_url);
  const paths = ['', '/status', '/status/stream', '/output/stream', '/nothing', '/deliveries'];
  for (const path of [...paths, `/status?logs=1&token=${secret}`])
    await (await fetch(`${url}/v1/queue/requests/${id}${path}`, { headers: { 'x-request-id': id } })).text();
  await (await fetch(`${url}/v1/queue/requests/${id.replaceAll('-', '%2D')}/status`)).text();
  await (await fetch(`${url}/v1/queue/requests/${id}/cancel`, { method: 'PUT' })).text();
  await (await fetch(`${url}/v1/admin/requests/${id}`, { headers })).text();
  const lease = { ...headers, 'lease-token': 'A'.repeat(43) };
  await (await fetch(`${url}/v1/worker/runs/${id}/input`, { headers: lease })).text();
  const handle = await translated('handle', id);
  expect(await translated('id', handle)).toBe(id);
  await service.stop();
  const { output } = service;
  for (const right of [id, new URL(file_url).pathname.split('/')[3]!, secret, key, 'signature='])
    expect(output).not.toContain(right);
  expect(output).not.toContain(id.replaceAll('-', '%2D'));
  expect(output).toContain(`"path":"/v1/queue/requests/${handle}/status"`);
  expect(output).toContain(`"callId":"${handle}"`);
  expect(output).toContain('"path":"/v1/files/…"');
  expect(output).toContain(`"path":"/v1/worker/runs/${handle}/input"`);
});

test('the first start prints the admin key and the link once, and no log line or file contains them', async () => {
  const data = await mkdtemp(join(tmpdir(), 'nowserving-first-'));
  try {
    const service = await spawnService({ DATA_DIR: data, LOG_LEVEL: 'trace' });
    await until(() => service.output.includes('fractal.png'));
    const shownKeys = /administrator.*: (ns_[\w-]{43})\n.*applications.*: (ns_[\w-]{43})\n/.exec(
      service.output,
    )!;
    const [admin, made] = [shownKeys[1]!, shownKeys[2]!];
    expect(service.output).toContain(`'Authorization: Key ${made}'`);
    const link = /#link=([\w-]+)/.exec(service.output)![1]!;
    await submitTo(service.url, made, 'demo/text/echo', {});
    const signIn = await fetch(`${service.url}/v1/admin/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    });
    expect(signIn.status).toBeLessThan(300);
    await service.stop();
    for (const shown of [link, admin]) expect(service.output.split(shown)).toHaveLength(2);
    const log = service.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n');
    const files = (await readdir(data, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    const kept = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'latin1')));
    for (const text of [log, ...kept])
      for (const shown of [admin, made, link]) expect(text.includes(shown)).toBe(false);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});

test.each([
  ['in colour', {}, true],
  ['without, where NO_COLOR asks for that', { NO_COLOR: '1' }, false],
])('on a terminal lines are readable, %s', async (_, more, isColoured) => {
  const terminal = new Terminal({ ...environment, TERM: 'xterm', ...more });
  try {
    const url = await terminal.listening();
    await runSome(url);
    const explain = () => terminal.said;
    const line = /\] WARN: .* of test\/first failed with model_error/;
    await until(() => line.test(stripVTControlCharacters(terminal.said)), { explain });
    expect(terminal.said).toMatch(/serves 2 models: test\/first, test\/second/);
    expect(terminal.said).toMatch(/POST \/v1\/queue\/test\/first 202 in \d/);
    expect(terminal.said).not.toContain('"level"');
    expect(terminal.said.includes('\x1b[33mWARN')).toBe(isColoured);
    expect(terminal.said).not.toMatch(new RegExp(`${secret}|${key}`));
  } finally {
    const ended = new Promise((done) => terminal.child.once('exit', done));
    terminal.child.stdin!.write('\x03');
    await ended;
  }
});

test('LOG_FORMAT applies even if standard output is no terminal', async () => {
  const service = await spawnService({ ...environment, LOG_FORMAT: 'pretty', ROLE: 'api' });
  await service.stop();
  expect(service.output).toMatch(/^\[[\d:.]+\] INFO: serves 2 models: test\/first, test\/second$/m);
});
