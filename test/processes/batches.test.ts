import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchCalls } from '../support/batch-calls.js';
import {
  spawnService,
  type SpawnedService,
  startTestService,
  type TestService,
  until,
} from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { keyHeader } from '../support/queue-calls.js';

/** The whole trial: BATCH_LINES=50000 KILLS=10 npm run test:processes -- batches */
const count = Number(process.env['BATCH_LINES'] ?? 3_000);
const kills = Number(process.env['KILLS'] ?? 4);
/** Bytes of a line besides its members. */
const padding = 'x'.repeat(Number(process.env['BATCH_LINE_BYTES'] ?? 3_800));
const patience = { timeoutMs: 120_000 + count * 20 };
const model = new ModelServer();
/** The finished runs of each line. */
const finished = new Map<string, number>();
const isFailing = (i: number): boolean => i % 50 === 7;

let service: TestService;
const nodes: SpawnedService[] = [];
let environment: Record<string, string>;

beforeAll(async () => {
  await model.start();
  model.respond = (call) => {
    // The calls are not kept, because there are tens of thousands of them.
    model.calls.length = 0;
    const { i } = JSON.parse(call.body) as { i: number };
    const { response } = call;
    response.on('finish', () => finished.set(call.id, (finished.get(call.id) ?? 0) + 1));
    response.writeHead(isFailing(i) ? 422 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ i }));
  };
  const models = model.file({ 'test/wide': { concurrency: 32 } });
  service = await startTestService({ limits: '1000000/s', models, config: { role: 'api' } });
  const modelsFile = join(service.config.dataDir, '..', 'models-of-nodes.yaml');
  await writeFile(modelsFile, models);
  environment = {
    ...{ ROLE: 'scheduler', DATABASE_URL: service.databaseUrl, DATA_DIR: service.config.dataDir },
    ...{ MODELS_FILE: modelsFile, LOG_LEVEL: 'error', RATE_LIMIT_BATCH: '1000000/s' },
  };
});
afterAll(async () => {
  for (const node of nodes) node.destroy();
  await service.stop();
  await model.stop();
});

async function* lines(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    const line = `${JSON.stringify({ custom_id: `line-${i}`, input: { i, padding } })}\n`;
    yield await Promise.resolve(Buffer.from(line));
  }
}

test.each(['completed', 'cancelled'])(
  'a batch is %s after its nodes were killed again and again: every line is in one file, once',
  async (end) => {
    const batches = new BatchCalls(service);
    nodes.push(await spawnService(environment), await spawnService(environment));
    const { batch_id: id } = await batches.send(ReadableStream.from(lines()) as never, '?model_id=test/wide');
    const doneOf = ({ counts }: Awaited<ReturnType<typeof batches.read>>): number =>
      counts.completed + counts.failed;
    const last = end === 'completed' ? count : count / 2;
    for (let kill = 0; kill < kills; kill++) {
      // The first one is killed while the input is read.
      await batches.until(
        id,
        (batch) => kill === 0 || batch.ended_at !== null || doneOf(batch) >= (last * kill) / kills,
        patience,
      );
      const at = randomInt(nodes.length);
      const [lost] = nodes.splice(at, 1);
      lost!.kill('SIGKILL');
      await lost!.exited;
      nodes.push(await spawnService(environment));
    }
    if (end === 'cancelled') {
      await batches.until(id, (batch) => doneOf(batch) >= last, patience);
      expect([200, 202]).toContain((await batches.cancel(id)).status);
    }
    const batch = await batches.ended(id, patience);
    expect(batch).toMatchObject({ status: end, counts: { total: count } });
    const { output, errors } = await batches.results(batch);
    for (const { custom_id, output: value } of output)
      expect(value).toEqual({ i: Number(custom_id.slice('line-'.length)) });
    const failed = errors.filter(({ error }) => error!.code === 'model_error');
    expect(failed.every(({ custom_id }) => isFailing(Number(custom_id.slice('line-'.length))))).toBe(true);
    if (end === 'completed') expect(errors.length).toBe(Math.ceil((count - 7) / 50));
    // A lost run may have been repeated, but no line has two requests, and no finished request another run.
    const [row] = await service.query<{ requests: number }>(
      'SELECT count(*)::integer AS requests FROM request WHERE $1 = ANY (tags)',
      [`batch:${id}`],
    );
    const submitted = [...output, ...errors].filter(({ request_id }) => request_id !== null);
    expect(new Set(submitted.map(({ request_id }) => request_id)).size).toBe(row!.requests);
    const again = await service.query(
      `SELECT FROM attempt JOIN request ON request.id = request_id
       WHERE $1 = ANY (tags) AND attempt.started_at > request.completed_at`,
      [`batch:${id}`],
    );
    expect(again).toEqual([]);
    expect(await service.query('SELECT FROM batch_line')).toEqual([]);
    const deleted = await fetch(batch.batch_url, { method: 'DELETE', headers: keyHeader(service.key) });
    expect(deleted.status).toBe(204);
    for (const node of nodes.splice(0)) {
      node.kill('SIGKILL');
      await node.exited;
    }
    await until(async () => (await service.query('SELECT FROM node')).length <= 1, patience);
  },
  2 * patience.timeoutMs,
);
