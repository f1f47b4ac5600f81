import { writeFile } from 'node:fs/promises';
import { ModelsReload } from '../../src/admin/models/models-reload.js';
import { Database } from '../../src/database/database.js';
import { ModelsService } from '../../src/models/models.service.js';
import { FollowedRuns } from '../../src/queue/runs/followed-runs.js';
import { RunStore } from '../../src/queue/runs/run-store.js';
import { RunnerRegistry } from '../../src/queue/runs/runner-registry.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { startTestService, until } from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

function modelOf(id: string, { url }: ModelServer): object {
  const call = { url: '{url}/{$.id}' };
  const follow = { ...call, every: '10ms', done: '$.done', cancel: { ...call, method: 'DELETE' } };
  return { id, runner: { kind: 'http', url, follow } };
}

const looksAt = ({ calls }: ModelServer): number => calls.filter(({ method }) => method === 'GET').length;
const cancelsAt = ({ calls }: ModelServer): Call[] => calls.filter(({ method }) => method === 'DELETE');

test('a server that does not answer a cancel delays no other server, and gets no second cancel meanwhile', async () => {
  const silent = await new ModelServer().start();
  const other = await new ModelServer().start();
  other.respond = ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}');
  silent.respond = (call) => {
    if (call.method !== 'DELETE') other.respond(call);
  };
  const models = JSON.stringify({ models: [modelOf('test/silent', silent), modelOf('test/other', other)] });
  const service = await startTestService({ limits: 'off', models });
  try {
    const calls = new QueueCalls(service);
    const cancelOne = async (model: string, server: ModelServer): Promise<void> => {
      const [asked, before] = [looksAt(server), cancelsAt(server).length];
      const id = await calls.submit(model);
      await until(() => looksAt(server) > asked);
      await calls.cancel(id);
      await until(() => cancelsAt(server).length > before);
    };
    await cancelOne('test/silent', silent);
    await cancelOne('test/other', other);
    expect(cancelsAt(silent)[0]!.closed).toBe(false);
    // As if ten seconds had passed.
    await service.query(
      `UPDATE followed_run SET cancel_after = clock_timestamp() WHERE model_id = 'test/silent'`,
    );
    await cancelOne('test/other', other);
    expect(
      await service.query(`SELECT cancel_tries AS tries FROM followed_run WHERE model_id = 'test/silent'`),
    ).toEqual([{ tries: 1 }]);
    expect(cancelsAt(silent)).toHaveLength(1);
  } finally {
    await Promise.all([silent.stop(), other.stop()]);
    await service.stop();
  }
});

test('a run is cancelled at its server although its model has left models.yaml, or is not followed any more', async () => {
  const server = await new ModelServer().start();
  server.respond = ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}');
  const { url } = server;
  const unfollowed = { id: 'test/unfollowed', runner: { kind: 'http', url } };
  const models = JSON.stringify({
    models: [modelOf('test/unfollowed', server), modelOf('test/removed', server)],
  });
  const service = await startTestService({ limits: 'off', models });
  try {
    service.app.get(ModelsReload).stopWatching();
    const calls = new QueueCalls(service);
    const ids = await Promise.all(['test/unfollowed', 'test/removed'].map((model) => calls.submit(model)));
    await until(async () => (await service.query('SELECT FROM followed_run')).length === 2);
    await writeFile(service.config.modelsFile, JSON.stringify({ models: [unfollowed] }));
    const reloaded = await new ModelAdminCalls(service).call('POST', 'models/reload');
    expect(await reloaded.json()).toEqual({
      added: [],
      changed: ['test/unfollowed'],
      removed: [{ id: 'test/removed', waiting: 0 }],
    });
    for (const [at, id] of ids.entries()) {
      await calls.cancel(id);
      await until(() => cancelsAt(server).length === at + 1);
    }
    await until(async () => (await service.query('SELECT FROM followed_run')).length === 0);
  } finally {
    await server.stop();
    await service.stop();
  }
});

test('rows that are older than a day are deleted by a process without a followed model', async () => {
  const service = await startTestService();
  try {
    await service.query(
      `INSERT INTO followed_run (request_id, start, attempt, model_id, address, began_at)
       SELECT gen_random_uuid(), 1, 1, 'test/removed', 'http://gpu/', clock_timestamp() - ago
       FROM unnest(ARRAY['1 hour', '2 days']::interval[]) AS ago`,
    );
    const { app } = service;
    const runs = new FollowedRuns(
      app.get(Database),
      app.get(ModelsService),
      app.get(RunnerRegistry),
      app.get(RunStore),
    );
    await runs.cancelAbandoned();
    await runs.settled();
    const rows = await service.query(
      `SELECT clock_timestamp() - began_at < '1 day' AS is_new FROM followed_run`,
    );
    expect(rows).toEqual([{ is_new: true }]);
  } finally {
    await service.stop();
  }
});
