import { writeFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { KeysService } from '../../src/auth/keys.service.js';
import { version } from '../../src/config/package.js';
import { REGISTRY } from '../../src/metrics/registry.js';
import { ClusterSnapshots } from '../../src/overview/cluster-snapshots.js';
import { Circuits } from '../../src/queue/circuits/circuits.js';
import { DeliveryDelays } from '../../src/webhooks/delivery-delays.js';
import { scrape, type Scrape } from '../support/metrics.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { verdict } from '../support/queue-calls.js';
import { startTestService, until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/model': { attempts: 2 },
    'test/narrow': { concurrency: 1 },
    'test/strict': { input_schema: { type: 'object', required: ['prompt'] } },
    'test/low': { concurrency: 4, reserve: { normal: 3 } },
    'test/high': { concurrency: 3, reserve: { high: 1 } },
  },
  limits: 'off',
});

/** Returns the first scrape that fits, because a scrape may be half a second old. */
const scraped = (fits: (scrape: Scrape) => boolean): Promise<Scrape> =>
  until(async () => {
    const one = await scrape(service);
    return fits(one) && one;
  });

test('metrics require a key with the scope observe', async () => {
  const keys = service.app.get(KeysService);
  const secret = await keys.create({ name: 'caller' });
  const observer = await keys.create({ name: 'prometheus', scopes: ['observe'] });
  const get = (key?: string): Promise<Response> =>
    service.get('/metrics', key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });
  expect(await verdict(get())).toEqual([401, 'missing_key']);
  expect(await verdict(get('nonsense'))).toEqual([401, 'invalid_key']);
  for (let i = 0; i < 2; i++) expect(await verdict(get(secret.reveal()))).toEqual([403, 'forbidden']);
  const refused = await until(async () => {
    const rows = await service.query(
      `SELECT actor_name, target, after FROM audit_entry WHERE action = 'access.refuse'`,
    );
    return rows.length > 0 && rows;
  });
  expect(refused).toEqual([
    { actor_name: 'caller', target: 'GET /metrics', after: { missing_scope: 'observe' } },
  ]);
  const answer = await get(observer.reveal());
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
    'no-store',
  ]);
});

test('metrics are open to all callers if configured, even on a node that only runs requests', async () => {
  const node = await startTestService({
    config: { databaseUrl: service.databaseUrl, role: 'scheduler', metricsAccess: 'open' },
  });
  try {
    const text = await (await node.get('/metrics')).text();
    expect(text).toContain(`nowserving_build_info{version="${version}",role="scheduler"} 1`);
  } finally {
    await node.stop();
  }
});

test('submissions, attempts and outcomes of requests are counted', async () => {
  const before = await scrape(service);
  await calls.run('test/model', { body: '"four"' });
  await calls.run('test/model', { attempts: [{ status: 500, headers: { 'retry-after': '0' } }, {}] });
  await calls.run('test/model', { status: 422 });
  const waiting = await calls.submit('test/narrow', { hold: true });
  const cancelled = await calls.submit('test/narrow');
  await calls.cancel(cancelled);
  await model.answer(waiting);
  const ended = (one: Scrape): number =>
    one.value('nowserving_requests_completed_total')! - before.value('nowserving_requests_completed_total')!;
  const after = await scraped((one) => ended(one) === 5);
  const risen = (name: string, labels: Record<string, string>): number =>
    (after.value(`nowserving_${name}`, labels) ?? 0) - (before.value(`nowserving_${name}`, labels) ?? 0);
  const ofModel = { model: 'test/model' };
  expect({
    submitted: risen('requests_submitted_total', ofModel),
    succeeded: risen('requests_completed_total', { ...ofModel, outcome: 'succeeded' }),
    failed: risen('requests_completed_total', { ...ofModel, outcome: 'failed' }),
    cancelled: risen('requests_completed_total', { model: 'test/narrow', outcome: 'cancelled' }),
    failures: risen('request_failures_total', { ...ofModel, code: 'model_error' }),
    failedAttempts: risen('attempts_total', { ...ofModel, outcome: 'failed' }),
    goodAttempts: risen('attempts_total', { ...ofModel, outcome: 'succeeded' }),
    waits: risen('queue_duration_seconds_count', ofModel),
    runs: risen('attempt_duration_seconds_count', ofModel),
    durations: risen('request_duration_seconds_count', ofModel),
    inputs: risen('payload_bytes_count', { direction: 'input' }),
    outputBytes: risen('payload_bytes_bucket', { direction: 'output', le: '256' }),
  }).toEqual({
    submitted: 3,
    succeeded: 2,
    failed: 1,
    cancelled: 1,
    failures: 1,
    failedAttempts: 2,
    goodAttempts: 2,
    waits: 3,
    runs: 4,
    durations: 3,
    inputs: 5,
    outputBytes: 3,
  });
});

test('refusals are counted by their reason, and each entry of a call with many entries counts', async () => {
  expect((await service.submit('test/strict', {})).status).toBe(422);
  expect((await service.submit('test/unknown', {})).status).toBe(404);
  const bad = { model_id: 'test/strict', input: {} };
  await service.get('/v1/queue/requests', {
    method: 'POST',
    headers: { authorization: `Key ${service.key}` },
    body: JSON.stringify({ requests: [bad, bad, { model_id: 'test/model', input: {} }] }),
  });
  const refused = (one: Scrape, reason: string): number | undefined =>
    one.value('nowserving_submissions_refused_total', { reason });
  await scraped((one) => refused(one, 'invalid_input') === 3 && refused(one, 'unknown_model') === 1);
});

test('routes are templates, and text from callers does not become a label', async () => {
  const id = await calls.submit('test/model', {}, { 'x-request-id': 'chosen-by-caller' });
  await calls.reached(id, 'COMPLETED');
  await service.get(`/v1/queue/requests/${id}`);
  await service.get('/chosen-by-caller');
  await service.get('/v1/queue/requests/chosen-by-caller/status');
  const name = 'nowserving_http_server_request_duration_seconds_count';
  const get = (route: string) => ({ method: 'GET', route, status_code: '200' });
  const one = await scraped((some) => some.value(name, { route: 'none', status_code: '404' }) !== undefined);
  expect(one.value(name, get('/v1/queue/requests/{request_id}'))).toBeGreaterThan(0);
  expect(one.value(name, get('/v1/queue/requests/{request_id}/status'))).toBeGreaterThan(0);
  expect(one.value(name, { method: 'POST', route: '/v1/queue/{model_id}' })).toBeGreaterThan(0);
  expect(one.text).not.toContain('chosen-by-caller');
  expect(one.text).not.toContain(id);
});

test('streams do not count in the durations of calls, but other routes named events do', async () => {
  const id = await calls.run('test/model');
  const headers = { authorization: `Key ${service.key}` };
  await (await service.get(`/v1/queue/requests/${id}/status/stream`)).text();
  const overview = await service.get('/v1/admin/events', { headers });
  await overview.body!.cancel();
  await (await service.get(`/v1/admin/requests/${id}/events`, { headers })).text();
  const run = await fetch(`${service.url}/v1/worker/runs/${id}/events`, {
    method: 'POST',
    headers,
    body: '[]',
  });
  await run.text();
  const name = 'nowserving_http_server_request_duration_seconds_count';
  const count = (one: Scrape, route: string): number | undefined => one.value(name, { route });
  const counted = ['/v1/admin/requests/{request_id}/events', '/v1/worker/runs/{request_id}/events'];
  const one = await scraped((some) => counted.every((route) => count(some, route) === 1));
  for (const route of ['/v1/queue/requests/{request_id}/status/stream', '/v1/admin/events'])
    expect(count(one, route)).toBeUndefined();
});

test('metrics show the state of the cluster, and that of the node', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const waiting = await calls.submitAll(2, 'test/narrow');
  await service.submit('test/narrow?delay=1h', {});
  const ofModel = { model: 'test/narrow' };
  const one = await scraped(
    (some) =>
      some.value('nowserving_cluster_requests_running', ofModel) === 1 &&
      some.value('nowserving_cluster_requests_delayed', ofModel) === 1,
  );
  const value = (name: string): number | undefined => one.value(`nowserving_${name}`, ofModel);
  expect(value('cluster_requests_waiting')).toBe(2);
  expect(value('cluster_requests_held')).toBe(0);
  expect(value('cluster_slots')).toBe(1);
  expect(value('cluster_concurrency')).toBe(1);
  expect(value('cluster_circuits_open')).toBe(0);
  expect(value('cluster_oldest_wait_seconds')).toBeGreaterThan(0);
  expect(value('runs')).toBe(1);
  expect(one.value('nowserving_cluster_nodes', { role: 'all' })).toBe(1);
  expect(one.value('nowserving_cluster_partitions_ahead')).toBe(7);
  expect(one.value('nowserving_cluster_snapshot_timestamp_seconds')).toBeGreaterThan(1.7e9);
  expect(one.value('nowserving_duty_last_success_timestamp_seconds', { duty: 'Heartbeat' })).toBeGreaterThan(
    1.7e9,
  );
  expect(
    one.value('nowserving_statement_duration_seconds_count', { statement: 'heartbeat' }),
  ).toBeGreaterThan(0);
  expect(one.value('nowserving_database_connections', { pool: 'statements' })).toBeGreaterThan(0);
  await model.answer(running);
  await Promise.all(waiting.map((id) => calls.reached(id, 'COMPLETED')));
});

test('slots are withheld from a request only if those that its priority may use are in use', async () => {
  const admin = new ModelAdminCalls(service);
  const [low, high] = ['test/low', 'test/high'] as const;
  /** Returns whether slots are withheld, once the cluster's values are these. */
  const isWithheld = async (id: string, values: Record<string, number>): Promise<number | undefined> => {
    const of = (one: Scrape, name: string): number | undefined =>
      one.value(`nowserving_cluster_${name}`, { model: id });
    const one = await scraped((some) =>
      Object.entries(values).every(([name, value]) => of(some, name) === value),
    );
    return of(one, 'slots_withheld');
  };
  const running = [
    await calls.submit(`${low}?priority=low`, { hold: true }),
    await calls.submit(`${high}?priority=high`, { hold: true }),
    await calls.submit(`${high}?priority=high`, { hold: true }),
  ];
  for (const id of running) await model.arrived(id);
  // Requests then wait although slots are free.
  for (const id of [low, high]) await admin.change(id, { paused: 'hold' });
  const waiting = [await calls.submit(`${low}?priority=low`)];
  expect(await isWithheld(low, { requests_waiting: 1, requests_running: 1 })).toBe(1);
  waiting.push(await calls.submit(low), await calls.submit(high));
  expect(await isWithheld(low, { requests_waiting: 2, requests_running: 1 })).toBe(0);
  // Runs of high priority leave the slots of the others free.
  expect(await isWithheld(high, { requests_waiting: 1, requests_running: 2 })).toBe(0);
  // At least one slot is not reserved.
  for (const id of running) await model.answer(id);
  await admin.change(high, { concurrency: 1 });
  expect(await isWithheld(high, { requests_waiting: 1, requests_running: 0, concurrency: 1 })).toBe(0);
  for (const id of waiting) await calls.cancel(id);
});

const tooSlow = (): Promise<never> =>
  Promise.reject(new Error('canceling statement due to statement timeout'));

test('the cluster is shown although the figures of its upkeep cannot be read', async () => {
  const snapshots = service.app.get(ClusterSnapshots);
  const getUpkeep = snapshots.getUpkeep.bind(snapshots);
  snapshots.getUpkeep = tooSlow;
  try {
    await scraped(
      (one) =>
        one.value('nowserving_cluster_partitions_ahead') === undefined &&
        one.value('nowserving_cluster_webhook_overdue_seconds') !== undefined &&
        one.value('nowserving_cluster_schedulers') === 1 &&
        one.value('nowserving_cluster_snapshot_failures_total')! > 0,
    );
  } finally {
    snapshots.getUpkeep = getUpkeep;
  }
});

test('the cluster and its upkeep are shown although the delays of deliveries cannot be read', async () => {
  const delays = service.app.get(DeliveryDelays);
  const get = delays.get.bind(delays);
  delays.get = tooSlow;
  try {
    await scraped(
      (one) =>
        one.value('nowserving_cluster_webhook_overdue_seconds') === undefined &&
        one.value('nowserving_cluster_webhook_failing_seconds') === undefined &&
        one.value('nowserving_cluster_webhook_deliveries_pending') !== undefined &&
        one.value('nowserving_cluster_schedulers') === 1,
    );
  } finally {
    delays.get = get;
  }
});

test('a model whose address is in quarantine counts as reachable', async () => {
  const circuits = service.app.get(Circuits);
  circuits.quarantine(new Map(circuits.suspectPlaces.map(({ address }) => [address, undefined])));
  const registry = service.app.get<Registry>(REGISTRY);
  const text = await registry.getSingleMetricAsString('nowserving_circuit_open');
  expect(circuits.room('test/model')).toBe(0);
  circuits.quarantine(new Map());
  expect(text).toContain('nowserving_circuit_open{model="test/model"} 0');
});

test('duties have the names that dashboards and alerts use', async () => {
  const { text } = await scrape(service);
  const names = [...text.matchAll(/^nowserving_duty_failing\{duty="(\w+)"/gm)].map(([, name]) => name);
  const known =
    'Activity AuditPruner BatchDriver BatchPruner CircuitKeeper ControlKeeper DeliveryPruner Expirer FilePruner ' +
    'FollowKeeper HealthKeeper Heartbeat IndexSync KeyUse OperationRunner PartitionKeeper Promoter Pruner Releaser ' +
    'Rescuer RunTimesKeeper Scheduler Sender SlotKeeper SuspectKeeper WorkerKeeper WorkerScheduler';
  expect(new Set(names)).toEqual(new Set(known.split(' ')));
});

test('models beyond the limit of labels share the label other', async () => {
  const ids = Array.from({ length: 203 }, (_, i) => `many/${i}`);
  const models = Object.fromEntries(ids.map((id, i) => [id, { concurrency: i < 200 ? 1 : 3 }]));
  const many = await startTestService({ models: model.file(models), limits: 'off' });
  try {
    for (const id of ['many/0', 'many/201', 'many/202'])
      expect((await many.submit(`${id}?delay=1h`, {})).status).toBe(202);
    await many.get('/v1/admin/models/many/202', {
      method: 'PATCH',
      headers: { authorization: `Key ${many.key}` },
      body: '{"paused": "hold"}',
    });
    const ofOthers = { model: 'other' };
    const one = await until(async () => {
      const some = await scrape(many);
      const values = ['cluster_requests_delayed', 'slots', 'runs'].map((name) =>
        some.value(`nowserving_${name}`, ofOthers),
      );
      // Claims that are under way count as runs.
      return values.join() === '2,9,0' && some;
    });
    expect(one.value('nowserving_cluster_concurrency', ofOthers)).toBe(9);
    expect(one.value('nowserving_cluster_concurrency')).toBe(209);
    expect(one.value('nowserving_cluster_model_paused', ofOthers)).toBe(1);
    expect(one.value('nowserving_runs', { model: 'many/202' })).toBeUndefined();
  } finally {
    await many.stop();
  }
});

test('the series of a model that a reload brings begin at 0', async () => {
  await writeFile(service.config.modelsFile, model.file({ 'test/model': {}, 'test/added': {} }));
  const headers = { authorization: `Key ${service.key}` };
  const reload = await service.get('/v1/admin/models/reload', { method: 'POST', headers });
  expect(reload.status).toBe(200);
  const added = { model: 'test/added' };
  const one = await scraped((some) => some.value('nowserving_runs', added) === 0);
  expect(one.value('nowserving_requests_submitted_total', added)).toBe(0);
  expect(one.value('nowserving_requests_completed_total', { ...added, outcome: 'failed' })).toBe(0);
});

test('a model that joins the file has series of its own, however many models have left it', async () => {
  const headers = { authorization: `Key ${service.key}` };
  for (const file of [0, 1]) {
    const models = Array.from({ length: 150 }, (_, i) => [`file-${file}/${i}`, {}] as const);
    await writeFile(service.config.modelsFile, model.file(Object.fromEntries(models)));
    expect((await service.get('/v1/admin/models/reload', { method: 'POST', headers })).status).toBe(200);
  }
  const submitted = (one: Scrape, id: string): number | undefined =>
    one.value('nowserving_requests_submitted_total', { model: id });
  const one = await scraped((some) => submitted(some, 'file-1/149') === 0);
  expect([submitted(one, 'file-0/0'), submitted(one, 'other')]).toEqual([undefined, undefined]);
});

test('all counters, and only counters, have a name that ends in _total', async () => {
  const { text } = await scrape(service);
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!] as const);
  expect(types.length).toBeGreaterThan(50);
  expect(types.filter(([name, type]) => (type === 'counter') !== name.endsWith('_total'))).toEqual([]);
});
