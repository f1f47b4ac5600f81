import { packClient, UserProject } from '../support/client-package.js';
import { startTestService, type TestService } from '../support/index.js';
import { isRunning } from '../support/is-running.js';
import { QueueCalls } from '../support/queue-calls.js';
import { until } from '../support/until.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';

let service: TestService;
let calls: QueueCalls;
let project: UserProject;

beforeAll(async () => {
  const names = ['cat', 'text', 'events', 'codes', 'absent', 'slow', 'files', 'half'];
  const models = Object.fromEntries(names.map((name) => [`me/${name}`, { attempts: 1 }]));
  [service, project] = await Promise.all([
    startTestService({ limits: 'off', models: workerModels(models) }),
    packClient().then((packed) => UserProject.with(packed, {})),
  ]);
  calls = new QueueCalls(service);
});
afterAll(() => service.stop());

const environment = () => ({ NOWSERVING_URL: service.url, NOWSERVING_KEY: service.key });
/** Starts the command like npx. */
const nowserving = (...args: string[]): WorkerProcess =>
  new WorkerProcess('node_modules/.bin/nowserving', args, project.directory, environment());

/** Starts a worker whose command is a line for sh. */
const work = (model: string, script: string, ...options: string[]): Promise<WorkerProcess> =>
  nowserving('work', '--model', model, ...options, '--', 'sh', '-c', script).says('Serving');

async function endOf(model: string, input: object) {
  const id = await calls.submit(model, input);
  const response = await calls.response(id);
  return { id, status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('any program is a model: its input on standard input, its output on standard output', async () => {
  const worker = await work('me/cat', 'cat');
  expect(await endOf('me/cat', { text: 'hello' })).toMatchObject({ status: 200, body: { text: 'hello' } });
  await worker.stop();
});

test('input and output are passed on unchanged, even numbers that JavaScript cannot represent', async () => {
  const worker = await work('me/cat', 'cat');
  const json = '{"n":12345678901234567890,"f":1.0}';
  const headers = { authorization: `Key ${service.key}`, 'content-type': 'application/json' };
  const submitted = await fetch(`${service.url}/v1/queue/me/cat`, { method: 'POST', headers, body: json });
  const { request_id } = (await submitted.json()) as { request_id: string };
  expect(await (await calls.response(request_id)).text()).toBe(json);
  await worker.stop();
});

test('text on standard output becomes the output, and standard error becomes the log', async () => {
  const worker = await work('me/text', 'echo begun >&2; printf "a b"; printf " c"', '--stdout', 'text');
  const { id, body } = await endOf('me/text', {});
  expect(body).toBe('a b c');
  const { logs = [] } = await calls.status(id, '?logs=1');
  expect(logs.map(({ source, message }) => [source, message])).toContainEqual(['stderr', 'begun']);
  await worker.stop();
});

test('NDJSON lines become the log, the usage and the output', async () => {
  const lines = [
    { type: 'log', level: 'WARN', message: 'hot' },
    { type: 'usage', usage: { tokens: 48 } },
    { type: 'output', output: { n: 1 } },
  ];
  const script = `printf '%s\\n' '${lines.map((line) => JSON.stringify(line)).join("' '")}'`;
  const worker = await work('me/events', script, '--stdout', 'ndjson');
  const { id, body } = await endOf('me/events', {});
  expect(body).toEqual({ n: 1 });
  const { logs = [], metrics } = await calls.status(id, '?logs=1');
  expect(logs.map(({ level, message }) => [level, message])).toContainEqual(['WARN', 'hot']);
  expect(metrics).toMatchObject({ usage: { tokens: 48 } });
  await worker.stop();
});

test('exit codes determine the outcome of the request and whether the worker stops', async () => {
  const worker = await work('me/codes', 'exit $(tr -dc 0-9)');
  expect((await endOf('me/codes', { code: 65 })).body).toMatchObject({
    code: 'model_error',
    detail: 'The command ended with exit code 65.',
  });
  expect((await endOf('me/codes', { code: 3 })).body).toMatchObject({
    code: 'model_error',
    detail: 'The command ended with exit code 3.',
  });
  const id = await calls.submit('me/codes', { code: 78 });
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.output).toContain('The command cannot run here: it ended with exit code 78.');
  expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE' });
});

test('a command that does not exist stops the worker, and uses no attempt', async () => {
  const worker = nowserving('work', '--model', 'me/absent', '--', './no-such-program');
  const id = await calls.submit('me/absent');
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.output).toContain('The command does not exist. The worker stops.');
  const other = await work('me/absent', 'echo 1');
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true, attempt: 1 });
  await other.stop();
});

test('files that the output names become files of the service', async () => {
  const worker = await work('me/files', `printf abc > a.txt; echo '{"file":"file:a.txt"}'`);
  const { body } = await endOf('me/files', {});
  expect(await (await fetch(body['file'] as string)).text()).toBe('abc');
  await worker.stop();
});

test('a cancel ends a run whose command has a child process', async () => {
  const worker = await work('me/slow', 'echo begun >&2; sleep 1000 & wait', '--kill-after', '100ms');
  const id = await calls.submit('me/slow');
  await calls.reached(id, 'IN_PROGRESS');
  await calls.cancel(id);
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ error: { code: 'cancelled' } });
  await worker.stop();
});

test('SIGHUP ends the worker, and its run is requeued', async () => {
  const worker = await work(
    'me/slow',
    'echo begun >&2; exec sleep 1000',
    '--grace',
    '0',
    '--kill-after',
    '0s',
  );
  const id = await calls.submit('me/slow');
  await calls.reached(id, 'IN_PROGRESS');
  worker.kill('SIGHUP');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE' });
  await calls.cancel(id);
});

test('a signal after the worker has left ends the process, and a command that ignores SIGTERM with it', async () => {
  const worker = await work(
    'me/slow',
    `trap '' TERM; echo "pid $$" >&2; exec sleep 1000`,
    '--kill-after',
    '1h',
  );
  const id = await calls.submit('me/slow');
  const pid = await until(async () => {
    const { logs = [] } = await calls.status(id, '?logs=1');
    return /^pid (\d+)$/.exec(logs.at(-1)?.message ?? '')?.[1];
  });
  worker.kill('SIGINT');
  await worker.says('claims no more');
  worker.kill('SIGINT');
  await calls.reached(id, 'IN_QUEUE');
  let exit: unknown;
  void worker.exited.then((its) => (exit = its));
  await until(() => {
    worker.kill('SIGINT');
    return exit;
  });
  expect(exit).toEqual({ code: 130, signal: null });
  await until(async () => !(await isRunning(pid)), { message: 'the command has ended' });
  await calls.cancel(id);
});

test('the partial output of a command that is stopped is discarded, regardless of its exit code', async () => {
  const script = `trap 'exit 0' TERM; printf half; echo said >&2; sleep 1000 & wait`;
  const saidHalf = (id: string) =>
    until(async () => (await calls.status(id, '?logs=1')).logs?.some(({ message }) => message === 'said'));
  const worker = await work('me/half', script, '--stdout', 'text', '--grace', '0');
  const cancelled = await calls.submit('me/half');
  await saidHalf(cancelled);
  await calls.cancel(cancelled);
  expect(await calls.reached(cancelled, 'COMPLETED')).toMatchObject({ error: { code: 'cancelled' } });
  const id = await calls.submit('me/half');
  await saidHalf(id);
  await worker.stop();
  const other = await work('me/half', 'printf whole', '--stdout', 'text');
  expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true, attempt: 1 });
  expect(await (await calls.response(id)).json()).toBe('whole');
  await other.stop();
});

test('npx starts it, in a folder with nothing else', async () => {
  const args = ['--offline', 'nowserving', 'work', '--model', 'me/cat', '--', 'cat'];
  const worker = await new WorkerProcess('npx', args, project.directory, environment()).says('Serving');
  expect(await endOf('me/cat', { by: 'npx' })).toMatchObject({ status: 200, body: { by: 'npx' } });
  worker.kill('SIGTERM');
  await worker.says('claims no more');
  await worker.exited;
});

test('--try runs once without a service', async () => {
  const tried = nowserving('work', '--model', 'me/cat', '--try', '{"a":\n1.0}', '--', 'cat');
  expect(await tried.exited).toEqual({ code: 0, signal: null });
  expect(tried.output).toBe('{"type":"output","output":{"a": 1.0}}\n');
});

test('--try prints the output that the service would build from the deltas', async () => {
  const lines = ['"a"', '"b"', '{"n":1.0}', '"c"', '"d"'].map((delta) => `{"type":"delta","delta":${delta}}`);
  const print = ['printf', '%s\\n', ...lines];
  const tried = nowserving('work', '--model', 'me/x', '--stdout', 'ndjson', '--try', '{}', '--', ...print);
  expect(await tried.exited).toEqual({ code: 0, signal: null });
  expect(tried.output.trimEnd().split('\n')).toEqual([
    ...lines,
    '{"type":"output","output":["ab",{"n":1.0},"cd"]}',
  ]);
});

test('--try with invalid JSON prints one error line that is not retryable', async () => {
  const tried = nowserving('work', '--model', 'me/x', '--try', '{n:1}', '--', 'cat');
  expect(await tried.exited).toEqual({ code: 1, signal: null });
  expect(JSON.parse(tried.output)).toEqual({
    type: 'error',
    message: expect.stringContaining('The value of --try must be JSON') as string,
    retryable: false,
  });
});

test('wrong arguments are reported with exit code 64', async () => {
  const wrong = nowserving('work', '--', 'cat');
  expect(await wrong.exited).toEqual({ code: 64, signal: null });
  expect(wrong.output).toBe('nowserving: The model is missing. Give --model <id>. See nowserving --help.\n');
});
