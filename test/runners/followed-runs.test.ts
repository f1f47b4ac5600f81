import { Config } from '../../src/config/config.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { failureOf, filesBy, noFiles, testRun, type TestRun, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const runner = new HttpRunner(new Config(), new Tracing(), noFiles, threads);
let server: ModelServer;
/** The answers of the server by method and path. The last one of a list is repeated. */
let answers: Record<string, (object | number)[]>;

const follow = {
  url: '{base}/jobs/{$.id}',
  every: '2ms',
  done: { path: '$.state', in: ['done'] },
  failed: { path: '$.state', in: ['failed'] },
  error: '$.error',
  log: '$.log',
  progress: '$.share',
  output: '$.output',
  cancel: { method: 'DELETE', url: '{base}/jobs/{$.id}' },
};

beforeEach(async () => {
  server = await new ModelServer().start();
  answers = { 'POST /predict': [{ id: 'a/b' }], 'GET /jobs/a%2Fb': [{ state: 'done', output: 7 }] };
  server.respond = ({ method, url, response, socket }: Call) => {
    const list = answers[`${method} ${url}`] ?? [404];
    const next = list.length > 1 ? list.shift()! : list[0]!;
    if (next === 0) socket.destroy();
    else if (typeof next === 'number') response.writeHead(next).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(next));
  };
});

afterEach(() => server.stop());

function run(options: object = {}, more: object = {}): TestRun {
  const one = testRun({
    kind: 'http',
    url: server.url,
    headers: { 'x-api-key': 'of the model' },
    follow,
    ...options,
  });
  return Object.assign(one, more);
}

const called = (): string[] => server.calls.map(({ method, url }) => `${method} ${url}`);

test('a run is followed until it is done, with its progress and its new log lines', async () => {
  answers['GET /jobs/a%2Fb'] = [
    { state: 'queued' },
    { state: 'running', share: 0.5, log: 'one\n' },
    { state: 'running', share: 0.5, log: 'one\n' },
    { state: 'done', share: 1, log: 'one\ntwo\n', output: { a: 1 } },
  ];
  const one = run();
  expect(await runner.run(one)).toBe('{"a":1}');
  expect(one.kept).toEqual([{ '$.id': 'a/b' }]);
  expect(one.lines.map(({ message }) => message)).toEqual(['one', 'two']);
  expect(one.steps.map(([value]) => value)).toEqual([0.5, 0.5, 1]);
  expect(called()).toEqual(['POST /predict', ...Array<string>(4).fill('GET /jobs/a%2Fb')]);
  expect(server.calls.every(({ headers }) => headers['x-api-key'] === 'of the model')).toBe(true);
});

test('a run that has failed is no outage, although the call for its message breaks', async () => {
  answers['GET /jobs/a%2Fb'] = [{ state: 'failed' }];
  answers['GET /jobs/a%2Fb/result'] = [0];
  const { output: _output, ...others } = follow;
  const one = run({ follow: { ...others, error: '$.none', result: '{base}/jobs/{$.id}/result' } });
  const failed = await failureOf(runner, one);
  expect(failed.message).toBe('The model reports that its run failed, without a message.');
  expect(failed.options).toEqual({ code: 'model_error', retryable: false });
});

test('an error is the message of a failure, and no failure by itself if the server shows failures', async () => {
  const output = 'made';
  answers['GET /jobs/a%2Fb'] = [
    { state: 'running', error: 'warming up' },
    { state: 'done', output, error: 'success' },
  ];
  expect(await runner.run(run())).toBe('"made"');
  answers['GET /jobs/a%2Fb'] = [{ state: 'running' }, { state: 'running', error: 'no memory' }];
  const { failed: _failed, ...others } = follow;
  expect((await failureOf(runner, run({ follow: others }))).message).toBe('no memory');
});

test('an id that is a number of 64 bits keeps its digits', async () => {
  server.respond = ({ method, url, response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (method === 'POST') response.end('{"job": {"id": 12345678901234567890}}');
    else response.end(`{"state": "done", "output": "${url}"}`);
  };
  const one = run({ follow: { ...follow, url: '{base}/jobs/{$.job.id}', cancel: undefined } });
  expect(await runner.run(one)).toBe('"/jobs/12345678901234567890"');
});

test.each([201, 202])('a first answer with status %s starts a followed run', async (status) => {
  server.respond = ({ method, response }) => {
    const json = method === 'POST' ? { id: 1 } : { state: 'done', output: 'x' };
    response.writeHead(method === 'POST' ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  };
  expect(await runner.run(run())).toBe('"x"');
});

test.each([
  [
    'says that it failed',
    { state: 'failed' },
    'The model reports that its run failed, without a message.',
    false,
  ],
  ['says why it failed', { state: 'failed', error: 'no memory' }, 'no memory', false],
  ['lost the run', 404, 'The model no longer knows the run that it had accepted: it answered 404.', true],
  [
    'has deleted the run',
    410,
    'The model no longer knows the run that it had accepted: it answered 410.',
    true,
  ],
  ['refuses to say', 403, 'The model answered 403.', false],
  ['has no output', { state: 'done' }, 'The model\'s answer has no output at the path of "output".', false],
])('a run fails at a server that %s', async (_, answer, message, retryable) => {
  answers['GET /jobs/a%2Fb'] = [{ state: 'running' }, answer];
  const failed = await failureOf(runner, run());
  expect([failed.message, failed.options.retryable]).toEqual([message, retryable]);
});

test('a first answer without the id that "follow" quotes fails the run', async () => {
  answers['POST /predict'] = [{ task: 1 }];
  const one = run();
  expect((await failureOf(runner, one)).message).toBe("The model's answer has no text or number at $.id.");
  expect(one.kept).toEqual([]);
});

test('failed calls are repeated, and the tenth failure in a row fails the run', async () => {
  const misses = [503, 0, 501, 429, 502, 0, 520, 524, 0];
  answers['GET /jobs/a%2Fb'] = [...misses, { state: 'running' }, ...misses, { state: 'done', output: 1 }];
  expect(await runner.run(run())).toBe('1');
  answers['GET /jobs/a%2Fb'] = [{ state: 'running' }, ...misses, 503];
  const { options } = await failureOf(runner, run());
  expect(options).toMatchObject({ code: 'model_unavailable', retryable: true, outage: 'costly' });
  expect(called().filter((call) => call === 'POST /predict')).toHaveLength(2);
});

test('a call for the output or a file that stays unanswered for 30 s is repeated', async () => {
  const { output: _output, ...others } = follow;
  const storing = new HttpRunner(new Config(), new Tracing(), filesBy(String), threads);
  const respond = server.respond;
  const silent = new Set(['/result', '/files/a']);
  server.respond = (call) => {
    // The first call for each is not answered.
    if (silent.delete(call.url)) return;
    if (call.url === '/result')
      call.response.writeHead(200, { 'content-type': 'application/json' }).end('["/files/a"]');
    else if (call.url === '/files/a') call.response.writeHead(200, { 'content-type': 'image/png' }).end('b');
    else respond(call);
  };
  const ended = storing.run(run({ follow: { ...others, result: '{base}/result', files: '$[*]' } }));
  ended.catch(() => undefined);
  jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
  try {
    for (const path of ['/result', '/files/a']) {
      await until(() => called().includes(`GET ${path}`));
      jest.advanceTimersByTime(30_000);
    }
    expect(await ended).toBe('["b"]');
  } finally {
    jest.useRealTimers();
  }
});

test('a run that was started is not started again', async () => {
  const followed = { start: 1, address: server.url, answer: { '$.id': 'a/b' } };
  expect(await runner.run(run({}, { followed, start: 2 }))).toBe('7');
  expect(called()).toEqual(['GET /jobs/a%2Fb']);
});

describe('a server that takes the id of the run', () => {
  const own = {
    request: { url: '{url}/{run_id}', method: 'PUT' },
    follow: { ...follow, url: '{url}/{run_id}', cancel: { method: 'DELETE', url: '{url}/{run_id}' } },
  };

  test('is asked for the run after the loss of a node, and starts the run only if it is unknown', async () => {
    let isKnown = false;
    server.respond = ({ method, response }) => {
      if (method === 'PUT') isKnown = true;
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify({ state: 'done', output: 3 }));
    };
    const one = run(own);
    expect(await runner.run(one)).toBe('3');
    expect(one.kept).toEqual([null]);
    const [{ url }] = server.calls as [Call];
    const followed = { start: 1, address: server.url, answer: null };
    expect(await runner.run(run(own, { followed, start: 2 }))).toBe('3');
    isKnown = false;
    expect(await runner.run(run(own, { followed, start: 3 }))).toBe('3');
    expect(called()).toEqual([
      `PUT ${url}`,
      `GET ${url}`,
      `GET ${url}`,
      `GET ${url}`,
      `GET ${url}`,
      `PUT ${url}`,
      `GET ${url}`,
    ]);
  });

  test('costs no attempt if it is away when it is asked', async () => {
    server.respond = ({ response }) => response.writeHead(503).end();
    const followed = { start: 1, address: server.url, answer: null };
    expect((await failureOf(runner, run(own, { followed }))).options.outage).toBe('free');
  });
});

test('a cancel of an aborted run reaches its server, and a 404 counts as cancelled', async () => {
  answers['GET /jobs/a%2Fb'] = [{ state: 'running' }];
  const one = run();
  const ended = runner.run(one).catch((error: unknown) => error);
  await until(() => server.calls.length > 3);
  one.abort('cancelled');
  expect(await ended).toBeInstanceOf(Error);
  answers['DELETE /jobs/a%2Fb'] = [503, 200];
  const cancelled = { ...one, start: 1, address: server.url, answer: one.kept[0]! };
  await expect(runner.cancel(cancelled)).rejects.toThrow('503');
  await runner.cancel(cancelled);
  answers['DELETE /jobs/a%2Fb'] = [404];
  await runner.cancel(cancelled);
  expect(called().filter((call) => call.startsWith('DELETE'))).toHaveLength(3);
});

test('a run is made once all files of its output have come, before the first is stored', async () => {
  const steps: string[] = [];
  const files = filesBy((bytes) => {
    steps.push(`stored ${String(bytes)}`);
    return String(bytes);
  });
  const storing = new HttpRunner(new Config(), new Tracing(), files, threads);
  const respond = server.respond;
  server.respond = (call) => {
    if (!call.url.startsWith('/files/')) return respond(call);
    steps.push(`asked for ${call.url}`);
    call.response.writeHead(200, { 'content-type': 'image/png' }).end(call.url.slice('/files/'.length));
  };
  const output = ['/files/a', 'data:image/png;base64,Yg==', '/files/c'];
  answers['GET /jobs/a%2Fb'] = [{ state: 'done', output }];
  const made = (): unknown => steps.push('made');
  const one = run({ follow: { ...follow, files: '$[*]' } }, { made });
  expect(await storing.run(one)).toBe('["a","b","c"]');
  const asked = ['asked for /files/a', 'asked for /files/c'];
  expect(steps).toEqual([...asked, 'made', 'stored a', 'stored b', 'stored c']);
});

test('a file of another origin is not fetched', async () => {
  answers['GET /jobs/a%2Fb'] = [{ state: 'done', output: ['http://169.254.169.254/latest', 'short'] }];
  expect(await runner.run(run({ follow: { ...follow, files: '$[*]' } }))).toBe(
    '["http://169.254.169.254/latest","short"]',
  );
});

test.each([
  ['a JPEG', 'image/jpeg', 'ffd8ffe0'],
  ['an MP3', 'audio/mpeg', 'fffb90c4'],
  ['AAC', 'audio/aac', 'fff15080'],
])('base64 of %s is a file, although it begins like a path', async (_, type, beginning) => {
  const base64 = Buffer.from(beginning.padEnd(120, '0'), 'hex').toString('base64');
  expect(base64[0]).toBe('/');
  const storing = new HttpRunner(
    new Config(),
    new Tracing(),
    filesBy((bytes, contentType) => `${contentType} ${bytes.length}`),
    threads,
  );
  answers['GET /jobs/a%2Fb'] = [{ state: 'done', output: base64 }];
  expect(await storing.run(run({ follow: { ...follow, files: '$' } }))).toBe(`"${type} 60"`);
});

test('a long path that could be base64 is fetched', async () => {
  const path = `/files/${'abcd'.repeat(20)}`;
  const storing = new HttpRunner(new Config(), new Tracing(), filesBy(String), threads);
  answers['GET /jobs/a%2Fb'] = [{ state: 'done', output: path }];
  const respond = server.respond;
  server.respond = (call) => {
    if (call.url === path) call.response.writeHead(200, { 'content-type': 'image/png' }).end('pixels');
    else respond(call);
  };
  expect(await storing.run(run({ follow: { ...follow, files: '$' } }))).toBe('"pixels"');
});
