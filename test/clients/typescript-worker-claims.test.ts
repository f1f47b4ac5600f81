import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Away, Retry, type ServeOptions } from '../../clients/typescript/src/worker/index.js';
import type { Handler } from '../../clients/typescript/src/worker/types.js';
import { Worker } from '../../clients/typescript/src/worker/worker.js';
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

const never = (): Promise<never> => new Promise(() => undefined);

/** The models of each claim. */
const claimed = (): string[][] =>
  service.of('claims').map((call) => {
    const { models } = bodyOf(call) as { models?: { model_id: string }[] };
    return models!.map(({ model_id }) => model_id);
  });

const unknown = (...model: string[]) =>
  [404, { code: 'unknown_model', detail: 'There is no such model here.', model_id: model[0] }] as const;

test('an unknown model is claimed again later, while the others are served', async () => {
  service.next['claims'] = [unknown('me/x'), unknown('me/x'), [204], [204]];
  work({ 'me/x': () => 'x', 'me/y': () => 'y' });
  await callTo('claims', 3);
  service.offer({ model_id: 'me/y' });
  expect(bodyOf(await callTo('output'))).toBe('y');
  expect(claimed()[0]).toEqual(['me/x', 'me/y']);
  await until(() => lines.includes('The service knows me/x now.'));
  const warning = 'There is no such model here. The worker asks for its runs again later.';
  expect(lines.filter((line) => line === warning)).toHaveLength(1);
});

test('an unknown model is claimed again, even if it is the only one or the answer does not name it', async () => {
  service.next['claims'] = [unknown(), problem(404, 'unknown_model')];
  work(() => 'x');
  service.offer();
  expect(bodyOf(await callTo('output'))).toBe('x');
});

test('an unknown model is left out of claims during its backoff', async () => {
  // The backoff of the model is as long as it may be, and the pause before the next claim as short.
  const draws = [1];
  Math.random = () => draws.shift() ?? 0;
  try {
    service.next['claims'] = [unknown('me/x')];
    work({ 'me/x': () => 'x', 'me/y': () => 'y' });
    await callTo('claims', 2);
    expect(claimed()).toEqual([['me/x', 'me/y'], ['me/y']]);
  } finally {
    Math.random = () => 0;
  }
});

test.each<[string, Handler]>([
  ['thrown', () => Promise.reject(new Away('It loads.', { after: 60 }))],
  ['returned', () => new Away('It loads.', { after: 60 })],
  [
    'returned by a generator',
    async function* () {
      yield 'a';
      return new Away('It loads.', { after: 60 });
    },
  ],
])(
  'Away that is %s hands the run back with a delay, and no run of the model is claimed',
  async (_name, handler) => {
    work({ 'me/x': handler, 'me/y': () => 'y' });
    service.offer();
    const release = await callTo('release');
    expect([bodyOf(release), release.headers['lease-token']]).toEqual([{ retry_after_s: 60 }, 'token-0']);
    await callTo('claims', 2);
    expect(claimed()[1]).toEqual(['me/y']);
    expect(service.of('failure')).toEqual([]);
    expect(lines).toContain(
      'request-0: the run is handed back, and no run of me/x is claimed for 60 s: It loads.',
    );
  },
);

test('a run is handed back without a delay if the service refuses the delay', async () => {
  service.next['release'] = [problem(400, 'bad_request')];
  work({ 'me/x': () => new Away('It loads.', { after: 10_000 }) });
  service.offer();
  expect((await callTo('release', 2)).body).toBe('');
});

test('a worker claims nothing until its ready function returns true', async () => {
  const answers = [() => false, () => Promise.reject(new Error('no GPU')), () => Promise.resolve(true)];
  work(() => 'x', { ready: () => answers.shift()!() });
  service.offer();
  expect(bodyOf(await callTo('output'))).toBe('x');
  expect(answers).toEqual([]);
  expect(lines.slice(1, 3)).toEqual([
    'The backend is not ready (the function did not return something true). The worker claims nothing until it is.',
    'The backend is ready.',
  ]);
});

test('a ready function that hangs counts as not ready after 5 s', async () => {
  const answers = [never, () => true];
  work(() => 'x', { ready: () => answers.shift()!() });
  service.offer();
  await callTo('output');
  expect(lines).toContain(
    'The backend is not ready (it did not answer within 5 s). The worker claims nothing until it is.',
  );
});

test('a worker drains while its ready function hangs', async () => {
  let hasAsked = false;
  const ready = (): Promise<never> => {
    hasAsked = true;
    return never();
  };
  const { drain, over } = work(() => 'x', { ready });
  await until(() => hasAsked);
  drain();
  await over;
  expect(service.of('claims')).toEqual([]);
  expect(lines.filter((line) => line.includes('not ready'))).toEqual([]);
});

test('a worker claims nothing until its ready URL is answered 2xx', async () => {
  const statuses = [503, 302, 204];
  const seen: number[] = [];
  const backend = createServer((_request, response) => {
    seen.push(service.of('claims').length);
    response.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = backend.address() as AddressInfo;
    work(() => 'x', { ready: `http://127.0.0.1:${port}/health?token=secret` });
    await callTo('claims');
    expect(seen).toEqual([0, 0, 0]);
    expect(lines.join()).toContain('The backend is not ready (it answered 503).');
    expect(lines.join()).not.toContain('secret');
  } finally {
    backend.closeAllConnections();
    backend.close();
  }
});

test('the concurrency may change while a worker runs, and an invalid value is ignored', async () => {
  let runs = 2;
  const ends: (() => void)[] = [];
  work(() => new Promise<void>((resolve) => ends.push(resolve)), { concurrency: () => runs });
  expect(bodyOf(await callTo('claims'))).toMatchObject({ max: 2 });
  runs = 4;
  service.offer();
  expect(bodyOf(await callTo('claims', 2))).toMatchObject({ max: 3 });
  runs = 1;
  service.offer();
  const [first, second] = await until(() => ends.length === 2 && ends);
  second!();
  await callTo('output');
  runs = -1;
  await until(() =>
    lines.some((line) => line.startsWith('The concurrency stays 1: TypeError: The concurrency')),
  );
  expect(service.of('claims')).toHaveLength(2);
  first!();
  expect(bodyOf(await callTo('claims', 3))).toMatchObject({ max: 1 });
});

/** A worker whose process would end with an exit code. */
function stuckWorker(handlers: Record<string, Handler>, options: Partial<ServeOptions> = {}) {
  const codes: number[] = [];
  const say = (line: string): void => void lines.push(line);
  const rules = { concurrency: 2, grace: 60_000, stuck: 100, ...options };
  const own = { url: service.url, key: 'ns_k', say, exit: (code: number) => void codes.push(code) };
  const worker = new Worker(new Map(Object.entries(handlers)), { ...own, ...rules });
  return { codes, worker, over: worker.work() };
}

test.each<[string, object]>([
  ['lost', { lost: ['request-0'] }],
  ['cancelled', { cancel: ['request-0'] }],
])(
  'a handler that outlives its run (%s) ends the process, after the other runs are handed back',
  async (reason, beat) => {
    const { codes, over } = stuckWorker({ 'me/x': never, 'me/y': (_input, run) => untilAborted(run) });
    service.offer();
    await callTo('claims', 2);
    service.offer({ model_id: 'me/y', request_id: 'other', lease_token: 'token-1' });
    await until(() => service.of('beats').some((call) => (bodyOf(call)['leases'] as string[]).length === 2));
    service.tell(beat);
    await over;
    expect(codes).toEqual([70]);
    expect(service.calls.at(-1)).toMatchObject({ route: 'workers', body: '' });
    expect(lines.join('\n')).toContain(
      `request-0: the handler has not returned 0.1 s after its run was over (${reason}). The worker hands back its other runs and ends with exit code 70.`,
    );
  },
);

test('a worker with a stuck handler reports it, claims nothing, and continues when the handler returns', async () => {
  let end = (): void => undefined;
  const handler = (): Promise<void> => new Promise((resolve) => (end = resolve));
  const { codes, over, worker } = stuckWorker({ 'me/x': handler, 'me/y': () => 'y' }, { stuck: 3_600_000 });
  service.offer();
  await callTo('claims', 2);
  await callTo('beats');
  service.tell({ lost: ['request-0'] });
  service.beat = {};
  await until(() => service.of('beats').some((call) => bodyOf(call)['state'] === 'stuck'));
  // The claim that is held may still bring a run.
  service.offer({ model_id: 'me/y' });
  await callTo('output');
  expect(service.of('claims')).toHaveLength(2);
  end();
  await until(() => bodyOf(service.of('beats').at(-1)!)['state'] === 'run');
  await callTo('claims', 3);
  worker.drain('The test is over.');
  await over;
  expect(codes).toEqual([]);
});

test('the text of a Retry is the message of the failure', async () => {
  work(() => Promise.reject(new Retry('The GPU is busy.', { after: 5 })));
  service.offer();
  expect(bodyOf(await callTo('failure'))).toEqual({
    message: 'The GPU is busy.',
    retryable: true,
    retry_after_s: 5,
  });
});

test('a run has the key name, tags and priority of its request', async () => {
  work((_input, { keyName, tags, priority }) => ({ keyName, tags, priority }));
  service.offer({ key_name: 'web shop', tags: ['team:search'], priority: 'low' });
  expect(bodyOf(await callTo('output'))).toEqual({
    keyName: 'web shop',
    tags: ['team:search'],
    priority: 'low',
  });
});

test('a missing file is a final failure, and only the name of the file is reported', async () => {
  service.next['/v1/files/secret/a%20b.png'] = [problem(404, 'unknown_file')];
  work((input: { image: string }, run) => run.download(input.image));
  service.offer({ input: { image: '/v1/files/secret/a%20b.png' } });
  expect(bodyOf(await callTo('failure'))).toEqual({
    message: 'The download was answered 404. The file "a b.png" does not exist.',
    retryable: false,
    status: 422,
  });
});
