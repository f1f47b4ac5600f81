import { randomUUID } from 'node:crypto';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import { keyHeader, type QueueCalls, verdict } from '../support/queue-calls.js';
import { testNodes } from '../support/test-nodes.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { start } = testNodes({ 'test/pulled': pulled, 'test/bounded': { ...pulled, concurrency: 1 } });
let a: QueueCalls;
let b: QueueCalls;
/** One worker that calls through a proxy, which alternates between nodes. */
let onA: WorkerCalls;
let onB: WorkerCalls;

beforeEach(async () => {
  const config = { rateLimitSubmit: [], maxOutputBytes: 10_000 };
  a = await start(config);
  b = await start(config);
  onA = new WorkerCalls(a.service);
  onB = new WorkerCalls(b.service, onA.id);
});

const heldClaims = (node: QueueCalls, count: number): Promise<unknown> =>
  until(() => node.service.app.get(WorkerClaims).size === count);

test('a claim that waits on one node gets a submission of another, and its run can end on either', async () => {
  const held = onA.run();
  await heldClaims(a, 1);
  const id = await b.submit('test/pulled', { prompt: 'x' });
  const run = await held;
  expect(run.request_id).toBe(id);
  await onB.beat([run]);
  expect((await onB.events(run, 0, [{ type: 'log', message: 'on b' }])).status).toBe(202);
  expect((await onA.events(run, 1, [{ type: 'log', message: 'on a' }])).status).toBe(202);
  expect((await onB.output(run, 'done')).status).toBe(200);
  expect((await onA.output(run, 'done')).status).toBe(200);
  expect(await (await a.response(id)).json()).toBe('done');
  expect((await a.status(id, '?logs=1')).logs!.map(({ message }) => message)).toEqual(['on b', 'on a']);
});

test('the deltas of a run are bounded over all nodes', async () => {
  await a.submit('test/pulled');
  const run = await onA.run();
  const delta = { type: 'delta', delta: 'x'.repeat(6_000) };
  expect((await onA.events(run, 0, [delta])).status).toBe(202);
  expect((await onB.events(run, 0, [delta])).status).toBe(202);
  expect(await verdict(onB.events(run, 1, [delta]))).toEqual([413, 'body_too_large']);
  await onB.output(run);
});

test('a claim whose answer was lost is repeated on another node, and gets the same runs', async () => {
  await a.submitAll(2, 'test/pulled');
  const claimId = randomUUID();
  const first = await onA.runs({ claimId, max: 2 });
  const again = first.map((run) => ({ ...run, remaining_ms: expect.any(Number) as number }));
  expect(await onB.runs({ claimId, max: 2 })).toEqual(again);
});

test('a cancel on one node reaches a long-polling beat on another', async () => {
  await a.submit('test/pulled');
  const run = await onA.run();
  const held = onA.beat([run], 10);
  await until(() => a.service.app.get(WorkerBeats).size === 1);
  await b.cancel(run.request_id);
  expect(await held).toMatchObject({ cancel: [run.request_id] });
});

test('the concurrency holds over all nodes, and the end of a run on one lets the next start on another', async () => {
  await a.submitAll(3, 'test/bounded');
  const models = ['test/bounded'];
  const answers = await Promise.all([onA, onB].map((worker) => worker.claim({ models, max: 2 })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 204]));
  const [claimed] = answers.filter(({ status }) => status === 200);
  const { runs } = (await claimed!.json()) as { runs: Awaited<ReturnType<WorkerCalls['runs']>> };
  expect(runs).toHaveLength(1);
  const next = onB.run({ models });
  await heldClaims(b, 1);
  await onA.output(runs[0]!);
  expect((await next).request_id).not.toBe(runs[0]!.request_id);
});

test('a drained node ends its waiting claims without a run', async () => {
  const held = onA.claim({ wait: 25 });
  await heldClaims(a, 1);
  const { nodeId } = a.service.app.get(Cluster);
  await b.service.query('UPDATE node SET draining_since = now() WHERE id = $1', [nodeId]);
  await until(() => a.service.app.get(Cluster).isDraining);
  const id = await b.submit('test/pulled');
  expect((await held).status).toBe(204);
  expect(await verdict(onA.claim())).toEqual([503, 'unavailable']);
  expect((await onB.run()).request_id).toBe(id);
});

test('an order to a worker on one node reaches its long-polling beat on another', async () => {
  for (const node of [a, b]) Object.assign(node.service.app.get(WorkerKeeper), { intervalMs: 3_600_000 });
  await a.submit('test/pulled');
  const run = await onA.run();
  await a.service.app.get(WorkerKeeper).runOnce();
  const held = onA.beat([run], 10);
  await until(() => a.service.app.get(WorkerBeats).size === 1);
  const [row] = await b.service.query<{ uid: string }>('SELECT uid FROM worker WHERE id = $1', [onA.id]);
  const init = { method: 'POST', headers: keyHeader(b.service.key) };
  expect((await fetch(`${b.service.url}/v1/admin/workers/${row!.uid}/drain`, init)).status).toBe(200);
  expect(await held).toMatchObject({ worker: 'drain' });
});

test('a stopping node answers long polls at once, and its workers continue their runs on other nodes', async () => {
  await a.submit('test/pulled');
  const run = await onA.run();
  const [claim, beat] = [onA.claim({ wait: 25 }), onA.beat([run], 10)];
  await heldClaims(a, 1);
  await until(() => a.service.app.get(WorkerBeats).size === 1);
  const stopped = a.service.stop();
  expect((await claim).status).toBe(204);
  expect(await beat).toMatchObject({ lost: [] });
  await stopped;
  expect(await onB.beat([run])).toMatchObject({ lost: [] });
  expect((await onB.output(run)).status).toBe(200);
});
