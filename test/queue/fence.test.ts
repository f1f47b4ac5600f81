import { randomUUID } from 'node:crypto';
import { Clock } from '../../src/database/clock.js';
import { Database } from '../../src/database/database.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { Heartbeat } from '../../src/queue/cluster/duties/heartbeat.js';
import { register } from '../../src/queue/cluster/queries/heartbeat.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { Scheduler } from '../../src/queue/runs/duties/scheduler.js';
import { requeue } from '../../src/queue/runs/queries/requeue.js';
import { Slots } from '../../src/queue/cluster/slots.js';
import { Promoter } from '../../src/queue/waiting/duties/promoter.js';
import { submit } from '../../src/queue/submit/queries/submit.js';
import { RequestIds } from '../../src/queue/submit/request-id.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import type { Call } from '../support/model-server.js';
import { queueRequest } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/index.js';

const modelId = 'test/model';
const { service, calls, model } = testQueue({ models: { [modelId]: {} } });

test('a node whose heartbeat is late stops its runs before the other nodes take them', async () => {
  const id = await calls.submit(modelId, { attempts: [{ hold: true }, {}] });
  const run = await model.arrived(id);
  const heartbeat = service.app.get(Heartbeat);
  heartbeat.runOnce = () => Promise.resolve();
  const stopped = (): boolean => {
    // As if the last heartbeat was sent five seconds ago. The others wait for six.
    Object.assign(service.app.get(Cluster), { beatAt: performance.now() - 5_000 });
    return run.closed;
  };
  await until(stopped, { message: 'the run was stopped' }).finally(() =>
    Reflect.deleteProperty(heartbeat, 'runOnce'),
  );
  // Once the node is back, the request runs again.
  await until(async () => (await calls.status(id)).status === 'COMPLETED');
});

describe('a run stops that has lost its lease although its node lives', () => {
  const admin = (): ModelAdminCalls => new ModelAdminCalls(service);
  let id: string;
  let run: Call;

  beforeEach(async () => {
    id = await calls.submit(modelId, { attempts: [{ hold: true }, {}] });
    run = await model.arrived(id);
  });
  const stopped = (): Promise<unknown> => until(() => run.closed, { message: 'the run has stopped' });
  afterEach(async () => {
    await admin().change(modelId, { paused: null });
    await calls.reached(id, 'COMPLETED');
    expect(model.times(id)).toBe(2);
  });

  test('when a rescue takes it, and nothing else happens', async () => {
    await admin().change(modelId, { paused: 'hold' });
    await service.query(
      `UPDATE lease SET started_at = started_at - interval '2 minutes', deadline_at = deadline_at - interval '2 minutes'
       WHERE request_id = $1`,
      [id],
    );
    await service.app.get(Rescuer).rescueFromNodes();
    await stopped();
  });

  test('when the request starts again on the same node', async () => {
    await takeLease(0);
    await service.app.get(Scheduler).runOnce();
    await stopped();
  });

  test('when it writes', async () => {
    await takeLease(600_000);
    await model.say(id, [{ type: 'log', message: 'a' }]);
    await stopped();
    await service.query(`UPDATE delayed_entry SET ready_at = now() WHERE request_id = $1`, [id]);
    await service.app.get(Promoter).runOnce();
  });

  /** Takes the lease from the run, as if another node had done it, and its message was lost. */
  async function takeLease(delayMs: number): Promise<void> {
    const [lease] = await service.query<{ token: string }>('SELECT token FROM lease WHERE request_id = $1', [
      id,
    ]);
    const returned = { requestId: id, token: lease!.token, attemptOutcome: 'returned', delayMs } as const;
    expect(await requeue(service.app.get(Database), returned)).toBeDefined();
  }
});

test('requests that a fenced node receives from a late claim are requeued, and start with the next grant', async () => {
  const [cluster, slots, database] = [
    service.app.get(Cluster),
    service.app.get(Slots),
    service.app.get(Database),
  ];
  const query = database.query.bind(database);
  let isFenced = false;
  database.query = async (statement, ...rest) => {
    const rows = await query(statement, ...rest);
    if (isFenced || statement.name !== 'claim' || rows.length === 0) return rows as never;
    isFenced = true;
    cluster.fence();
    slots.withdraw();
    return rows as never;
  };
  const id = service.app.get(RequestIds).next();
  await submit(database, [{ id, virtualStart: 0, ...(await queueRequest(service, modelId, {})) }]);
  await until(async () => (await calls.status(id)).status === 'COMPLETED');
  expect(
    await service.query('SELECT outcome FROM attempt WHERE request_id = $1 ORDER BY attempt', [id]),
  ).toEqual([{ outcome: 'returned' }, { outcome: 'succeeded' }]);
  expect(model.calls.filter((call) => call.id === id)).toHaveLength(1);
});

test('a jump of the database clock does not make a node declare another node lost', async () => {
  const [cluster, clock] = [service.app.get(Cluster), service.app.get(Clock)];
  const [heartbeat, rescuer] = [service.app.get(Heartbeat), service.app.get(Rescuer)];
  await until(() => cluster.beats >= 3, { message: 'the node may give up others' });
  const id = randomUUID();
  await register(service.app.get(Database), { id, name: 'other', role: 'all', version: '1.0.0' });
  const nodes = async (): Promise<string[]> =>
    (await service.query<{ id: string }>('SELECT id FROM node')).map((node) => node.id);
  clock.set(clock.now() - 60_000, performance.now());
  await service.query(`UPDATE node SET heartbeat_at = heartbeat_at - interval '60 seconds' WHERE id = $1`, [
    id,
  ]);
  await heartbeat.runOnce();
  await rescuer.runOnce();
  expect(await nodes()).toContain(id);
  // It sends no heartbeat by the new time either, so it is lost.
  await until(async () => !(await nodes()).includes(id), { message: 'a node that is silent is given up' });
});

test('a clock jump that no heartbeat has noticed does not make a node declare another node lost', async () => {
  const [cluster, clock] = [service.app.get(Cluster), service.app.get(Clock)];
  const [heartbeat, rescuer] = [service.app.get(Heartbeat), service.app.get(Rescuer)];
  const id = randomUUID();
  await register(service.app.get(Database), { id, name: 'third', role: 'all', version: '1.0.0' });
  const isThere = async (): Promise<boolean> =>
    (await service.query('SELECT FROM node WHERE id = $1', [id])).length === 1;
  // The rounds of the service give up no node meanwhile.
  cluster.beats = 0;
  await service.query(`UPDATE node SET heartbeat_at = heartbeat_at - interval '60 seconds' WHERE id = $1`, [
    id,
  ]);
  clock.set(clock.now() - 60_000, performance.now());
  await rescuer.rescueFromNodes();
  expect(await isThere()).toBe(true);
  await heartbeat.runOnce();
  await rescuer.rescueFromNodes();
  expect(await isThere()).toBe(false);
});
