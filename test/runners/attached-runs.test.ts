import { Config } from '../../src/config/config.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { ModelServer } from '../support/model-server.js';
import { Cog } from '../support/servers/cog.js';
import { failureOf, noFiles, testRun, type TestRun, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const runner = new HttpRunner(new Config(), new Tracing(), noFiles, threads);
let server: ModelServer;
let cog: Cog;

beforeEach(async () => {
  server = await new ModelServer().start();
  cog = new Cog();
  cog.isStreaming = true;
  server.respond = cog.respond;
});

afterEach(() => server.stop());

const urlOfModel = (): string => new URL('/predictions', server.url).href;

function run(prompt: string, more: object = {}, options: object = {}): TestRun {
  const runnerOptions = { kind: 'http', preset: 'cog', url: urlOfModel(), headers: {}, ...options };
  return Object.assign(testRun(runnerOptions, JSON.stringify({ prompt })), more);
}

/** What a node finds that takes up the first start. */
const takenUp = (start = 2): object => ({
  followed: { start: 1, address: urlOfModel(), answer: null },
  start,
});

const asked = (): string[] =>
  server.calls.map(({ method, headers }) => `${method} ${String(headers.accept)}`);

test('a model without a stream is called again for the whole answer, with the same run id', async () => {
  cog.isStreaming = false;
  const one = run('a cat');
  expect(await runner.run(one)).toBe('"seen: a cat"');
  expect(asked()).toEqual(['PUT text/event-stream', 'PUT application/json']);
  expect(new Set(server.calls.map(({ url }) => url)).size).toBe(1);
  expect(one.kept).toEqual([null]);
  expect(one.usages).toEqual([{ steps: 4 }]);
});

test('the events of a stream become deltas, log lines and usage', async () => {
  const one = run('a cat');
  expect(await runner.run(one)).toBe('["a ","cat"]');
  expect(one.deltas).toEqual(['"a "', '"cat"']);
  expect(one.lines).toEqual([{ level: 'INFO', message: 'loading' }]);
  expect(one.usages.at(-1)).toEqual({ tokens: 2 });
});

/** Begins a run that holds, and loses its node. */
async function lostRun(): Promise<TestRun> {
  const first = run('hold');
  const ended = runner.run(first).catch((error: unknown) => error);
  await until(() => first.deltas.length > 0);
  first.abort('lost');
  await ended;
  await until(() => server.running === 0);
  return first;
}

test('a node that takes up a run attaches to it by its id, and reads it from the beginning', async () => {
  const first = await lostRun();
  const second = run('hold', takenUp());
  const output = runner.run(second);
  await until(() => second.deltas.length > 0);
  cog.release();
  expect(await output).toBe('["held ","it ","was ","held"]');
  expect([first.deltas, second.deltas]).toEqual([['"held "'], ['"held "', '"it "', '"was "', '"held"']]);
  expect([cog.begun.length, second.kept]).toEqual([1, []]);
});

test('a run that its server ended with the last reader starts again', async () => {
  cog.endsWithReaders = true;
  await lostRun();
  const second = run('a cat', takenUp());
  expect(await runner.run(second)).toBe('["a ","cat"]');
  expect([cog.begun.length, new Set(cog.begun).size]).toEqual([2, 1]);
});

test('an attach to a run that is being cancelled or is truncated costs no attempt', async () => {
  await lostRun();
  const second = run('hold', takenUp());
  const failed = failureOf(runner, second);
  await until(() => second.deltas.length > 0);
  await runner.cancel({ ...second, start: 1, address: urlOfModel(), answer: null });
  expect((await failed).options).toMatchObject({ outage: 'free', retryable: true });

  await lostRun();
  cog.historyCapacity = 1;
  const { message, options } = await failureOf(runner, run('hold', takenUp()));
  expect([message, options.outage]).toEqual(['SSE stream replay truncated; events were dropped', 'free']);
});

test('a run that its server gave up is forgotten, and the failure of the next one counts as an attempt', async () => {
  cog.historyCapacity = 0;
  const second = run('a cat', takenUp());
  let forgotten = 0;
  second.forgetFollowed = () => Promise.resolve(void forgotten++);
  expect((await failureOf(runner, second)).options.outage).toBe('free');
  expect(forgotten).toBe(1);
  const { options } = await failureOf(runner, run('a cat', { start: 3 }));
  expect(options).toEqual({ code: 'model_error', retryable: true });
});

test('a run that continues at its server without a stream costs no attempt and is not started twice', async () => {
  await lostRun();
  cog.isStreaming = false;
  const { message, options } = await failureOf(runner, run('hold', takenUp()));
  expect([message, options.outage, cog.begun.length]).toEqual(['The model answered 202.', 'free', 1]);
});

test('a prediction that a third party cancels counts as an attempt', async () => {
  const one = run('hold');
  const failed = failureOf(runner, one);
  await until(() => one.deltas.length > 0);
  await runner.cancel({ ...one, start: 1, address: urlOfModel(), answer: null });
  expect((await failed).options).toEqual({ code: 'model_error', retryable: true });
});

test('a run that a busy server did not start is not recorded', async () => {
  cog.isBusy = true;
  const one = run('a cat');
  expect((await failureOf(runner, one)).options.outage).toBe('free');
  expect(one.kept).toEqual([]);
});

test.each([
  ['without the id of the run', { request: { url: '{url}/x' } }, /"attach" needs \{run_id\}/],
  ['beside "follow"', { follow: { url: '/jobs', done: '$.done' } }, /"follow" or "attach", not both/],
])('a mapping that attaches %s is invalid', (_, options, fault) => {
  const checked = Object.assign(new HttpRunner.Options(), {
    kind: 'http',
    preset: 'cog',
    url: 'http://gpu:5000/predictions',
    ...options,
  });
  expect(checked.fault()).toMatch(fault);
});

test('the runner asks for an event stream only if the mapping reads one', async () => {
  server.respond = ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('1');
  const plain = { kind: 'http', url: server.url, headers: {} };
  await runner.run(testRun(plain));
  await runner.run(testRun({ ...plain, response: {} }));
  await runner.run(testRun({ ...plain, busy: [409] }));
  await runner.run(testRun({ ...plain, response: { delta: '$.text' } }));
  await runner.run(testRun({ ...plain, preset: 'ollama', headers: { accept: 'text/html' } }));
  expect(server.calls.map(({ headers }) => headers.accept!.includes('text/event-stream'))).toEqual([
    false,
    false,
    false,
    true,
    false,
  ]);
});
