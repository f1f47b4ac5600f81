import { open, rename, writeFile } from 'node:fs/promises';
import { renameSync, writeFileSync } from 'node:fs';
import { ModelsReload } from '../../src/admin/models/models-reload.js';
import { Config } from '../../src/config/config.js';
import { NotifyChannel } from '../../src/database/notify-channel.js';
import { ModelsService } from '../../src/models/models.service.js';
import { type RunningService, startService } from '../../src/service.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { keyHeader, problemOf, QueueCalls, verdict } from '../support/queue-calls.js';

const [model, elsewhere] = [new ModelServer(), new ModelServer()];
let service: TestService;
let calls: QueueCalls;
let admin: ModelAdminCalls;

beforeAll(async () => {
  await Promise.all([model.start(), elsewhere.start()]);
  service = await startTestService({ models: model.file({ first: {}, second: {} }), limits: 'off' });
  // Otherwise the watch could see a change first, and the call would find none.
  service.app.get(ModelsReload).stopWatching();
  calls = new QueueCalls(service);
  admin = new ModelAdminCalls(service);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([model.stop(), elsewhere.stop()]);
});
beforeEach(() => reload({ first: {}, second: {} }));
afterEach(() => model.release());

/** Replaces the file like an editor that saves beside it and renames. */
async function replaceFile(text: string): Promise<void> {
  const { modelsFile } = service.config;
  await writeFile(`${modelsFile}.new`, text);
  await rename(`${modelsFile}.new`, modelsFile);
}
/** Starts a node, and replaces the file at once after the node has read it. */
function startAndReplaceFile(text: string, options: Partial<Config> = {}): Promise<RunningService> {
  const { modelsFile } = service.config;
  const starting = startService(Object.assign(new Config(), service.config, options));
  writeFileSync(`${modelsFile}.new`, text);
  renameSync(`${modelsFile}.new`, modelsFile);
  return starting;
}
async function reload(models: Record<string, object>, server = model): Promise<object> {
  await replaceFile(server.file(models));
  const response = await admin.call('POST', 'models/reload');
  expect(response.status).toBe(200);
  return (await response.json()) as object;
}
async function listed(): Promise<string[]> {
  const response = await service.get('/v1/models', { headers: keyHeader(service.key) });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

test('a new model takes requests, and is in every list', async () => {
  expect(await reload({ first: {}, second: {}, third: {} })).toEqual({
    added: ['third'],
    changed: [],
    removed: [],
  });
  expect(await calls.reached(await calls.submit('third'), 'COMPLETED')).toMatchObject({ success: true });
  expect(await listed()).toEqual(['first', 'second', 'third']);
  const served = await (await service.get('/openapi.json')).text();
  expect(served).toContain('`third`');
  const [row] = await service.query(
    `SELECT after, actor_name FROM audit_entry WHERE action = 'models.reload' ORDER BY id DESC LIMIT 1`,
  );
  expect(row).toEqual({ after: { added: ['third'], changed: [], removed: [] }, actor_name: 'bootstrap' });
});

test('changed options apply from the next run; the current run ends with the old ones', async () => {
  model.hold();
  const running = await calls.submit('first');
  await model.arrived(running);
  const changes = await reload(
    {
      first: {
        concurrency: 1,
        attempts: 2,
        retry: { base: '1ms', cap: '1ms' },
        input_schema: { required: ['a'] },
      },
      second: {},
    },
    elsewhere,
  );
  expect(changes).toEqual({ added: [], changed: ['first', 'second'], removed: [] });
  expect(await verdict(service.submit('first', {}))).toEqual([422, 'invalid_input']);
  const next = await calls.submit('first', { a: 1, attempts: [{ status: 500 }, {}] });
  expect(await calls.status(next)).toMatchObject({ status: 'IN_QUEUE', reason: 'busy' });
  await model.answer(running);
  expect(await calls.reached(running, 'COMPLETED')).toMatchObject({ success: true });
  expect(await calls.reached(next, 'COMPLETED')).toMatchObject({ success: true, attempt: 2 });
  expect(elsewhere.times(next)).toBe(2);
});

test('a removed model is unknown; its waiting requests stay and start when it is added again', async () => {
  model.hold();
  const ids = await calls.submitAll(6, 'second');
  await until(() => model.running === 4);
  expect(await reload({ first: {} })).toEqual({
    added: [],
    changed: [],
    removed: [{ id: 'second', waiting: 2 }],
  });
  expect(await verdict(service.submit('second', {}))).toEqual([404, 'unknown_model']);
  expect(await listed()).toEqual(['first']);
  expect(await verdict(admin.call('GET', 'models/second'))).toEqual([404, 'unknown_model']);
  model.release();
  for (const id of ids.slice(0, 4))
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true });
  expect(await calls.status(ids[4]!)).toMatchObject({
    status: 'IN_QUEUE',
    queue_position: 0,
    reason: 'unavailable',
  });
  const depth = `SELECT model_id, waiting FROM queue_depth WHERE model_id = 'second'`;
  expect(await service.query(depth)).toEqual([{ model_id: 'second', waiting: 2 }]);
  await calls.cancel(ids[4]!);
  expect(await reload({ first: {}, second: {} })).toMatchObject({ added: ['second'] });
  expect(await calls.reached(ids[5]!, 'COMPLETED')).toMatchObject({ success: true });
  await reload({ first: {} });
  expect(await service.query(depth)).toEqual([]);
});

test('a file with faults changes nothing, and every fault is named', async () => {
  await replaceFile('models:\n  - id: a b\n    runner: { kind: demo, demo: echo }\n    timout: 3s\n');
  const problem = await problemOf(await admin.call('POST', 'models/reload'));
  expect(problem).toMatchObject({ status: 422, code: 'invalid_models_file' });
  expect(problem.errors!.map(({ message }) => message.replace(/^.*models\.yaml /, ''))).toEqual([
    expect.stringMatching(/^line 2: id: expected 1 to 8 segments/),
    'line 4: unknown option "timout", did you mean "timeout"?',
  ]);
  expect(await listed()).toEqual(['first', 'second']);
  expect(await calls.reached(await calls.submit('first'), 'COMPLETED')).toMatchObject({ success: true });
});

test('a reload of the file leaves the overrides of operators in place', async () => {
  await admin.change('first', { concurrency: 3, paused: 'hold' });
  await reload({ first: { concurrency: 9 }, second: {} });
  expect(await admin.model('first')).toMatchObject({
    concurrency: { current: 3, base: 9, override: 3 },
    paused: { current: 'hold' },
  });
});

test('a file that was replaced behind its mount is an error, because its changes are not seen', async () => {
  const { modelsFile } = service.config;
  // Like a mounted file, an open file stays the same when another one takes its name.
  const mounted = await open(modelsFile);
  const node = await startTestService({ config: { modelsFile: `/proc/${process.pid}/fd/${mounted.fd}` } });
  const callsOfNode = new ModelAdminCalls(node);
  expect((await callsOfNode.call('POST', 'models/reload')).status).toBe(200);
  await replaceFile(model.file({ first: {}, third: {} }));
  const problem = await problemOf(await callsOfNode.call('POST', 'models/reload'));
  expect(problem).toMatchObject({ status: 422, code: 'invalid_models_file' });
  expect(problem.errors![0]!.message).toContain('mount the folder that it is in');
  await node.stop();
  await mounted.close();
});

test('a file that is replaced while a node starts is read again', async () => {
  const node = await startAndReplaceFile(model.file({ first: {}, third: {} }));
  try {
    await until(() => node.app.get(ModelsService).get('third') !== undefined);
    // The other node follows it, and does not reload during the next test.
    await until(async () => (await listed()).includes('third'));
  } finally {
    await node.stop();
  }
});

test('a file that was replaced behind its mount while a node started is an error', async () => {
  const mounted = await open(service.config.modelsFile);
  const modelsFile = `/proc/${process.pid}/fd/${mounted.fd}`;
  const node = await startAndReplaceFile(model.file({ first: {}, third: {} }), { modelsFile });
  try {
    const callsOfNode = new ModelAdminCalls({ url: node.url, key: service.key });
    const problem = await problemOf(await callsOfNode.call('POST', 'models/reload'));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_models_file' });
    expect(problem.errors![0]!.message).toContain('mount the folder that it is in');
  } finally {
    await node.stop();
    await mounted.close();
  }
});

test('a file that is being written when another node sends a message is read once it is whole', async () => {
  const { modelsFile } = service.config;
  const models = service.app.get(ModelsService);
  const counts: number[] = [];
  const changes = models.changes.subscribe(() => counts.push(models.all().length));
  await writeFile(modelsFile, model.file({ first: {} }));
  // The messages arrive together and in this order. Timers of one duration fire in the order in which they were set.
  service.app.get(NotifyChannel).listen('after', () => {
    setTimeout(() => writeFileSync(modelsFile, model.file({ first: {}, second: {}, third: {} })), 0);
  });
  await service.query(`SELECT pg_notify('nowserving', unnest(ARRAY['models another-node', 'after -']))`);
  await until(() => models.get('third') !== undefined);
  changes.unsubscribe();
  expect(counts).toEqual([3]);
});
