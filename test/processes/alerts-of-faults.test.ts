import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/database/open-database.js';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { DatabaseGate } from '../support/database-gate.js';
import { ModelServer } from '../support/model-server.js';
import { Prometheus } from '../support/prometheus.js';
import { RecordedMetrics } from '../support/recorded-metrics.js';
import { stopServerNow, temporaryPrefix } from '../support/temporary-servers.js';
import { spawnService, type SpawnedService, submitTo, until } from '../support/index.js';

const key = 'a-key-for-the-faults-0123456789';
/** A minute of the rules is 4 s here. */
const factor = 15;
const authorized = { headers: { authorization: `Key ${key}` } };
const model = new ModelServer();
const nodes: SpawnedService[] = [];
let directory: string;
let postgres: EmbeddedPostgres;
let gate: DatabaseGate;
let sql: pg.Client;
let prometheus: Prometheus | undefined;

/** Starts a node whose /metrics requires a key, which is the default. */
const node = (name: string, role: string): Promise<SpawnedService> =>
  spawnService({
    NODE_NAME: name,
    ROLE: role,
    DATABASE_URL: gate.url,
    BOOTSTRAP_API_KEY: key,
    MODELS_FILE: join(directory, 'models.yaml'),
    WEBHOOK_ALLOW: '127.0.0.1',
    LOG_LEVEL: 'error',
    RATE_LIMIT_SUBMIT: 'off',
    RATE_LIMIT_OTHER: 'off',
  });
const urls = (): string[] => nodes.map(({ url }) => url);
const seconds = (): number => Date.now() / 1_000;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), `${temporaryPrefix}${process.pid}-`));
  await model.start();
  const strict = { type: 'object', required: ['prompt'] };
  const models = { 'test/model': {}, 'test/broken': {}, 'test/strict': { input_schema: strict } };
  await writeFile(join(directory, 'models.yaml'), model.file(models));
  postgres = new EmbeddedPostgres(directory);
  const url = await postgres.start();
  sql = new pg.Client({ connectionString: url });
  // A test stops the server behind it.
  sql.on('error', () => undefined);
  await sql.connect();
  for (const setting of ['fsync', 'synchronous_commit']) await sql.query(`ALTER SYSTEM SET ${setting} = off`);
  await sql.query('SELECT pg_reload_conf()');
  await openDatabase(url, undefined, {});
  gate = await DatabaseGate.before(url);
  nodes.push(await node('alpha', 'all'), await node('beta', 'api'));
});

afterAll(async () => {
  await prometheus?.stop();
  for (const one of nodes) one.kill('SIGKILL');
  for (const { exited } of nodes) await exited;
  await gate.stop();
  await model.stop();
  await postgres.stop();
  stopServerNow(directory);
  await rm(directory, { recursive: true, force: true });
});

const submit = (id: string, input: object, options = ''): Promise<{ request_id: string }> =>
  submitTo(nodes[1]!.url, key, `${id}${options}`, input);

async function completed(ids: readonly string[]): Promise<void> {
  const left = `SELECT FROM request WHERE id = ANY ($1) AND state <> 'COMPLETED'`;
  await until(async () => (await sql.query(left, [ids])).rows.length === 0);
}

/** Runs requests, whatever their outcomes. */
async function run(id: string, count: number, input: object): Promise<void> {
  const accepted = await Promise.all(Array.from({ length: count }, () => submit(id, input)));
  await completed(accepted.map(({ request_id }) => request_id));
}

test('a database that is away for 8 s fires no alert, neither then nor in 20 minutes of unchanged metrics', async () => {
  const metrics = await RecordedMetrics.of(urls(), key);
  await run('test/model', 10, {});
  const held = await submit('test/model', { attempts: [{ hold: true }, {}] });
  await model.arrived(held.request_id);
  await metrics.record(2);
  const closedAt = performance.now();
  gate.close();
  await metrics.record(1);
  await until(() => performance.now() - closedAt > 8_000);
  gate.open();
  // Duties that have failed are tried again within 36 s.
  await metrics.record(10);
  await completed([held.request_id]);
  await metrics.expectNoAlerts();
});

test('each fault fires its alert and no other, and none is fired by the mistakes of callers', async () => {
  const hosts = nodes.map(({ url }) => new URL(url).host);
  const watching = (prometheus = await Prometheus.start(hosts, { key, factor, intervalSeconds: 2 }));
  await watching.scraped(2);
  /** Returns fired alerts, without the one that may fire rightly on a machine that is busy with other tests. */
  const fired = async (since: number): Promise<string[]> =>
    (await watching.firedSince(since)).filter((name) => name !== 'NowServingEventLoopSlow');

  const mistakenAt = seconds();
  await run('test/strict', 30, { prompt: 'what the model itself finds no good', status: 422 });
  for (let i = 0; i < 30; i++) {
    const refused = await fetch(`${nodes[1]!.url}/v1/queue/test/${i % 2 === 0 ? 'strict' : 'unknown'}`, {
      method: 'POST',
      body: '{}',
      ...authorized,
    });
    expect(refused.status).toBe(i % 2 === 0 ? 422 : 404);
  }
  // Five and a half minutes of the rules.
  await watching.watched(seconds(), 22);
  expect(await fired(mistakenAt)).toEqual([]);

  const brokenAt = seconds();
  await run('test/broken', 6, { status: 500 });
  const receiver = encodeURIComponent('http://127.0.0.1:9/hook');
  const { request_id: called } = await submit('test/model', {}, `?webhook=${receiver}`);
  const first = await until(async () => {
    const tried = 'SELECT FROM webhook_delivery WHERE request_id = $1 AND step > 0';
    return (await sql.query(tried, [called])).rows.length === 1;
  });
  expect(first).toBe(true);
  // The delivery is an hour old.
  await sql.query(`UPDATE webhook_delivery SET created_at = now() - interval '1 hour'`);
  await watching.fired('NowServingModelFailing', { model: 'test/broken', severity: 'page' });
  await watching.fired('NowServingReceiverDead', { severity: 'ticket' });
  expect(await fired(brokenAt)).toEqual(['NowServingModelFailing', 'NowServingReceiverDead']);
  await run('test/broken', 1, {});
  await sql.query('DELETE FROM webhook_delivery');
  await watching.calmed('NowServingModelFailing');
  await watching.calmed('NowServingReceiverDead');

  const drainedAt = seconds();
  const { rows } = await sql.query<{ id: string }>(`SELECT id FROM node WHERE role = 'all'`);
  const drain = (method: string): Promise<Response> =>
    fetch(`${nodes[1]!.url}/v1/admin/nodes/${rows[0]!.id}/drain`, {
      method,
      body: '{}',
      headers: { ...authorized.headers, 'content-type': 'application/json' },
    });
  expect((await drain('POST')).status).toBe(200);
  const waiting = await submit('test/model', {});
  await watching.fired('NowServingNoScheduler', { severity: 'page' });
  // A model without slots would be reported as stuck after two minutes.
  await watching.watched(drainedAt, 20);
  expect(await fired(drainedAt)).toEqual(['NowServingNoScheduler']);
  const readiness = (await (await fetch(`${nodes[1]!.url}/health/ready`)).json()) as { notes: string[] };
  expect(readiness.notes).toEqual([expect.stringContaining('No node runs requests')]);
  await drain('DELETE');
  await completed([waiting.request_id]);
  await watching.calmed('NowServingNoScheduler');

  const stoppedAt = seconds();
  await postgres.stop();
  await watching.fired('NowServingDatabaseAway', { severity: 'page' });
  await watching.watched(stoppedAt, 25);
  expect(await fired(stoppedAt)).toEqual(['NowServingDatabaseAway']);
  gate.target = new URL(await postgres.start());
  await watching.calmed('NowServingDatabaseAway');
}, 300_000);
