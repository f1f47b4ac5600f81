import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModelServer } from '../support/model-server.js';
import { Prometheus } from '../support/prometheus.js';
import {
  createTestDatabase,
  spawnService,
  type SpawnedService,
  submitTo,
  type TestDatabase,
} from '../support/index.js';

const key = 'a-key-for-the-rehearsal';
const model = new ModelServer();
const nodes: SpawnedService[] = [];
let database: TestDatabase;
let directory: string;
let prometheus: Prometheus;

const node = (name: string): Promise<SpawnedService> =>
  spawnService({
    DATABASE_URL: database.url,
    MODELS_FILE: join(directory, 'models.yaml'),
    BOOTSTRAP_API_KEY: key,
    METRICS_ACCESS: 'open',
    NODE_NAME: name,
    LOG_LEVEL: 'error',
    RATE_LIMIT_SUBMIT: 'off',
    RATE_LIMIT_OTHER: 'off',
  });

beforeAll(async () => {
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-alerts-'));
  await model.hold().start();
  const file = model.file({
    'test/shared': { concurrency: 2 },
    'test/narrow': { concurrency: 1, max_waiting: 2 },
  });
  await writeFile(join(directory, 'models.yaml'), file);
  for (const name of ['alpha', 'beta']) nodes.push(await node(name));
  prometheus = await Prometheus.start(nodes.map(({ url }) => new URL(url).host));
});

afterAll(async () => {
  await prometheus.stop();
  for (const { exited } of nodes) await exited;
  await model.stop();
  await rm(directory, { recursive: true, force: true });
  await database.drop();
});

const submit = (id: string): Promise<{ request_id: string }> => submitTo(nodes[0]!.url, key, id, {});

test('a full queue, a dead model and a dead node fire their alerts, and the repaired model’s alert ends', async () => {
  await prometheus.scraped(2);
  // Three are taken: one runs, two wait.
  for (let i = 0; i < 3; i++) await submit('test/narrow');
  const refused = await fetch(`${nodes[0]!.url}/v1/queue/test/narrow`, {
    method: 'POST',
    headers: { authorization: `Key ${key}` },
    body: '{}',
  });
  expect(refused.status).toBe(429);
  await prometheus.fired('NowServingQueueFull', { severity: 'ticket' });

  const shared = await Promise.all([submit('test/shared'), submit('test/shared')]);
  await Promise.all(shared.map(({ request_id }) => model.arrived(request_id)));
  nodes[1]!.kill('SIGKILL');
  const { host } = new URL(nodes[1]!.url);
  await nodes[1]!.exited;
  await prometheus.fired('NowServingNodeDown', { instance: host });
  await prometheus.fired('NowServingRunsLost', { model: 'test/shared' });

  await model.stop();
  await submit('test/shared');
  await prometheus.fired('NowServingModelUnavailable', { model: 'test/shared' });
  model.release();
  await model.start();
  await prometheus.calmed('NowServingModelUnavailable');
});
