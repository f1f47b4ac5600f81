import { randomUUID } from 'node:crypto';
import { WorkerKeeper } from '../../src/queue/workers/duties/worker-keeper.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { until } from '../support/index.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls, type WorkerRun } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  limits: 'off',
  models: { 'test/pulled': pulled },
});
const keeper = (): WorkerKeeper => service.app.get(WorkerKeeper);
let worker: WorkerCalls;
beforeEach(() => (worker = new WorkerCalls(service)));

/** Gives the worker an operator's order, and lets the node read it. */
async function tell(what: 'drain' | 'stop' | 'run'): Promise<void> {
  await keeper().runOnce();
  const [row] = await service.query<{ uid: string }>('SELECT uid FROM worker WHERE id = $1', [worker.id]);
  const path = `/v1/admin/workers/${row!.uid}/${what === 'run' ? 'drain' : what}`;
  const method = what === 'run' ? 'DELETE' : 'POST';
  const answer = await fetch(service.url + path, { method, headers: keyHeader(service.key) });
  expect(answer.status).toBe(200);
  await keeper().runOnce();
}

/** Waits until `count` claims wait, long before their time is over. */
const held = (count: number): Promise<unknown> =>
  until(() => service.app.get(WorkerClaims).size === count, { message: `${count} claims are held` });

async function hold(
  options: Parameters<WorkerCalls['claim']>[0] = {},
): Promise<{ answer: Promise<Response> }> {
  const answer = worker.claim({ wait: 25, ...options });
  await held(1);
  return { answer };
}

test('an order to a worker is read on its notification, not in the next periodic round', async () => {
  Object.assign(keeper(), { intervalMs: 3_600_000 });
  await calls.submit('test/pulled');
  const run = await worker.run();
  await keeper().runOnce();
  // If the beat ended by its time, it would report no order.
  const beat = worker.beat([run], 10);
  await until(() => service.app.get(WorkerBeats).size === 1);
  const [row] = await service.query<{ uid: string }>('SELECT uid FROM worker WHERE id = $1', [worker.id]);
  await service.get(`/v1/admin/workers/${row!.uid}/drain`, {
    method: 'POST',
    headers: keyHeader(service.key),
  });
  expect(await beat).toMatchObject({ worker: 'drain' });
  await worker.output(run);
});

describe('a long-polling claim is answered at once when its worker is ordered', () => {
  // `tell` runs the rounds of the keeper; a parallel round could end last, with older data.
  beforeAll(() => keeper().stop());

  test('to stop, with 410', async () => {
    const { answer } = await hold();
    await tell('stop');
    expect(await verdict(answer)).toEqual([410, 'worker_stopped']);
    expect(await verdict(worker.claim())).toEqual([410, 'worker_stopped']);
    await tell('run');
    expect((await worker.claim()).status).toBe(204);
  });

  test('to drain, with 204, and no claim gets a run until the order is lifted', async () => {
    const { answer } = await hold();
    await tell('drain');
    await held(0);
    expect((await answer).status).toBe(204);
    const next = await hold();
    const id = await calls.submit('test/pulled');
    expect((await worker.claim()).status).toBe(204);
    await tell('run');
    const { runs } = (await (await next.answer).json()) as { runs: WorkerRun[] };
    expect(runs.map(({ request_id }) => request_id)).toEqual([id]);
    await worker.output(runs[0]!);
  });

  test('to drain, with its earlier runs if the claim is a repetition', async () => {
    await calls.submit('test/pulled');
    const claimId = randomUUID();
    const run = await worker.run({ claimId });
    const { answer } = await hold({ claimId });
    await tell('drain');
    const again = { ...run, remaining_ms: expect.any(Number) as number };
    expect(((await (await answer).json()) as { runs: WorkerRun[] }).runs).toEqual([again]);
    await worker.output(run);
  });
});
