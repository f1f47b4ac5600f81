import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createTestDatabase, spawnService, submitTo, type TestDatabase, until } from '../support/index.js';
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
  msg: string;
  count?: number;
  model?: string;
  code?: string;
}

/** The lines of the log among what a process said. */
const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** Some that fail, and one that does not, after them all. */
async function runSome(url: string): Promise<string> {
  const failing = Array.from({ length: 5 }, () => submitTo(url, key, 'test/first', { status: 500 }));
  for (const { status_url } of await Promise.all(failing)) await completed(status_url);
  const { status_url, request_id } = await submitTo(url, key, 'test/second', {});
  await completed(status_url);
  return request_id;
}

const completed = (statusUrl: string): Promise<unknown> =>
  until(async () => (await (await fetch(statusUrl)).text()).includes('"COMPLETED"'));

test('where nobody watches, lines are JSON: models at the start, failures counted, ends at debug', async () => {
  const service = await spawnService({ ...environment, LOG_LEVEL: 'debug' });
  const id = await runSome(service.url);
  await service.stop();
  const lines = linesOf(service.output);
  expect(lines.map(({ msg }) => msg)).toContain('serves 2 models: test/first, test/second');
  const failures = lines.filter(({ level }) => level === 'warn');
  expect(failures).toMatchObject([
    { model: 'test/first', code: 'model_error', count: 1 },
    { model: 'test/first', code: 'model_error', count: 4 },
  ]);
  const end = expect.stringMatching(`^${id} of test/second succeeded after 1 attempt in \\d+ ms$`);
  expect(lines).toContainEqual(expect.objectContaining({ level: 'debug', msg: end }));
  expect(service.output).not.toContain('\x1b');
  expect(service.output).not.toMatch(new RegExp(`${secret}|${key}`));
}, 60_000);

test.each([
  ['in colour', {}, true],
  ['without, where NO_COLOR asks for that', { NO_COLOR: '1' }, false],
])(
  'on a terminal lines are readable, %s',
  async (_, more, isColoured) => {
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
  },
  120_000,
);

test('LOG_FORMAT decides whatever standard output is', async () => {
  const service = await spawnService({ ...environment, LOG_FORMAT: 'pretty', ROLE: 'api' });
  await service.stop();
  expect(service.output).toMatch(/^\[[\d:.]+\] INFO: serves 2 models: test\/first, test\/second$/m);
}, 60_000);
