import { Fail, Retry, serve } from '../../clients/typescript/src/worker/index.js';
import { bodyOf, ProtocolWorkers, untilAborted } from '../support/protocol-workers.js';
import { until } from '../support/until.js';
import { problem, type WorkerProtocol } from '../support/worker-protocol.js';

const workers = new ProtocolWorkers();
const { work, callTo, lines } = workers;
let service: WorkerProtocol;

// Makes every pause as short as it may be.
const { random } = Math;
beforeAll(() => void (Math.random = () => 0));
afterAll(() => void (Math.random = random));

beforeEach(async () => (service = await workers.start()));
afterEach(() => workers.stop());

test('a worker claims a run by long poll and sends its output with the lease token', async () => {
  const { drain, over } = work((input: { n: number }, run) => ({
    square: input.n ** 2,
    attempt: run.attempt,
  }));
  const claim = await callTo('claims');
  expect(claim.headers).toMatchObject({ authorization: 'Key ns_k', prefer: 'wait=20' });
  expect(bodyOf(claim)).toEqual({
    claim_id: expect.any(String),
    worker: { id: expect.any(String), name: expect.any(String), labels: {} },
    models: [{ model_id: 'me/x', max: 1 }],
    max: 1,
  });
  service.offer({ input: { n: 7 } });
  const output = await callTo('output');
  expect([output.url, bodyOf(output), output.headers['lease-token']]).toEqual([
    '/v1/worker/runs/request-1/output',
    { square: 49, attempt: 1 },
    'token-1',
  ]);
  drain();
  await over;
  expect(service.calls.at(-1)!.url).toMatch(/^\/v1\/worker\/workers\/[\w-]+$/);
});

test('a claim with a lost answer is repeated unchanged, and a new claim has another id', async () => {
  service.next['claims'] = ['drop', [502], problem(503, 'unavailable', { 'retry-after': '0' }), [204]];
  work(() => null);
  await callTo('claims', 5);
  const ids = service.of('claims').map((call) => bodyOf(call)['claim_id']);
  expect(new Set(ids.slice(0, 4)).size).toBe(1);
  expect(
    new Set(
      service
        .of('claims')
        .slice(0, 4)
        .map(({ body }) => body),
    ).size,
  ).toBe(1);
  expect(ids[4]).not.toBe(ids[0]);
});

test('an idle worker leaves when it is ordered to drain', async () => {
  service.next['claims'] = [[204]];
  service.beat = { worker: 'drain' };
  await work(() => null).over;
  expect(service.calls.map(({ route }) => route)).toEqual(['claims', 'beats', 'workers']);
  expect(bodyOf(service.of('beats')[0]!)).toMatchObject({ state: 'run', leases: [] });
});

test('a claim asks for all free slots', async () => {
  const held: (() => void)[] = [];
  work(() => new Promise<void>((resolve) => held.push(resolve)), { concurrency: 3 });
  await callTo('claims');
  service.offer();
  await callTo('claims', 2);
  expect(service.of('claims').map((call) => bodyOf(call)['max'])).toEqual([3, 2]);
  held.forEach((end) => end());
});

test('a handler whose parts do not get through ends after a cancel', async () => {
  service.next['events'] = [problem(503, 'unavailable', { 'retry-after': '60' })];
  let hasEnded = false;
  const parts = async function* () {
    try {
      for (;;) yield 'x'.repeat(8_000);
    } finally {
      hasEnded = true;
    }
  };
  work(parts, { grace: 1 });
  await callTo('claims');
  service.offer();
  await callTo('events');
  service.tell({ cancel: ['request-1'] });
  await until(() => hasEnded);
});

test('an output is sent until the service accepts it', async () => {
  service.next['output'] = ['drop', [502], problem(503, 'unavailable'), problem(401, 'invalid_key')];
  work(() => 'done');
  service.offer();
  await callTo('output', 5);
  expect(new Set(service.of('output').map(({ body }) => body))).toEqual(new Set(['"done"']));
});

test('an output that the service refuses becomes a failure with the reason', async () => {
  service.next['output'] = [problem(413, 'body_too_large')];
  work(() => 'x');
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({ message: 'It is body_too_large.', retryable: false });
});

test('a failure that the service refuses is sent again with its message only', async () => {
  service.next['failure'] = [problem(400, 'bad_request')];
  work(() => Promise.reject(new Fail('no', { status: 700, details: { much: true } })));
  service.offer();
  expect(bodyOf(await callTo('failure', 2))).toEqual({ message: 'no', retryable: false });
});

test.each<[string, ReturnType<typeof problem>]>([
  ['is lost', problem(410, 'lease_lost')],
  ['was ended by someone else', problem(409, 'conflict')],
])('the refused output of a run that %s is logged, and not sent again', async (_name, answer) => {
  service.next['output'] = [answer];
  work(() => 'x');
  service.offer();
  await callTo('claims', 2);
  expect(service.of('output')).toHaveLength(1);
  expect(lines.join('\n')).toMatch(/request-0: the service refused its end: It is/);
});

test.each<[string, () => unknown, object]>([
  ['Fail', () => new Fail('empty', { status: 422 }), { message: 'empty', retryable: false, status: 422 }],
  [
    'Retry',
    () => new Retry({ after: 5 }),
    { message: expect.any(String), retryable: true, retry_after_s: 5 },
  ],
  ['any error', () => new Error('boom'), { message: 'Error: boom', retryable: true }],
])('%s from a handler becomes a failure of its kind', async (_name, error, failure) => {
  work(() => {
    throw error();
  });
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual(failure);
});

test('the stack of an unexpected error is logged on standard error, and not sent', async () => {
  work(() => Promise.reject(new Error('boom')));
  service.offer();
  expect((await callTo('failure')).body).not.toContain('.ts');
  expect(lines.join('\n')).toMatch(/boom\n +at .*typescript-worker/);
});

test('a generator yields deltas, all sent before the end; they are the output if it returns none', async () => {
  work(async function* (_input, run) {
    run.log('begun');
    run.progress(0.5, 'half');
    yield 'a';
    yield 'b';
  });
  service.offer();
  const output = await callTo('output');
  expect(output.body).toBe('');
  const events = service
    .of('events')
    .map(({ body }) => body.trimEnd().split('\n'))
    .flat();
  expect(events.map((line) => JSON.parse(line) as object)).toEqual([
    { type: 'log', level: 'INFO', message: 'begun' },
    { type: 'progress', value: 0.5, message: 'half' },
    { type: 'delta', delta: 'a' },
    { type: 'delta', delta: 'b' },
  ]);
  expect(service.of('events')[0]!.headers['content-type']).toBe('application/x-ndjson');
});

test('the return value of a generator is the output', async () => {
  work(async function* () {
    yield 'a';
    return { text: 'a' };
  });
  service.offer();
  expect(bodyOf(await callTo('output'))).toEqual({ text: 'a' });
});

test('a delta that is refused fails the run: its output would have a hole', async () => {
  service.next['events'] = [problem(413, 'body_too_large')];
  work((_input, run) => run.delta({ a: 1 }));
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({ message: 'It is body_too_large.', retryable: false });
});

test('a beat names the leases; a cancel aborts the signal, and an output still counts', async () => {
  let reason: unknown;
  work(async (_input, run) => {
    await untilAborted(run).catch((error: unknown) => (reason = error));
    return 'at last';
  });
  service.offer();
  const beat = await callTo('beats');
  expect(bodyOf(beat)).toMatchObject({ state: 'run', leases: ['token-0'] });
  service.tell({ cancel: ['request-0'] });
  expect(bodyOf(await callTo('output'))).toBe('at last');
  expect(reason).toMatchObject({ name: 'AbortError', reason: 'cancelled' });
});

test('a cancel in the answer to an event aborts the signal too', async () => {
  service.next['events'] = [[202, { next: 1, cancel: true }]];
  work(async (_input, run) => {
    run.log('hello');
    await untilAborted(run);
  });
  service.offer();
  expect(bodyOf(await callTo('failure'))).toMatchObject({ retryable: false });
});

test('a run with a lost lease sends nothing more', async () => {
  const reasons: unknown[] = [];
  work(async (_input, run) => {
    await untilAborted(run).catch((error: { reason: string }) => reasons.push(error.reason));
    run.log('in vain');
    return 'in vain';
  });
  service.offer();
  await callTo('beats');
  service.tell({ lost: ['request-0'] });
  await callTo('claims', 2);
  expect(reasons).toEqual(['lost']);
  expect([...service.of('output'), ...service.of('events')]).toEqual([]);
});

test('a run continues when a beat reports an earlier run of its request as lost', async () => {
  const runs: { end(output: string): void; fail(error: Error): void }[] = [];
  work(() => new Promise<string>((end, fail) => runs.push({ end, fail })));
  service.offer({ request_id: 'r', lease_token: 'first' });
  await callTo('beats');
  runs[0]!.fail(new Retry());
  await callTo('claims', 2);
  service.offer({ request_id: 'r', lease_token: 'second', attempt: 2 });
  const second = await until(() => runs[1]);
  service.tell({ lost: ['r'] });
  service.beat = {};
  await callTo('beats', 2);
  second.end('done');
  expect((await callTo('output')).headers['lease-token']).toBe('second');
});

test('a draining worker claims nothing, finishes its runs, and leaves', async () => {
  let end = (): void => undefined;
  const { drain, over } = work(() => new Promise<string>((resolve) => (end = () => resolve('done'))));
  service.offer();
  await callTo('beats');
  drain();
  await until(() => service.of('beats').some((call) => bodyOf(call)['state'] === 'drain'));
  end();
  await over;
  expect(service.of('claims')).toHaveLength(1);
  expect(service.calls.slice(-2).map(({ route }) => route)).toEqual(['output', 'workers']);
});

test('unfinished runs are handed back at the end of the grace period', async () => {
  const { drain, over } = work((_input, run) => untilAborted(run), { grace: 0 });
  service.offer();
  await callTo('beats');
  drain();
  await over;
  expect(service.of('release')).toHaveLength(1);
  expect(service.of('failure')).toHaveLength(0);
});

test('a second signal hands all runs back at once and in one call, even if a handler does not return', async () => {
  const { over } = work(() => new Promise(() => undefined), { grace: 60_000 });
  service.offer();
  await callTo('beats');
  process.emit('SIGTERM');
  process.emit('SIGTERM');
  await over;
  expect(service.of('release')).toEqual([]);
  expect(service.calls.at(-1)).toMatchObject({ route: 'workers', body: '' });
});

test('a worker stops when the service orders it to', async () => {
  service.next['claims'] = [problem(410, 'worker_stopped')];
  await work(() => null).over;
  expect(service.of('claims')).toHaveLength(1);
  expect(service.of('workers')).toHaveLength(1);
});

test.each([
  [401, 'invalid_key'],
  [403, 'forbidden'],
])('a worker that may not claim rejects: %s %s', async (status, code) => {
  service.next['claims'] = [problem(status, code)];
  await expect(work(() => null).over).rejects.toMatchObject({ code, status });
});

test('a file is uploaded to a signed URL, without the key', async () => {
  const [file_url, upload_url] = ['https://queue/v1/files/1/a.png', `${service.url}/upload/1?signature=s`];
  service.next['files'] = ['drop', [200, { file_url, upload_url }]];
  work(async (_input, run) => ({ image: await run.upload('a.png', new Uint8Array([1, 2, 3])) }));
  service.offer();
  expect(bodyOf(await callTo('output'))).toEqual({ image: file_url });
  const [, initiated] = service.of('files');
  expect(bodyOf(initiated!)).toEqual({ content_type: 'image/png', file_name: 'a.png' });
  const [put] = service.calls.filter(({ url }) => url.startsWith('/upload/'));
  expect(put!.headers).toMatchObject({ 'content-type': 'image/png', 'content-length': '3' });
  expect(put!.headers.authorization).toBeUndefined();
});

test('a file is uploaded to the address of the worker, whatever address the service has for callers', async () => {
  const upload_url = 'https://unreachable.invalid/queue/v1/storage/uploads/x?signature=s';
  service.next['files'] = [[200, { file_url: 'https://unreachable.invalid/f', upload_url }]];
  work((_input, run) => run.upload('a.png', new Uint8Array([1, 2, 3])));
  service.offer();
  const put = await until(() => service.calls.find(({ url }) => url.startsWith('/v1/storage/')));
  expect(put.url).toBe('/v1/storage/uploads/x?signature=s');
  await callTo('output');
});

const full = (status: number) =>
  [status, { code: 'storage_full', detail: 'It is full.' }, { 'retry-after': '0' }] as const;

test('a file that the service has no room for is kept, and sent again while the run continues', async () => {
  const file_url = 'https://queue/v1/files/1/a.png';
  const urls = [200, { file_url, upload_url: '/upload/full' }] as const;
  service.next['files'] = [full(503), ...Array<typeof urls>(10).fill(urls)];
  service.next['/upload/full'] = Array.from({ length: 9 }, () => full(507));
  work(async (_input, run) => ({ image: await run.upload('a.png', new Uint8Array([1, 2, 3])) }));
  service.offer();
  expect(bodyOf(await callTo('output'))).toEqual({ image: file_url });
  expect(service.of('failure')).toEqual([]);
});

test('an output that the service has no room for is kept, and sent again', async () => {
  let handled = 0;
  service.next['output'] = [full(507), full(503), full(507), full(503)];
  work(() => ({ handled: ++handled }));
  service.offer();
  await until(() => service.of('output').length === 5);
  expect(service.of('output').map(bodyOf)).toEqual(Array(5).fill({ handled: 1 }));
  expect(service.of('failure')).toEqual([]);
});

test('files of the service are fetched with the lease token, and a large input is fetched too', async () => {
  service.next['input'] = [[200, { big: true }]];
  work(async (input: object, run) => ({ input, file: String(await run.download('/v1/files/1/a.txt')) }));
  service.offer({ input: undefined, input_url: '/v1/worker/runs/request-0/input' });
  expect(bodyOf(await callTo('output'))).toEqual({ input: { big: true }, file: expect.any(String) });
  const file = service.calls.find(({ url }) => url.startsWith('/v1/files/'))!;
  expect(file.headers).toMatchObject({ authorization: 'Key ns_k', 'lease-token': 'token-0' });
});

test('the input text is as submitted, whether it arrives with the claim or is fetched', async () => {
  const text = String.raw`{"n":1.0,"input":{"input":[12345678901234567890,"}\""]}}`;
  const run = { request_id: 'r', lease_token: 't', attempt: 1, model_id: 'me/x' };
  const claimed = (input: string): string => `{"runs":[${JSON.stringify(run).slice(0, -1)},${input}}]}`;
  service.next['claims'] = [
    [200, claimed(`"input":${text}`)],
    [200, claimed('"input_url":"/v1/worker/runs/r/input"')],
  ];
  service.next['input'] = [[200, text]];
  work((_input, { inputText }) => ({ inputText }));
  await callTo('output', 2);
  expect(service.of('output').map(bodyOf)).toEqual([{ inputText: text }, { inputText: text }]);
});

test('a URL of a caller is not fetched unless its origin is allowed', async () => {
  work((input: { url: string }, run) => run.download(input.url));
  service.offer({ input: { url: 'http://169.254.169.254/latest' } });
  const { message, retryable } = bodyOf(await callTo('failure'));
  expect([message, retryable]).toEqual([
    'Nothing is downloaded from http://169.254.169.254. The worker\'s option "downloads" allows other origins.',
    false,
  ]);
});

test('wrong arguments of serve are refused at once', async () => {
  const wrong = serve as (...args: unknown[]) => Promise<void>;
  await expect(wrong('me/x')).rejects.toThrow('Give serve a model and its handler');
  await expect(serve('me/x', () => null, {})).rejects.toThrow(
    'The address of the service is missing. Set NOWSERVING_URL',
  );
  const options = { url: service.url, concurrency: 0 };
  await expect(serve('me/x', () => null, options)).rejects.toThrow(
    'The concurrency must be a whole number of at least 1',
  );
});
