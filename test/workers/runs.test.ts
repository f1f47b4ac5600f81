import { randomUUID } from 'node:crypto';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import type { CompletedRequest } from '../../src/queue/request-events.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { LeasedRuns } from '../../src/queue/workers/leased-runs.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerEnds } from '../../src/queue/workers/worker-ends.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { FileCalls, fileId } from '../support/file-calls.js';
import { until } from '../support/index.js';
import { expectRefusal, sendThenRead } from '../support/hostile-client.js';
import { problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';
import { readLeaseToken } from '../../src/workers/lease-token.js';

const { service, calls } = testQueue({
  limits: 'off',
  models: {
    'test/pulled': { ...pulled, attempts: 2, retry: { base: '1ms', cap: '1ms', on: ['error', 'timeout'] } },
    'test/once': { ...pulled, attempts: 1 },
    'test/fragile': { ...pulled, lost_attempts: 1 },
    'test/spot': { ...pulled, attempts: 1, lost_attempts: 3 },
    'test/short': { ...pulled, attempts: 2, timeout: '200ms', retry: { base: '1ms', on: ['timeout'] } },
  },
  config: { maxOutputBytes: 10_000 },
});
let worker: WorkerCalls;
beforeEach(() => (worker = new WorkerCalls(service)));
/**
 * Cancels runs that a test leaves. Their requests would wait again once the lease expires, before those of later tests.
 */
afterEach(async () => {
  await worker.leave();
  const open = await service.query<{ id: string }>(
    `SELECT request_id AS id FROM queue_entry UNION SELECT request_id FROM delayed_entry UNION SELECT request_id FROM lease`,
  );
  await Promise.all(open.map(({ id }) => calls.cancel(id)));
});

/** Returns a run that the worker has. */
async function begin(model = 'test/pulled', input: object = {}): Promise<WorkerRun> {
  const id = await calls.submit(model, input);
  const run = await worker.run({ models: [model] });
  expect(run.request_id).toBe(id);
  return run;
}

const attempts = async ({ request_id: id }: WorkerRun): Promise<string[]> => {
  const rows = await service.query<{ outcome: string }>(
    'SELECT outcome FROM attempt WHERE request_id = $1 ORDER BY attempt',
    [id],
  );
  return rows.map(({ outcome }) => outcome);
};

const rescuer = (): Rescuer => service.app.get(Rescuer);

/** Expires the lease, as if the worker had been silent for too long. */
async function lose({ request_id: id }: WorkerRun): Promise<void> {
  await service.query(`UPDATE lease SET expires_at = now() - interval '1 second' WHERE request_id = $1`, [
    id,
  ]);
  await rescuer().rescueFromWorkers();
}

/** Returns the seconds until the lease ends. */
async function leaseLeft({ request_id: id }: WorkerRun): Promise<number> {
  const [lease] = await service.query<{ left: number }>(
    `SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM lease WHERE request_id = $1`,
    [id],
  );
  return lease!.left;
}

describe('an output', () => {
  test('ends the run; afterwards only its repetition is accepted', async () => {
    const run = await begin();
    expect((await worker.output(run, [1, 2])).status).toBe(200);
    expect((await worker.output(run, [1, 2])).status).toBe(200);
    expect(await verdict(worker.failure(run))).toEqual([409, 'conflict']);
    expect(await verdict(worker.release(run))).toEqual([409, 'conflict']);
    expect(await verdict(worker.events(run, 0, []))).toEqual([410, 'lease_lost']);
    expect(await (await calls.response(run.request_id)).json()).toEqual([1, 2]);
    expect(await attempts(run)).toEqual(['succeeded']);
  });

  test('that is sent several times at once ends the run once', async () => {
    const ended: string[] = [];
    const note = (events: readonly CompletedRequest[]): void =>
      void ended.push(...events.map(({ id }) => id));
    service.app.get(EventEmitter2).on('request.completed', note);
    const run = await begin();
    const [{ key_id: keyId }] = (await service.query<{ key_id: string }>(
      `SELECT split_part(claim_id, ' ', 1) AS key_id FROM lease WHERE request_id = $1`,
      [run.request_id],
    )) as [{ key_id: string }];
    const lease = readLeaseToken(keyId, run.lease_token)!;
    const sent = [1, 2, 3].map(() => service.app.get(WorkerEnds).succeed(lease, '1'));
    expect(await Promise.all(sent)).toEqual(['taken', 'taken', 'taken']);
    service.app.get(EventEmitter2).off('request.completed', note);
    expect(ended).toEqual([run.request_id]);
  });

  test('that is not JSON or too large is refused, and the lease continues', async () => {
    const run = await begin();
    expect(await verdict(worker.ofRun('PUT', run, 'output', '{'))).toEqual([400, 'invalid_json']);
    expect(await verdict(worker.output(run, 'x'.repeat(10_000)))).toEqual([413, 'body_too_large']);
    expect(await verdict(worker.ofRun('PUT', run, 'output', ''))).toEqual([400, 'invalid_json']);
    expect((await worker.output(run)).status).toBe(200);
  });

  test('that is too large gets a refusal that is readable even after the worker has sent all', async () => {
    const run = await begin();
    const output = Buffer.alloc(20_000_000, '1');
    const head =
      `PUT /v1/worker/runs/${run.request_id}/output HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
      `Authorization: Key ${service.key}\r\nLease-Token: ${run.lease_token}\r\nContent-Length: ${output.length}\r\n\r\n`;
    expectRefusal(await sendThenRead(service, head, output), 413, 'body_too_large');
    expect((await worker.output(run)).status).toBe(200);
  });

  test('is joined from the deltas if it is sent empty', async () => {
    const run = await begin();
    const deltas = ['Once', ' upon'].map((delta) => ({ type: 'delta', delta }));
    expect((await worker.events(run, 0, deltas)).status).toBe(202);
    expect((await worker.ofRun('PUT', run, 'output', '')).status).toBe(200);
    expect((await worker.ofRun('PUT', run, 'output', '')).status).toBe(200);
    expect(await (await calls.response(run.request_id)).json()).toBe('Once upon');
  });

  test('is stored with the usage that its worker reported', async () => {
    const run = await begin();
    const used = [{ tokens: 1 }, { tokens: 7, gpu: { seconds: 2 } }].map((usage) => ({
      type: 'usage',
      usage,
    }));
    expect(await (await worker.events(run, 0, used)).json()).toMatchObject({ next: 2 });
    expect((await worker.output(run)).status).toBe(200);
    expect((await calls.status(run.request_id)).metrics).toMatchObject({
      usage: { tokens: 7, 'gpu.seconds': 2 },
    });
  });

  test('needs the token of the lease', async () => {
    const run = await begin();
    expect(await verdict(worker.ofRun('PUT', { ...run, lease_token: '' }, 'output', '1'))).toEqual([
      400,
      'bad_request',
    ]);
    for (const lease_token of ['x', `${run.lease_token.slice(0, -2)}AA`])
      expect(await verdict(worker.output({ ...run, lease_token }))).toEqual([410, 'lease_lost']);
    const other = await begin();
    expect(await verdict(worker.output({ ...run, lease_token: other.lease_token }))).toEqual([
      410,
      'lease_lost',
    ]);
    for (const one of [run, other]) expect((await worker.output(one)).status).toBe(200);
  });
});

describe('a lease token', () => {
  const each = async (caller: WorkerCalls, run: WorkerRun): Promise<unknown[]> =>
    Promise.all(
      [
        caller.events(run, 0, [{ type: 'log', message: 'not mine' }]),
        caller.output(run, 'not mine'),
        caller.ofRun('PUT', run, 'output', ''),
        caller.failure(run),
        caller.release(run),
        caller.ofRun('POST', run, 'files', '{"content_type":"image/png"}'),
        caller.ofRun('GET', run, 'input'),
      ].map(verdict),
    );
  const lost = Array.from({ length: 7 }, () => [410, 'lease_lost']);

  test('is useless with another key, even for a worker of the same name', async () => {
    const run = await begin();
    const thief = new WorkerCalls(service, worker.id, await calls.newKey({ scopes: ['work'] }));
    const leftBefore = await leaseLeft(run);
    expect(await each(thief, run)).toEqual(lost);
    expect(await thief.beat([run])).toMatchObject({ lost: [run.request_id], cancel: [] });
    await calls.cancel(run.request_id);
    expect(await thief.beat([run])).toMatchObject({ lost: [run.request_id], cancel: [] });
    expect((await thief.leave()).status).toBe(204);
    // The call did not renew the lease either.
    expect(await leaseLeft(run)).toBeLessThan(leftBefore);
    expect((await worker.output(run, 'mine')).status).toBe(200);
    expect(await (await calls.response(run.request_id)).json()).toBe('mine');
    // The worker does not learn how the run has ended either.
    expect(await each(thief, run)).toEqual(lost);
    expect((await worker.output(run, 'mine')).status).toBe(200);
  });

  test('that the previous release stored still identifies a repeated output', async () => {
    const run = await begin();
    expect((await worker.output(run)).status).toBe(200);
    await service.query(`UPDATE attempt SET token_hash = sha256(uuid_send($2::uuid)) WHERE request_id = $1`, [
      run.request_id,
      readLeaseToken('', run.lease_token)!.token,
    ]);
    expect((await worker.output(run)).status).toBe(200);
  });
});

describe('a failure', () => {
  test('that is retryable leads to another attempt, and after the last one the request fails', async () => {
    const first = await begin();
    const failure = { message: 'out of memory', retryable: true };
    expect((await worker.failure(first, failure)).status).toBe(200);
    expect((await worker.failure(first, failure)).status).toBe(200);
    expect(await verdict(worker.output(first))).toEqual([409, 'conflict']);
    const second = await worker.run();
    expect([second.request_id, second.attempt]).toEqual([first.request_id, 2]);
    await worker.failure(second, { ...failure, details: { left: 0 } });
    const problem = await problemOf(await calls.response(first.request_id));
    expect(problem).toMatchObject({
      status: 502,
      code: 'model_error',
      detail: 'out of memory',
      details: { left: 0 },
    });
    expect(await attempts(first)).toEqual(['failed', 'failed']);
  });

  test('stores the message of a program for operators, and the caller never sees it', async () => {
    const run = await begin('test/once');
    const failure = {
      message: 'The command ended with exit code 3.',
      model_message: 'no such file: /key\nmore',
    };
    expect((await worker.failure(run, failure)).status).toBe(200);
    const problem = await (await calls.response(run.request_id)).text();
    expect(problem).toContain('The command ended with exit code 3.');
    expect(problem + JSON.stringify(await calls.status(run.request_id, '?logs=1'))).not.toContain('/key');
    const [attempt] = await service.query('SELECT error_message FROM attempt WHERE request_id = $1', [
      run.request_id,
    ]);
    expect(attempt).toEqual({ error_message: 'The command ended with exit code 3: no such file: /key' });
  });

  test('that refuses the input is answered with its status', async () => {
    const run = await begin();
    await worker.failure(run, { message: 'the prompt is empty', status: 422 });
    expect(await problemOf(await calls.response(run.request_id))).toMatchObject({
      status: 422,
      code: 'model_error',
    });
  });

  test.each([{ status: 500 }, { retryable: 1 }, { retry_after_s: -1 }, { message: 7 }])(
    'with the body %j is refused as a bad request',
    async (failure) => {
      const run = await begin('test/once');
      expect(await verdict(worker.failure(run, failure))).toEqual([400, 'bad_request']);
      await worker.output(run);
    },
  );
});

test('a worker whose lease is lost does not renew that of the worker that has its run now', async () => {
  const run = await begin();
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  const lease = readLeaseToken(key!.id, run.lease_token)!;
  const runs = service.app.get(LeasedRuns);
  // At once, so that both are in one statement.
  const renewed = await Promise.all([runs.renew(lease), runs.renew({ ...lease, token: randomUUID() })]);
  expect(renewed).toEqual([{ token: lease.token, cancel: false }, undefined]);
  await worker.output(run);
});

describe('an event of a run', () => {
  test('is in the log or the status; repeats are ignored, and a gap is refused', async () => {
    const run = await begin();
    const [one, two, three] = ['one', 'two', 'three'].map((message) => ({
      type: 'log',
      level: 'warning',
      message,
    }));
    expect(await json(worker.events(run, 0, [one!, { type: 'progress', value: 0.5 }]))).toEqual({
      next: 2,
      cancel: false,
    });
    expect(await json(worker.events(run, 0, [one!]))).toEqual({ next: 2, cancel: false });
    // The service has the first two already.
    expect(
      await json(worker.events(run, 1, [{ type: 'progress', value: 0.9 }, two!, { type: 'none' }])),
    ).toEqual({
      next: 4,
      cancel: false,
    });
    const gap = await problemOf(await worker.events(run, 9, [three!]));
    expect(gap).toMatchObject({ status: 409, code: 'conflict', next: 4 });
    await worker.events(run, 4, [three!]);
    const status = await calls.status(run.request_id, '?logs=1');
    expect(status.logs!.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'WARN one',
      'WARN two',
      'WARN three',
    ]);
    expect(status).toMatchObject({ progress: { value: 0.5 } });
    await worker.output(run);
  });

  test('counts once in the log when its batch is repeated', async () => {
    const run = await begin();
    const line = (message: string): object => ({ type: 'log', level: 'info', message });
    const half = Array.from({ length: 40 }, (_, i) => line(`${i} `.padEnd(1_000, 'x')));
    for (let times = 0; times < 2; times++)
      expect(await json(worker.events(run, 0, half))).toEqual({ next: 40, cancel: false });
    await worker.events(run, 40, [line('the last line')]);
    const { logs } = await calls.status(run.request_id, '?logs=1');
    expect(logs).toHaveLength(41);
    expect(logs!.at(-1)).toMatchObject({ message: 'the last line' });
    await worker.output(run);
  });

  test('must have a number, be NDJSON, and not be too large', async () => {
    const run = await begin();
    expect(await verdict(worker.ofRun('POST', run, 'events', '{}'))).toEqual([400, 'invalid_query']);
    expect(await verdict(worker.ofRun('POST', run, 'events?from=0', 'x'))).toEqual([400, 'bad_request']);
    expect(await verdict(worker.events(run, 0, [{ type: 'output', output: 1 }]))).toEqual([
      400,
      'bad_request',
    ]);
    const delta = { type: 'delta', delta: 'x'.repeat(6_000) };
    expect(await verdict(worker.events(run, 0, [{ type: 'delta', delta: 'x'.repeat(70_000) }]))).toEqual([
      413,
      'body_too_large',
    ]);
    expect((await worker.events(run, 0, [delta])).status).toBe(202);
    expect(await verdict(worker.events(run, 1, [delta]))).toEqual([413, 'body_too_large']);
    await worker.output(run);
  });

  test('may be repeated when the deltas have reached their limit, and frees no room for more', async () => {
    const run = await begin();
    const [one, two] = ['a', 'b'].map((letter) => ({ type: 'delta', delta: letter.repeat(4_500) }));
    const progress = { type: 'progress', value: 1 };
    for (const known of [1, 2]) {
      expect(await json(worker.events(run, 0, [one!]))).toMatchObject({ next: known });
      expect(await json(worker.events(run, 1, [two!]))).toMatchObject({ next: 2 });
      expect(await json(worker.events(run, 0, [one!, two!]))).toMatchObject({ next: 2 });
    }
    expect(await verdict(worker.events(run, 2, [one!]))).toEqual([413, 'body_too_large']);
    expect(await verdict(worker.events(run, 0, [one!, two!, one!]))).toEqual([413, 'body_too_large']);
    expect(await json(worker.events(run, 2, [progress]))).toMatchObject({ next: 3 });
    await worker.ofRun('PUT', run, 'output', '');
    const output = (await (await calls.response(run.request_id)).json()) as string;
    expect(output).toBe(`${'a'.repeat(4_500)}${'b'.repeat(4_500)}`);
  });

  test('renews the lease, also when it is repeated', async () => {
    const run = await begin();
    const line = { type: 'log', message: 'x' };
    for (const what of [[line], [line], []]) {
      await service.query(
        `UPDATE lease SET expires_at = now() + interval '5 seconds' WHERE request_id = $1`,
        [run.request_id],
      );
      await json(worker.events(run, 0, what));
      expect(await leaseLeft(run)).toBeGreaterThan(20);
    }
    await worker.output(run);
  });
});

describe('the release of a run', () => {
  test('lets the next claim have the run, at no cost in attempts', async () => {
    const run = await begin('test/once');
    expect((await worker.release(run)).status).toBe(204);
    expect((await worker.release(run)).status).toBe(204);
    expect(await verdict(worker.output(run))).toEqual([410, 'lease_lost']);
    const again = await worker.run({ models: ['test/once'] });
    expect([again.request_id, again.attempt]).toEqual([run.request_id, 1]);
    await worker.output(again);
  });

  test('with a delay makes the request wait, while later requests start', async () => {
    const run = await begin('test/once');
    const later = await calls.submit('test/once');
    expect((await worker.release(run, { retry_after_s: 60 })).status).toBe(204);
    expect((await worker.release(run, { retry_after_s: 60 })).status).toBe(204);
    const [delayed] = await service.query<{ s: number }>(
      'SELECT extract(epoch FROM ready_at - clock_timestamp())::float8 AS s FROM delayed_entry WHERE request_id = $1',
      [run.request_id],
    );
    expect(delayed!.s).toBeGreaterThan(30);
    const next = await worker.run({ models: ['test/once'] });
    expect(next.request_id).toBe(later);
    await worker.output(next);
    expect(await attempts(run)).toEqual(['returned']);
    expect(await calls.status(run.request_id)).toMatchObject({ status: 'IN_QUEUE', attempt: 1 });
  });

  test.each([{ retry_after_s: -1 }, { retry_after_s: 3_601 }, { retry_after_s: 'soon' }])(
    'with the invalid delay %j is refused, and the run continues',
    async (release) => {
      const run = await begin('test/once');
      expect(await verdict(worker.release(run, release))).toEqual([400, 'bad_request']);
      expect((await worker.output(run)).status).toBe(200);
    },
  );

  test('happens to all runs of a worker that leaves', async () => {
    const runs = [await begin('test/once'), await begin('test/once')];
    expect((await worker.leave()).status).toBe(204);
    const again = await new WorkerCalls(service).runs({ models: ['test/once'], max: 2 });
    expect(again.map(({ request_id }) => request_id)).toEqual(runs.map(({ request_id }) => request_id));
    for (const run of again) await worker.output(run);
    expect(await service.query('SELECT FROM worker WHERE id = $1', [worker.id])).toEqual([]);
  });
});

describe('a process that leaves', () => {
  const known = (): Promise<object[]> => service.query('SELECT FROM worker WHERE id = $1', [worker.id]);

  test('late does not affect its successor with the same id', async () => {
    const [mine, other] = [await begin('test/once'), await begin('test/once')];
    await worker.release(mine);
    const successor = new WorkerCalls(service, worker.id);
    const taken = await successor.run({ models: ['test/once'] });
    expect(taken.request_id).toBe(mine.request_id);
    expect((await worker.leave([mine, other])).status).toBe(204);
    expect(await successor.beat([taken])).toMatchObject({ cancel: [], lost: [] });
    expect((await successor.output(taken, 'its own')).status).toBe(200);
    const next = await successor.run({ models: ['test/once'] });
    expect(next.request_id).toBe(other.request_id);
    expect(await attempts(other)).toEqual(['returned']);
    await successor.output(next);
  });

  test('as the last process of its worker deletes the worker', async () => {
    const run = await begin('test/once');
    await worker.beat([run]);
    expect((await worker.leave([run])).status).toBe(204);
    expect(await known()).toEqual([]);
    expect((await worker.leave([run])).status).toBe(204);
    const again = await new WorkerCalls(service).run({ models: ['test/once'] });
    expect(again.request_id).toBe(run.request_id);
    await worker.output(again);
  });

  test('releases no run of another worker, and names leases only by their tokens', async () => {
    const run = await begin('test/once');
    const other = new WorkerCalls(service);
    expect((await other.leave([run])).status).toBe(204);
    expect((await worker.beat([run])).lost).toEqual([]);
    expect(await verdict(worker.leave([{ ...run, lease_token: 'mine' }]))).toEqual([400, 'bad_request']);
    expect((await worker.output(run)).status).toBe(200);
  });
});

describe('a beat', () => {
  test('renews leases, and reports lost ones', async () => {
    const [mine, gone] = [await begin(), await begin()];
    expect(await worker.beat([mine, gone])).toEqual({
      lease_s: 30,
      beat_s: 10,
      worker: 'run',
      cancel: [],
      lost: [],
    });
    expect(await leaseLeft(mine)).toBeGreaterThan(20);
    await worker.output(gone);
    expect(await worker.beat([mine, gone])).toMatchObject({ lost: [gone.request_id] });
    await worker.output(mine);
  });

  test('in its long poll reports a cancel at once, and only once', async () => {
    const run = await begin();
    const held = worker.beat([run], 10);
    await waitingBeats(1);
    await calls.cancel(run.request_id);
    expect(await held).toMatchObject({ cancel: [run.request_id], lost: [] });
    // The next beat waits, although the worker knows of the cancel.
    expect(await worker.beat([run], 1)).toMatchObject({ cancel: [run.request_id] });
    expect(await json(worker.events(run, 0, []))).toEqual({ next: 0, cancel: true });
    await worker.failure(run);
  });

  test('in its long poll reports a lost lease at once', async () => {
    const run = await begin();
    const held = worker.beat([run], 10);
    await waitingBeats(1);
    await lose(run);
    expect(await held).toMatchObject({ cancel: [], lost: [run.request_id] });
    await worker.output(await worker.run());
  });

  test('does not report a lost earlier lease of a request', async () => {
    const run = await begin();
    const held = worker.beat([run], 10);
    await waitingBeats(1);
    // A late notification, as from another node.
    service.app.get(QueueEvents).publish({ lost: [run.request_id] });
    await calls.cancel(run.request_id);
    expect(await held).toMatchObject({ cancel: [run.request_id], lost: [] });
    await worker.failure(run);
  });

  test('reports the order to stop, and later claims of the worker are refused', async () => {
    await worker.beat();
    const held = worker.beat([], 10);
    await until(
      async () =>
        (await service.query(`UPDATE worker SET told = 'stop' WHERE id = $1 RETURNING 1`, [worker.id]))
          .length,
    );
    expect(await held).toMatchObject({ worker: 'stop' });
    expect(await verdict(worker.claim())).toEqual([410, 'worker_stopped']);
  });
});

describe('after a cancel', () => {
  const cancelled = async (run: WorkerRun): Promise<void> => {
    expect((await calls.cancel(run.request_id)).status).toBe(202);
  };

  test('an output still succeeds', async () => {
    const run = await begin();
    await cancelled(run);
    expect((await worker.output(run, 1)).status).toBe(200);
    expect(await calls.status(run.request_id)).toMatchObject({ success: true });
  });

  test.each([
    ['a failure', async (run: WorkerRun) => void (await worker.failure(run, { retryable: true }))],
    ['a failure for good', async (run: WorkerRun) => void (await worker.failure(run))],
    ['a release', async (run: WorkerRun) => void (await worker.release(run))],
    ['a loss', lose],
    ['a farewell', async () => void (await worker.leave())],
  ])('%s completes the request as cancelled', async (_what, end) => {
    const run = await begin();
    await cancelled(run);
    await end(run);
    expect(await calls.status(run.request_id)).toMatchObject({
      status: 'COMPLETED',
      error: { code: 'cancelled' },
    });
  });
});

describe('a worker that is lost', () => {
  test('loses the lease of its run, and a request with two lost runs fails', async () => {
    const first = await begin();
    await lose(first);
    expect(await verdict(worker.output(first))).toEqual([410, 'lease_lost']);
    const second = await new WorkerCalls(service).run();
    expect([second.request_id, second.attempt]).toEqual([first.request_id, 2]);
    await lose(second);
    expect(await problemOf(await calls.response(first.request_id))).toMatchObject({
      status: 502,
      code: 'worker_lost',
    });
    expect(await attempts(first)).toEqual(['lost', 'lost']);
  });

  test('keeps no file by a late output, also after the request was erased', async () => {
    const url = await new FileCalls(service).store('x');
    const first = await begin();
    await lose(first);
    const other = new WorkerCalls(service);
    await other.output(await other.run());
    expect((await new CollectionCalls(service).erase(first.request_id)).status).toBe(204);
    expect(await verdict(worker.output(first, { image: url }))).toEqual([410, 'lease_lost']);
    const uses = 'SELECT request_id FROM file_use WHERE file_id = $1';
    expect(await service.query(uses, [fileId(url)])).toEqual([]);
  });

  test.each([
    ['test/fragile', 1],
    ['test/spot', 3],
  ])('fails its request after the lost_attempts of the model: %s, %i', async (model, lostAttempts) => {
    const first = await begin(model);
    await lose(first);
    for (let attempt = 2; attempt <= lostAttempts; attempt++) {
      const next = await new WorkerCalls(service).run({ models: [model] });
      expect([next.request_id, next.attempt]).toEqual([first.request_id, attempt]);
      await lose(next);
    }
    expect(await problemOf(await calls.response(first.request_id))).toMatchObject({ code: 'worker_lost' });
    expect(await attempts(first)).toEqual(Array.from({ length: lostAttempts }, () => 'lost'));
  });
});

test('a run past its deadline times out, and is retried if its model allows it', async () => {
  const first = await begin('test/short');
  await worker.beat([first]);
  const second = await worker.run({ models: ['test/short'] });
  expect([second.request_id, second.attempt]).toEqual([first.request_id, 2]);
  expect(await verdict(worker.output(first))).toEqual([410, 'lease_lost']);
  expect(await problemOf(await calls.response(first.request_id))).toMatchObject({
    status: 504,
    code: 'timed_out',
  });
  expect(await attempts(first)).toEqual(['timed_out', 'timed_out']);
});

async function json(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  expect(response.status).toBe(202);
  return response.json();
}

function waitingBeats(count: number): Promise<unknown> {
  const beats = service.app.get(WorkerBeats);
  return until(() => beats.size === count, { message: `${count} beats are held` });
}
