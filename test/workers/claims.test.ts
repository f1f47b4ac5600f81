import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync } from 'node:zlib';
import { Allowances } from '../../src/allowances/allowances.js';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  limits: 'off',
  models: {
    'test/pulled': pulled,
    'test/other': pulled,
    'test/third': pulled,
    'test/bounded': { ...pulled, concurrency: 2 },
    'test/http': {},
  },
});
let worker: WorkerCalls;
beforeEach(() => (worker = new WorkerCalls(service)));
afterEach(async () => {
  for (const { id } of await service.query<{ id: string }>(
    `SELECT id FROM request WHERE state <> 'COMPLETED'`,
  ))
    await calls.cancel(id);
  await service.query(`UPDATE lease SET expires_at = now() - interval '1 minute'`);
  await service.app.get(Rescuer).rescueFromWorkers();
});

describe('a claim', () => {
  test('returns the first waiting request, with its input and its lease', async () => {
    const ids = await calls.submitAll(2, 'test/pulled', {
      prompt: 'a cat',
      big: 12345678901234567890n.toString(),
    });
    const run = await worker.run();
    expect(run).toEqual({
      request_id: ids[0],
      attempt: 1,
      model_id: 'test/pulled',
      lease_token: expect.stringMatching(/^[\w-]{43}$/),
      lease_s: 10,
      deadline_at: expect.stringMatching(/Z$/),
      remaining_ms: expect.any(Number),
      key_name: 'bootstrap',
      tags: [],
      priority: 'normal',
      input: { prompt: 'a cat', big: '12345678901234567890' },
    });
    expect(await calls.status(ids[0]!)).toMatchObject({ status: 'IN_PROGRESS', attempt: 1 });
    expect((await worker.output(run, { image: 1 })).status).toBe(200);
    expect(await (await calls.response(ids[0]!)).json()).toEqual({ image: 1 });
  });

  test('that waits holds nothing of what decompressed its body', async () => {
    const allowances = service.app.get(Allowances);
    const taken = jest.spyOn(allowances, 'take');
    const waiting = worker.call('POST', 'claims', {
      body: brotliCompressSync(
        JSON.stringify({
          claim_id: randomUUID(),
          worker: { id: worker.id },
          models: [{ model_id: 'test/pulled' }],
        }),
      ),
      headers: { prefer: 'wait=20', 'content-encoding': 'br' },
    });
    await until(() => allowances.inUse('workerCalls') === 1, { message: 'the claim waits' });
    expect(taken).toHaveBeenCalledWith(expect.any(String), 'bytes', 4 * 1024 ** 2);
    taken.mockRestore();
    expect(allowances.inUse('bytes')).toBe(0);
    await calls.submitAll(1, 'test/pulled');
    expect((await waiting).status).toBe(200);
  });

  test('returns the key name, tags and priority of a request, also when it is repeated', async () => {
    const key = await calls.newKey({ name: 'web shop', scopes: ['submit'] });
    const path = '/v1/queue/test/pulled?priority=low&tag=team:search&tag=user:ann';
    const submitted = await service.get(path, { method: 'POST', headers: keyHeader(key), body: '{}' });
    expect(submitted.status).toBe(202);
    const of = { key_name: 'web shop', tags: ['team:search', 'user:ann'], priority: 'low' };
    const claimId = randomUUID();
    expect(await worker.run({ claimId })).toMatchObject(of);
    expect(await worker.run({ claimId })).toMatchObject(of);
  });

  test('returns at most the requested number, per model and in total, and large inputs as a URL', async () => {
    const large = await calls.submit('test/pulled', { text: 'x'.repeat(300_000) });
    const small = await calls.submitAll(3, 'test/pulled');
    const runs = await worker.runs({ max: 3, models: [{ model_id: 'test/pulled', max: 2 }] });
    expect(runs.map(({ request_id }) => request_id)).toEqual([large, small[0]]);
    const [first] = runs as [WorkerRun];
    expect(first.input).toBeUndefined();
    expect(first.input_url).toBe(`${service.url}/v1/worker/runs/${large}/input`);
    const input = await worker.ofRun('GET', first, 'input');
    expect(((await input.json()) as { text: string }).text).toHaveLength(300_000);
  });

  test('returns an input that the database compressed as a URL unless its text is surely small', async () => {
    const words = Array.from({ length: 1_500 }, () => `${randomUUID()}${'x'.repeat(100)}`);
    const long = await calls.submit('test/pulled', { text: words.join('') });
    const short = await calls.submit('test/pulled', { text: words.slice(0, 200).join('') });
    const sizes = await service.query(
      `SELECT pg_column_compression(input) IS NOT NULL AS compressed, octet_length(input::text) < 262144 AS fits
       FROM request WHERE id = ANY ($1)`,
      [[long, short]],
    );
    expect(sizes).toEqual(Array.from({ length: 2 }, () => ({ compressed: true, fits: true })));
    const [first, second] = await worker.runs({ max: 2 });
    expect(first).toMatchObject({ input_url: `${service.url}/v1/worker/runs/${long}/input` });
    expect(second).toMatchObject({ input: { text: words.slice(0, 200).join('') } });
    const input = await worker.ofRun('GET', first!, 'input');
    expect(await input.json()).toEqual({ text: words.join('') });
  });

  test('is answered 204 when nothing waits, at once or when its time is over', async () => {
    expect((await worker.claim()).status).toBe(204);
    const held = await worker.claim({ wait: 1 });
    expect([held.status, held.headers.get('preference-applied')]).toEqual([204, 'wait=1']);
  });

  test('waits for a submission, and several waiting claims share new requests', async () => {
    const held = [worker.run(), new WorkerCalls(service).run()];
    await heldClaims(2);
    const ids = await calls.submitAll(2, 'test/pulled');
    const runs = await Promise.all(held);
    expect(runs.map(({ request_id }) => request_id).sort()).toEqual(ids.toSorted());
  });

  test('that is repeated during its long poll must be unchanged, or it is refused', async () => {
    const claimId = randomUUID();
    const first = worker.claim({ claimId, wait: 25 });
    await heldClaims(1);
    expect(await verdict(worker.claim({ claimId, max: 2 }))).toEqual([409, 'claim_conflict']);
    const again = worker.run({ claimId });
    expect((await first).status).toBe(204);
    const id = await calls.submit('test/pulled');
    expect((await again).request_id).toBe(id);
  });

  test('of several models takes from each in turns', async () => {
    const models = ['test/pulled', 'test/other', 'test/third'];
    for (const model of models) await calls.submitAll(2, model);
    const taken: string[] = [];
    for (let i = 0; i < 3; i++) taken.push((await worker.run({ models })).model_id);
    expect(taken.toSorted()).toEqual(models.toSorted());
  });

  test('that is repeated unchanged gets the same runs; a different claim with its id is refused', async () => {
    await calls.submitAll(3, 'test/pulled');
    const claimId = randomUUID();
    const first = await worker.runs({ claimId, max: 2 });
    const again = first.map((run) => ({ ...run, remaining_ms: expect.any(Number) as number }));
    expect(await worker.runs({ claimId, max: 2 })).toEqual(again);
    expect(await verdict(worker.claim({ claimId, max: 1 }))).toEqual([409, 'claim_conflict']);
    const other = new WorkerCalls(service, worker.id, await calls.newKey({ scopes: ['work'] }));
    // Another key chooses its ids independently.
    expect((await other.run({ claimId })).request_id).not.toBe(first[0]!.request_id);
  });

  test('on a connection that breaks before the answer releases its run, at no cost in attempts', async () => {
    const server = service.app.getHttpServer();
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const body = JSON.stringify({
      claim_id: 'gone',
      worker: { id: worker.id },
      models: [{ model_id: 'test/pulled' }],
    });
    const client = connect(Number(new URL(service.url).port), '127.0.0.1');
    client.on('error', () => undefined);
    client.write(
      `POST /v1/worker/claims HTTP/1.1\r\nHost: x\r\nAuthorization: ${keyHeader(service.key).authorization}\r\n` +
        `Prefer: wait=20\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const socket = await accepted;
    await heldClaims(1);
    let isClaimed = false;
    service.app.get(QueueEvents).subscribe(({ started = [] }) => {
      if (started.length === 0) return;
      isClaimed = true;
      socket.destroy();
    });
    const id = await calls.submit('test/pulled');
    await until(() => isClaimed);
    // Another worker gets the run, and no attempt was used up.
    const run = await worker.run();
    expect([run.request_id, run.attempt]).toEqual([id, 1]);
    expect(await service.query('SELECT outcome FROM attempt WHERE request_id = $1', [id])).toEqual([
      { outcome: 'returned' },
    ]);
  });

  test('of a client that has disconnected takes no run', async () => {
    const abort = new AbortController();
    const gone = worker.claim({ wait: 20, signal: abort.signal }).catch(() => 'gone');
    await heldClaims(1);
    abort.abort();
    await heldClaims(0);
    expect(await gone).toBe('gone');
    const id = await calls.submit('test/pulled');
    expect((await worker.run()).request_id).toBe(id);
  });

  test('needs a key that may work, with the model, and a model that workers run', async () => {
    const withoutScope = new WorkerCalls(service, 'w', await calls.newKey({ scopes: ['submit', 'read'] }));
    expect(await verdict(withoutScope.claim())).toEqual([403, 'forbidden']);
    const ofOther = new WorkerCalls(
      service,
      'w',
      await calls.newKey({ scopes: ['work'], models: ['test/other'] }),
    );
    expect(await verdict(ofOther.claim())).toEqual([403, 'forbidden']);
    expect((await ofOther.claim({ models: ['test/other'] })).status).toBe(204);
    expect(await verdict(worker.claim({ models: ['test/http'] }))).toEqual([404, 'unknown_model']);
    expect(await verdict(worker.claim({ models: ['test/none'] }))).toEqual([404, 'unknown_model']);
  });

  test('of several models names the unknown model in its error', async () => {
    const problem = await problemOf(await worker.claim({ models: ['test/pulled', 'test/none'] }));
    expect(problem).toMatchObject({ code: 'unknown_model', model_id: 'test/none' });
  });

  test.each([
    ['{}', '"claim_id"'],
    ['{"claim_id":"a"}', '"worker"'],
    ['{"claim_id":"a","worker":{}}', '"worker.id"'],
    ['{"claim_id":"a","worker":{"id":"w"}}', '"models"'],
    ['{"claim_id":"a","worker":{"id":"w"},"models":[{}]}', '"models[0].model_id"'],
    ['{"claim_id":"a","worker":{"id":"w"},"models":[{"model_id":"m"}],"max":0}', '"max"'],
    ['{"claim_id":"a","worker":{"id":"w","labels":{"a":1}},"models":[{"model_id":"m"}]}', '"worker.labels"'],
  ])('with the body %s is refused, and the error names the wrong member', async (body, named) => {
    const problem = await problemOf(await worker.call('POST', 'claims', { body }));
    expect([problem.status, problem.code]).toEqual([400, 'bad_request']);
    expect(problem.detail).toContain(named);
  });
});

describe('the rules of the queue hold for workers:', () => {
  test('concurrent claims of several workers never exceed the concurrency', async () => {
    await calls.submitAll(6, 'test/bounded');
    const workers = Array.from({ length: 6 }, () => new WorkerCalls(service));
    const answers = await Promise.all(workers.map((one) => one.claim({ models: ['test/bounded'], max: 3 })));
    const runs = (
      await Promise.all(
        answers.map(async (one) =>
          one.status === 200 ? ((await one.json()) as { runs: WorkerRun[] }).runs : [],
        ),
      )
    ).flat();
    expect(runs).toHaveLength(2);
    const next = worker.run({ models: ['test/bounded'] });
    await worker.output(runs[0]!);
    // The end of one run lets another begin.
    expect((await next).request_id).not.toBe(runs[0]!.request_id);
  });

  test('a paused model starts no run, and a resume answers waiting claims', async () => {
    await patchModel('test/pulled', { paused: 'hold' });
    const id = await calls.submit('test/pulled');
    expect((await worker.claim({ wait: 1 })).status).toBe(204);
    expect(await calls.status(id)).toMatchObject({ reason: 'paused' });
    const held = worker.run();
    await patchModel('test/pulled', { paused: false });
    expect((await held).request_id).toBe(id);
  });

  test('a key has no more runs than its bound at once', async () => {
    const key = await calls.newKey({ maxRunning: 1 });
    const submit = async () =>
      ((await (await service.submit('test/pulled', {}, keyHeader(key))).json()) as { request_id: string })
        .request_id;
    const ids = [await submit(), await submit()];
    const first = await worker.run();
    expect(first.request_id).toBe(ids[0]);
    expect((await worker.claim()).status).toBe(204);
    const second = worker.run();
    await worker.output(first);
    expect((await second).request_id).toBe(ids[1]);
  });

  test('a model of workers counts its waiting and running requests', async () => {
    const id = await calls.submit('test/third');
    await service.query('DELETE FROM worker');
    await service.app.get(WorkerKeeper).runOnce();
    const model = async () =>
      (await (
        await service.get('/v1/models/test/third', { headers: keyHeader(service.key) })
      ).json()) as object;
    expect(await model()).toMatchObject({ concurrency: null, waiting: 1, running: 0, load: 1 });
    const run = await worker.run({ models: ['test/third'] });
    expect(await model()).toMatchObject({
      waiting: 0,
      running: expect.any(Number),
      availability: 'available',
    });
    expect(run.request_id).toBe(id);
  });
});

/** Waits until `count` claims wait. */
function heldClaims(count: number): Promise<unknown> {
  const claims = service.app.get(WorkerClaims);
  return until(() => claims.size === count, { message: `${count} claims are held` });
}

async function patchModel(model: string, change: object): Promise<void> {
  const response = await fetch(new URL(`/v1/admin/models/${model}`, service.url), {
    method: 'PATCH',
    headers: { ...keyHeader(service.key), 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  expect(response.status).toBe(200);
}
