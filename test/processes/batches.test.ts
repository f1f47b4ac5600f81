import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
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
import { temporaryPrefix, temporaryRoot } from '../support/temporary-servers.js';

/** The whole trial: BATCH_LINES=50000 KILLS=10 npm run test:processes -- batches */
const count = Number(process.env['BATCH_LINES'] ?? 3_000);
const kills = Number(process.env['KILLS'] ?? 4);
/** Bytes of a line besides its members. */
const padding = 'x'.repeat(Number(process.env['BATCH_LINE_BYTES'] ?? 3_800));
const patience = { timeoutMs: 120_000 + count * 20 };
const isFailing = (i: number): boolean => i % 50 === 7;

const model = new ModelServer();
/** The lines that the model has answered. */
const answered = new Set<number>();
/** It answers this many lines; it keeps the calls of all others open. */
let answersLines = count;
let directory: string;
let postgres: EmbeddedPostgres;
let service: TestService;
const nodes: SpawnedService[] = [];
let environment: Record<string, string>;

beforeAll(async () => {
  await model.start();
  model.respond = ({ body, response }) => {
    // The calls are not kept, because there are tens of thousands of them.
    model.calls.length = 0;
    const { i } = JSON.parse(body) as { i: number };
    if (answered.size >= answersLines && !answered.has(i)) return;
    answered.add(i);
    response.writeHead(isFailing(i) ? 422 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ i }));
  };
  const models = model.file({ 'test/wide': { concurrency: 32 } });
  directory = await mkdtemp(join(temporaryRoot(), `${temporaryPrefix}${process.pid}-`));
  postgres = new EmbeddedPostgres(directory);
  service = await startTestService({
    limits: '1000000/s',
    models,
    config: { role: 'api', databaseUrl: await postgres.start() },
  });
  const modelsFile = join(directory, 'models-of-nodes.yaml');
  await writeFile(modelsFile, models);
  environment = {
    ROLE: 'scheduler',
    DATABASE_URL: service.databaseUrl,
    DATA_DIR: service.config.dataDir,
    MODELS_FILE: modelsFile,
    LOG_LEVEL: 'error',
    RATE_LIMIT_BATCH: '1000000/s',
  };
});
afterAll(async () => {
  for (const node of nodes) node.destroy();
  await service.stop();
  await postgres.stop();
  await model.stop();
  await rm(directory, { recursive: true, force: true });
});

async function* lines(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    const line = `${JSON.stringify({ custom_id: `line-${i}`, input: { i, padding } })}\n`;
    yield await Promise.resolve(Buffer.from(line));
  }
}

async function killNode(): Promise<void> {
  const [lost] = nodes.splice(randomInt(nodes.length), 1);
  lost!.kill('SIGKILL');
  await lost!.exited;
  nodes.push(await spawnService(environment));
}

/** NaN: the file is not there while a server starts. */
function databasePid(): number {
  const file = join(directory, 'postgres', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : NaN;
}

/** It is started again by itself, at the same port. */
async function killDatabase(): Promise<void> {
  const killed = databasePid();
  process.kill(killed, 'SIGKILL');
  const isBack = async (): Promise<boolean> =>
    databasePid() !== killed && (await service.get('/health/ready')).status === 200;
  await until(isBack, { ...patience, message: 'the database is back' });
}

test.each(['completed', 'cancelled', 'expired'])(
  'a batch is %s after repeated kills of nodes and PostgreSQL, and each line is once in one result file',
  async (end) => {
    const batches = new BatchCalls(service);
    nodes.push(await spawnService(environment), await spawnService(environment));
    const { batch_id: id } = await batches.send(ReadableStream.from(lines()) as never, '?model_id=test/wide');
    const doneOf = ({ counts }: Awaited<ReturnType<typeof batches.read>>): number =>
      counts.completed + counts.failed;
    const last = end === 'completed' ? count : count / 2;
    answered.clear();
    answersLines = last;
    for (let kill = 0; kill < kills; kill++) {
      // The first kill comes while the input is read.
      await batches.until(
        id,
        (batch) => kill === 0 || batch.ended_at !== null || doneOf(batch) >= (last * kill) / kills,
        patience,
      );
      await (kill % 2 === 0 ? killNode() : killDatabase());
    }
    await batches.until(id, (batch) => doneOf(batch) >= last, patience);
    if (end === 'cancelled') expect([200, 202]).toContain((await batches.cancel(id)).status);
    if (end === 'expired') await service.query('UPDATE batch SET expires_at = now() WHERE id = $1', [id]);
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
