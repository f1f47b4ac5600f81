import { Cancels } from '../../src/queue/completion/cancels.js';
import { RunnerRegistry } from '../../src/queue/runs/runner-registry.js';
import { until } from '../support/index.js';
import { keyHeader, problemOf, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/model': { attempts: 5 },
    'test/narrow': { concurrency: 1 },
    'test/stubborn': { runner: { kind: 'demo', demo: 'echo' } },
  },
  limits: '1000/s',
});
/** Ends the runs of test/stubborn, which do not listen when they are asked to stop. */
let end: () => void = () => undefined;

beforeAll(() =>
  service.app.get(RunnerRegistry).register('demo', {
    run: ({ input }) => new Promise((resolve) => (end = () => resolve(input))),
  }),
);

async function expectCancel(id: string, status: number, word: string): Promise<void> {
  const response = await calls.cancel(id);
  expect([response.status, await response.json()]).toEqual([status, { status: word }]);
}

async function expectNothingLeft(): Promise<void> {
  for (const table of ['queue_entry', 'delayed_entry', 'lease']) expect(await calls.count(table)).toBe(0);
}

describe('cancelling', () => {
  test('a waiting request completes it at once, and it never starts', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const id = await calls.submit('test/narrow');
    const later = await calls.submit('test/narrow');
    await expectCancel(id, 200, 'CANCELLED');
    expect(await calls.status(id)).toMatchObject({ status: 'COMPLETED', success: false });
    await model.answer(running);
    await calls.reached(later, 'COMPLETED');
    expect(model.times(id)).toBe(0);
    await expectNothingLeft();
  });

  test('a running request stops its run, and the outcome is cancelled', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const call = await model.arrived(id);
    await expectCancel(id, 202, 'CANCELLATION_REQUESTED');
    await until(() => call.closed, { message: 'the call to the model is hung up' });
    const status = await calls.reached(id, 'COMPLETED');
    expect(status).toMatchObject({ success: false, error: { code: 'cancelled' } });
    expect(status.metrics.inference_time).toEqual(expect.any(Number));
    expect(model.times(id)).toBe(1);
    await expectNothingLeft();
  });

  test('only waiting requests leaves a running one as it is', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.arrived(id);
    expect(await service.app.get(Cancels).one(id, { state: 'IN_QUEUE' })).toBeUndefined();
    const asked = 'SELECT FROM lease WHERE request_id = $1 AND cancel_requested_at IS NOT NULL';
    expect(await service.query(asked, [id])).toEqual([]);
    await model.answer(id);
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true });
    const noted = `SELECT FROM request_event WHERE request_id = $1 AND kind = 'cancel_requested'`;
    expect(await service.query(noted, [id])).toEqual([]);
  });

  test('a running request whose attempt fails at that moment completes it as cancelled', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const { response } = await model.arrived(id);
    // As if the message to the node of the run was lost.
    await service.query('UPDATE lease SET cancel_requested_at = now() WHERE request_id = $1', [id]);
    response.writeHead(500).end();
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ error: { code: 'cancelled' } });
    expect(model.times(id)).toBe(1);
    await expectNothingLeft();
  });

  test('a run that succeeds anyway does not change its outcome', async () => {
    const id = await calls.submit('test/stubborn', { kept: true });
    await calls.reached(id, 'IN_PROGRESS');
    await expectCancel(id, 202, 'CANCELLATION_REQUESTED');
    await expectCancel(id, 202, 'CANCELLATION_REQUESTED');
    end();
    expect(await (await calls.response(id)).json()).toEqual({ kept: true });
    expect(await calls.status(id)).toMatchObject({ success: true, error: null });
    expect((await problemOf(await calls.cancel(id))).code).toBe('already_completed');
  });

  test('the same request again succeeds and changes nothing', async () => {
    const running = await calls.submit('test/narrow', { hold: true });
    await model.arrived(running);
    const waiting = await calls.submit('test/narrow');
    for (let i = 0; i < 3; i++) await expectCancel(waiting, 200, 'CANCELLED');
    const { error } = await calls.status(waiting);
    await expectCancel(waiting, 200, 'CANCELLED');
    expect((await calls.status(waiting)).error).toEqual(error);
    await expectCancel(running, 202, 'CANCELLATION_REQUESTED');
    await calls.reached(running, 'COMPLETED');
    for (let i = 0; i < 3; i++) await expectCancel(running, 200, 'CANCELLED');
    const events = await service.query(`SELECT kind FROM request_event WHERE request_id = $1`, [running]);
    expect(events).toEqual([{ kind: 'cancel_requested' }]);
  });

  test('a request that waits for a retry prevents the next attempt', async () => {
    const id = await calls.submit('test/model', { status: 429, headers: { 'retry-after': '60' } });
    await model.arrived(id);
    await calls.reached(id, 'IN_QUEUE');
    await expectCancel(id, 200, 'CANCELLED');
    expect(await calls.status(id)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
    await expectNothingLeft();
  });

  test.each([
    ['succeeded', {}],
    ['failed', { status: 400 }],
  ])('a request that has %s is already_completed', async (_name, script) => {
    const id = await calls.run('test/model', script);
    const before = await calls.status(id);
    const response = await calls.cancel(id);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'already_completed',
      status: 400,
      cancel_status: 'ALREADY_COMPLETED',
    });
    expect(await calls.status(id)).toEqual(before);
  });

  test('an id that was never submitted is unknown_request', async () => {
    expect(await verdict(calls.cancel(unknownId()))).toEqual([404, 'unknown_request']);
  });

  test('a request of another key is unknown_request, and the request continues', async () => {
    const id = await calls.submit('test/model', { hold: true });
    const headers = keyHeader(await calls.newKey());
    expect(await verdict(calls.cancel(id, { headers }))).toEqual([404, 'unknown_request']);
    await model.answer(id);
    expect((await calls.reached(id, 'COMPLETED')).success).toBe(true);
  });
});
