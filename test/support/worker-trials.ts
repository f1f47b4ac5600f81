import { ChaosProxy } from './chaos-proxy.js';
import { sha256, someBytes } from './file-calls.js';
import { Gateway } from './gateway.js';
import { createClient } from '../../clients/typescript/src/index.js';
import type { TestService } from './index.js';
import { inParallel } from './in-parallel.js';
import { QueueCalls, type Status } from './queue-calls.js';
import { until } from './until.js';
import type { WorkerProcess } from './worker-process.js';

/**
 * Tests for workers in any language. `start(model, url, options)` starts a worker whose program does what its input
 * says:
 * - `{ n, hold }`: logs `begin`, yields two deltas, waits while `hold` lasts, and returns `{ n, attempt, pid }`
 * - `upload`: adds the `file` of this text to the output
 * - `download`: adds the `text` of this URL
 * - `save`: adds the `sha256` of the file into which it downloaded this URL
 * - `tokens`: yields this many, one every 10 ms, and returns when it is told to stop
 * - `bytes`: uploads this many
 * - `hangs`: never returns, whatever it is told
 * A handler that does not return within 5 s after its run is over is stuck.
 * Each run prints `run <request id> <attempt>`, and an aborted one prints `stopped <reason>`.
 */
export interface Trials {
  service: TestService;
  start(
    model: string,
    url: string,
    options?: { concurrency?: number; graceS?: number },
  ): Promise<WorkerProcess>;
}

const runsOf = (workers: WorkerProcess[]): string[] =>
  workers.flatMap(({ output }) => output.match(/^run \S+ \S+/gm) ?? []);

/**
 * Sends 300 requests through a gateway that loses calls and answers. Some runs are silent for longer than the gateway
 * lets connections be. Each request gets its own output, from its last attempt.
 */
async function throughGateway({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const gateway = await new Gateway(service.url, 22).start();
  try {
    const workers = await Promise.all([1, 2].map(() => start(model, gateway.url, { concurrency: 4 })));
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const ids = await inParallel(8, numbers, (n) => calls.submit(model, { n, hold: n % 60 === 59 ? 6 : 0 }));
    const ends = await inParallel(8, ids, async (id) => {
      const status = await until(
        async () => {
          const now = await calls.status(id, '?logs=1');
          return now.status === 'COMPLETED' && now;
        },
        { message: `${id} completes`, timeoutMs: 150_000, explain: () => calls.status(id, '?logs=1') },
      );
      return { id, status, output: await outputOf(calls, id) };
    });
    const runs = runsOf(workers);
    expect(ends.map(({ output }) => output['n'])).toEqual(numbers);
    // No attempt runs twice, and no request has the output of another.
    expect(new Set(runs).size).toBe(runs.length);
    for (const { id, status, output } of ends) {
      expect([id, output['attempt']]).toEqual([id, status.attempt]);
      expect(begins(status)).toBe(runs.filter((run) => run.startsWith(`run ${id} `)).length);
    }
    expect(gateway.counts.refused + gateway.counts.lost).toBeGreaterThan(40);
    // The gateway cuts silent held claims. Requests submitted later run all the same.
    await until(() => gateway.counts.cut >= 2);
    expect(await completed(calls, await calls.submit(model, { n: 300 }))).toMatchObject({ success: true });
    await Promise.all(workers.map((worker) => worker.stop()));
  } finally {
    await gateway.stop();
  }
}

/** Counts the runs that logged their beginning. */
const begins = ({ logs = [] }: Status): number => logs.filter(({ message }) => message === 'begin').length;

async function outputOf(calls: QueueCalls, id: string): Promise<Record<string, unknown>> {
  const response = await calls.service.get(calls.path(id));
  return (await response.json()) as Record<string, unknown>;
}

const completed = (calls: QueueCalls, id: string): Promise<Status> =>
  until(
    async () => {
      const status = await calls.status(id);
      return status.status === 'COMPLETED' && status;
    },
    { message: `${id} completes`, timeoutMs: 100_000, explain: () => calls.status(id, '?logs=1') },
  );

/**
 * One worker is killed, one is frozen until its lease expires. Another worker runs each request again, and only its
 * output counts.
 */
async function killedAndFrozen({ service, start }: Trials, models: readonly string[]): Promise<void> {
  const calls = new QueueCalls(service);
  const fates = models.map(async (model, i) => {
    const first = await start(model, service.url);
    const id = await calls.submit(model, { n: i, hold: 5 });
    await first.says(`run ${id}`);
    first.kill(i === 0 ? 'SIGKILL' : 'SIGSTOP');
    const second = await start(model, service.url);
    const { attempt } = await completed(calls, id);
    const output = await outputOf(calls, id);
    expect(second.output).toContain(`run ${id}`);
    expect(attempt).toBe(2);
    expect(output).toMatchObject({ n: i, attempt: 2 });
    if (i === 1) {
      first.kill('SIGCONT');
      await until(() => /the lease is lost|the service refused its end/.test(first.output), {
        message: 'a frozen worker learns that it lost its lease',
        explain: () => first.output,
      });
      expect(await outputOf(calls, id)).toEqual(output);
      await first.stop();
    }
    await second.stop();
  });
  await Promise.all(fates);
}

/** A run without any output for longer than its lease keeps the lease by beats alone. */
async function outlastsItsLease({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url);
  const id = await calls.submit(model, { n: 1, hold: 34 });
  expect(await completed(calls, id)).toMatchObject({ success: true, attempt: 1 });
  expect(runsOf([worker])).toHaveLength(1);
  await worker.stop();
}

/** A file that a run uploads is a file of the service, which the next run can download. */
async function movesFiles({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url);
  const first = await calls.submit(model, { n: 1, upload: 'héllo' });
  expect(await completed(calls, first)).toMatchObject({ success: true });
  const { file } = (await outputOf(calls, first)) as { file: string };
  const stored = await fetch(file);
  expect([stored.status, stored.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain/),
  ]);
  expect(await stored.text()).toBe('héllo');
  const second = await calls.submit(model, { n: 2, download: file });
  expect(await completed(calls, second)).toMatchObject({ success: true });
  expect(await outputOf(calls, second)).toMatchObject({ text: 'héllo' });
  await worker.stop();
}

/** All connections break within the file. The handler gets the whole file or none. */
async function downloadsWhole({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const bytes = someBytes(8_000_000);
  const url = await createClient({ url: service.url, key: service.key }).upload(new Blob([bytes]));
  const faults = { refused: 0, silent: 0, cutBytes: 3_000_000, ofAnswer: 1, delayed: 0, delayMs: 0 };
  const proxy = await new ChaosProxy(service.url, 34, faults).start();
  try {
    const worker = await start(model, proxy.url, { concurrency: 4 });
    const save = url.replace(service.url, proxy.url);
    const ids = await calls.submitAll(4, model, { n: 1, save });
    for (const id of ids) {
      expect(await completed(calls, id)).toMatchObject({ success: true, attempt: 1 });
      expect(await outputOf(calls, id)).toEqual({ sha256: sha256(bytes), files: 1 });
    }
    expect(proxy.counts.cut).toBeGreaterThan(0);
    await worker.stop();
  } finally {
    await proxy.stop();
  }
}

/** Runs in progress end by themselves, and nothing more is claimed. */
async function drains({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url);
  const [running, waiting] = await calls.submitAll(2, model, { n: 1, hold: 2 });
  await worker.says(`run ${running}`);
  await worker.stop();
  expect(await completed(calls, running!)).toMatchObject({ success: true });
  expect(await calls.status(waiting!)).toMatchObject({ status: 'IN_QUEUE' });
  const another = await start(model, service.url);
  expect(await completed(calls, waiting!)).toMatchObject({ success: true, attempt: 1 });
  await another.stop();
}

/** A cancel reaches the handler. */
async function cancels({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url);
  const id = await calls.submit(model, { n: 1, hold: 60 });
  await worker.says(`run ${id}`);
  await calls.cancel(id);
  await worker.says('stopped cancelled');
  expect(await completed(calls, id)).toMatchObject({ success: false, error: { code: 'cancelled' } });
  await worker.stop();
}

/** A file that the service refuses fails its request at once, with the service's message. */
async function uploadsTooMuch({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url, { concurrency: 2 });
  const { maxFileBytes } = service.config;
  const ids = await inParallel(2, [maxFileBytes + 1, 20_000_000], (bytes) => calls.submit(model, { bytes }));
  for (const id of ids) {
    const { attempt, error } = await completed(calls, id);
    expect([attempt, error?.message]).toEqual([
      1,
      `The upload of a.bin was refused: A file may have ${maxFileBytes} bytes at most.`,
    ]);
  }
  expect(runsOf([worker])).toHaveLength(2);
  await worker.stop();
}

/**
 * A handler that does not return after its run was cancelled ends its worker. The other run of the worker goes back to
 * the queue at no cost.
 */
async function endsStuck({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url, { concurrency: 2 });
  const hanging = await calls.submit(model, { hangs: true });
  await worker.says(`run ${hanging}`);
  const other = await calls.submit(model, { n: 1, hold: 100 });
  await worker.says(`run ${other}`);
  await calls.cancel(hanging);
  expect([await worker.exited, worker.output]).toEqual([{ code: 70, signal: null }, worker.output]);
  expect(worker.output).toContain('the handler has not returned 5 s after its run was over (cancelled)');
  expect(await completed(calls, hanging)).toMatchObject({ success: false, error: { code: 'cancelled' } });
  expect(await calls.status(other)).toMatchObject({ status: 'IN_QUEUE', attempt: 1 });
  const another = await start(model, service.url);
  await another.says(`run ${other} 1`);
  await calls.cancel(other);
  await another.says('stopped cancelled');
  await another.stop();
}

/** The deltas of a run whose worker had to leave are not its output. Another worker produces the whole output. */
async function leavesHalfWay({ service, start }: Trials, model: string): Promise<void> {
  const calls = new QueueCalls(service);
  const worker = await start(model, service.url, { graceS: 0.5 });
  const id = await calls.submit(model, { tokens: 300 });
  await worker.says(`run ${id}`);
  await worker.stop();
  const another = await start(model, service.url);
  expect(await completed(calls, id)).toMatchObject({ success: true, attempt: 1 });
  const response = await service.get(calls.path(id));
  expect(await response.json()).toBe('token '.repeat(300));
  await another.stop();
}

/** Adds the tests that the workers of every language pass. `onCancel`: the title of the test of cancels. */
export function testWorkers(trials: () => Trials, onCancel: string): void {
  test(
    '300 requests through a gateway that cuts, buffers and answers 502: none is lost, none runs twice unsaid',
    () => throughGateway(trials(), 'me/gateway'),
    200_000,
  );

  test('a worker that is killed, one that is frozen past its lease, and one that outlasts it', async () => {
    const long = outlastsItsLease(trials(), 'me/long');
    await Promise.all([long, killedAndFrozen(trials(), ['me/killed', 'me/frozen'])]);
  }, 200_000);

  test('files of runs', () => movesFiles(trials(), 'me/files'));

  test('files that break off again and again: a handler has all of one, or none', () =>
    downloadsWhole(trials(), 'me/whole'));

  test('a file that is too large fails its request', () => uploadsTooMuch(trials(), 'me/large'));

  test('SIGTERM: what runs ends, what waits is left to others', () => drains(trials(), 'me/drained'));

  test('a handler that never returns ends its worker', () => endsStuck(trials(), 'me/hanging'));

  test(onCancel, () => cancels(trials(), 'me/cancelled'));

  test('a run that ends early because its worker leaves is run again, at no cost', () =>
    leavesHalfWay(trials(), 'me/half'));
}
