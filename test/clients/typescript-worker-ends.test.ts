import {
  Away,
  Fail,
  type Run,
  type ServeOptions,
  Stopped,
} from '../../clients/typescript/src/worker/index.js';
import { until } from '../support/index.js';
import { bodyOf, ProtocolWorkers, untilAborted } from '../support/protocol-workers.js';
import { problem, type WorkerProtocol } from '../support/worker-protocol.js';

const workers = new ProtocolWorkers();
const { work, callTo } = workers;
let service: WorkerProtocol;

beforeEach(async () => (service = await workers.start()));
afterEach(() => workers.stop());

/** Ends silently as soon as it is asked to stop. */
async function* untilStopped(_input: unknown, run: Run) {
  yield 'a';
  await untilAborted(run).catch(() => undefined);
}

test('a run that ends because its worker stops is handed back; its deltas are not an output', async () => {
  const { drain, over } = work(untilStopped, { grace: 0 });
  service.offer();
  await callTo('beats');
  drain();
  await over;
  expect(service.of('release')).toHaveLength(1);
  expect([...service.of('output'), ...service.of('failure')]).toEqual([]);
});

test('a run that ends because its request is cancelled fails; its deltas are not an output', async () => {
  work(untilStopped);
  service.offer();
  await callTo('beats');
  service.tell({ cancel: ['request-0'] });
  expect(bodyOf(await callTo('failure'))).toEqual({
    message: 'The run must stop: cancelled.',
    retryable: false,
  });
  expect(service.of('output')).toEqual([]);
});

test('an output that a run returns counts, even if its worker must stop', async () => {
  const { drain, over } = work(
    async function* (input, run) {
      yield* untilStopped(input, run);
      return { text: 'a' };
    },
    { grace: 0 },
  );
  service.offer();
  await callTo('beats');
  drain();
  await over;
  expect(service.of('output').map(bodyOf)).toEqual([{ text: 'a' }]);
});

test('an output that a proxy finds too large fails the run', async () => {
  service.next['output'] = [[413]];
  work(() => 1);
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({ message: 'The service answered 413.', retryable: false });
});

test('a lost run whose end is not taken frees its slot', async () => {
  service.next['output'] = Array.from({ length: 1_000 }, () => [502] as const);
  work(() => 1);
  service.offer();
  await callTo('output');
  service.tell({ lost: ['request-0'] });
  await until(() => service.of('claims').length > 1);
  const why = 'the lease is lost, and the service has not confirmed the end of the run';
  expect(workers.lines.at(-1)).toBe(`request-0: ${why}`);
});

test('a run that is lost while its end is sent reads the answer to it', async () => {
  service.next['output'] = ['hold'];
  service.offer({ input: 'ends' });
  service.offer();
  work((input, run) => (input === 'ends' ? 1 : untilAborted(run)), { concurrency: 2 });
  await callTo('output');
  await callTo('beats');
  service.tell({ lost: ['request-0'], cancel: ['request-1'] });
  await callTo('failure');
  service.answerHeld('output', problem(410, 'lease_lost'));
  await until(() => workers.lines.includes('request-0: the service refused its end: It is lease_lost.'));
});

test('an end that is not JSON hands the run back', async () => {
  work(() => {
    throw new Away('not yet', { after: 5n as unknown as number });
  });
  service.offer();
  expect((await callTo('release')).body).toBe('');
  await until(() => service.of('claims').length > 1);
});

const uploads = [200, { file_url: '/v1/files/1/a.png', upload_url: '/upload/1' }] as const;

test('a run uploads a file after a cancel, and its output counts', async () => {
  service.next['files'] = [uploads];
  work(async (_input, run) => {
    await untilAborted(run).catch(() => undefined);
    return { image: await run.upload('a.png', new Uint8Array([1, 2, 3])) };
  });
  service.offer();
  await callTo('beats');
  service.tell({ cancel: ['request-0'] });
  await until(() => service.of('output').length + service.of('failure').length === 1);
  expect(service.of('output').map(bodyOf)).toEqual([{ image: '/v1/files/1/a.png' }]);
});

test.each<[string, object, object, ServeOptions]>([
  ['its time is over', { remaining_ms: 50 }, {}, {}],
  ['its lease is lost', {}, { lost: ['request-0'] }, {}],
  ['its handler is almost stuck after a cancel', {}, { cancel: ['request-0'] }, { stuck: 4_000 }],
])('an upload without an answer ends when %s', async (_when, run, beat, options) => {
  service.next['files'] = [uploads];
  service.next['/upload/1'] = ['hold'];
  const errors: unknown[] = [];
  work(async (_input, { upload }) => {
    await upload('a.png', new Uint8Array([1, 2, 3])).catch((error: unknown) => errors.push(error));
  }, options);
  service.offer(run);
  await callTo('/upload/1');
  service.tell(beat);
  await until(() => errors.length === 1);
  expect(errors).toEqual([expect.any(Stopped)]);
  await callTo('claims', 2);
});

const longAgo = '2020-01-01T00:00:00.000Z';

test('the deadline of a run follows from its remaining time, not from the clocks of the machines', async () => {
  work(async (_input, run) => {
    run.log(String(run.deadline!.getTime() > Date.now()));
    return { isStopped: run.signal.aborted };
  });
  service.offer({ deadline_at: longAgo, remaining_ms: 60_000 });
  expect(bodyOf(await callTo('output'))).toEqual({ isStopped: false });
  expect((await callTo('events')).body).toContain('"message":"true"');
});

/** Timers that keep the process from its end. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('the time of a run keeps no process whose worker has ended, even if its handler does not return', async () => {
  const before = timers();
  const { over } = work(() => new Promise(() => undefined));
  service.offer({ remaining_ms: 3_600_000 });
  await callTo('beats');
  service.tell({ worker: 'stop' });
  await over;
  await until(() => timers() <= before);
});

test('a run is stopped when its remaining time is over', async () => {
  const reasons: unknown[] = [];
  work(async (_input, run) => {
    await untilAborted(run).catch(() => undefined);
    reasons.push(run.signal.reason);
  });
  service.offer({ deadline_at: '2099-01-01T00:00:00.000Z', remaining_ms: 50 });
  await until(() => reasons.length === 1);
  expect(reasons).toMatchObject([{ reason: 'timed_out' }]);
});

test.each([
  ['/upload/1', 413, { message: 'The upload of a.png was refused: It is some_problem.', retryable: false }],
  ['files', 400, { message: 'The upload of a.png was refused: It is some_problem.', retryable: false }],
  [
    '/upload/1',
    403,
    { message: 'TransferError: The upload of a.png was refused: It is some_problem.', retryable: true },
  ],
])(
  'an upload that %s refuses with %i fails the run with the text of the refusal',
  async (route, status, failure) => {
    service.next['files'] = [[200, { file_url: '/v1/files/1/a.png', upload_url: '/upload/1' }]];
    service.next[route] = [problem(status, 'some_problem')];
    work((_input, run) => run.upload('a.png', new Uint8Array([1, 2, 3])));
    service.offer();
    expect(bodyOf(await callTo('failure'))).toEqual(failure);
    expect(service.of('files')).toHaveLength(1);
  },
);

const circular: unknown[] = [];
circular.push(circular);

test.each<[string, unknown, string]>([
  ['NaN', NaN, 'NaN is not a JSON number.'],
  ['an infinity within', { scores: [1, -Infinity] }, '-Infinity is not a JSON number.'],
  ['a big integer', 1n, 'Do not know how to serialize a BigInt'],
  ['a function', () => 1, 'A function is not a JSON value.'],
  ['bytes', new Uint8Array(2), 'A Uint8Array is not a JSON value.'],
  ['bytes within', { image: Buffer.alloc(2) }, 'A Buffer is not a JSON value.'],
  ['a map', new Map([['a', 1]]), 'A Map is not a JSON value.'],
  ['a circle', circular, 'Converting circular structure to JSON'],
])('an output that is not JSON fails the run: %s', async (_name, output, why) => {
  work(() => output);
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({
    message: `The output is not a JSON value: ${why}`,
    retryable: false,
  });
});

test('a delta that is not JSON fails the run', async () => {
  work((_input, run) => run.delta({ score: NaN }));
  service.offer();
  expect(bodyOf(await callTo('failure'))).toMatchObject({ message: 'TypeError: NaN is not a JSON number.' });
  expect(service.of('events')).toEqual([]);
});

test.each([[{ score: NaN }], [circular]])('details that are not JSON are left out: %p', async (details) => {
  work(() => Promise.reject(new Fail('no', { status: 422, details })));
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({ message: 'no', retryable: false, status: 422 });
  await callTo('claims', 2);
});

test('a synchronous generator yields deltas too', async () => {
  work(function* () {
    yield 'a';
    yield 'b';
  });
  service.offer();
  expect((await callTo('output')).body).toBe('');
  const events = service.of('events').map(({ body }) => body);
  expect(events.join('')).toBe('{"type":"delta","delta":"a"}\n{"type":"delta","delta":"b"}\n');
});

test.each<[string, Error, object]>([
  ['has no text', Object.create(null) as Error, { message: 'The handler threw something without a text.' }],
  ['has a very long text', new Fail('a'.repeat(10_000_000)), { message: 'a'.repeat(8_192) }],
])('a run fails with the error of its handler, also if the error %s', async (_name, thrown, failure) => {
  work(() => Promise.reject(thrown));
  service.offer();
  expect(bodyOf(await callTo('failure'))).toMatchObject(failure);
  await callTo('claims', 2);
});

test('the runs of a draining worker with an infinite grace period continue', async () => {
  const { drain, over } = work(
    async (_input, run) => {
      await until(() => service.of('beats').some(({ body }) => body.includes('"drain"')));
      return { isStopped: run.signal.aborted };
    },
    { grace: Infinity },
  );
  service.offer();
  await callTo('beats');
  drain();
  expect(bodyOf(await callTo('output'))).toEqual({ isStopped: false });
  await over;
});

test('a worker sends a beat before the lease ends, even if a Retry-After is longer', async () => {
  service.next['beats'] = [problem(503, 'overloaded', { 'retry-after': '1000' })];
  work((_input, run) => untilAborted(run), { grace: 0 });
  service.offer();
  await callTo('beats', 2);
});

test('the line end of a key is not sent', async () => {
  work(() => 1, { key: 'ns_k\n' });
  expect((await callTo('claims')).headers.authorization).toBe('Key ns_k');
});

test('a key that cannot be sent is not shown', async () => {
  await expect(work(() => 1, { key: 'ns_secret\nns_k' }).over).rejects.toThrow(
    new TypeError('The key has characters that no key has.'),
  );
  expect(workers.lines.join()).not.toContain('ns_secret');
});

test('a worker logs that another service answers its claims', async () => {
  service.next['claims'] = [404, 404, 404].map((status) => [status, '<html>']);
  work(() => 1);
  await callTo('claims', 3);
  expect(workers.lines).toContain(
    'The service does not answer; the worker keeps trying: something else answered 404',
  );
});

test('a worker refuses a concurrency above the number of runs that a beat may name', async () => {
  const said = 'The concurrency must be 1000 at most, not 1001.';
  await expect(work(() => 1, { concurrency: 1_001 }).over).rejects.toThrow(new TypeError(said));
  work(() => 1, { concurrency: () => 1_001 });
  await callTo('claims');
  expect(workers.lines).toContain(`The concurrency stays 1: TypeError: ${said}`);
});
