import type { Config } from '../../src/config/config.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';
import { readStream, type StreamReader } from '../support/stream-reader.js';

const bootstrapApiKey = 'a-key-that-all-nodes-know';
const model = new ModelServer();
let database: TestDatabase;
/** A and B serve callers, C runs requests. */
let a: QueueCalls, b: QueueCalls, c: QueueCalls;

async function startNode(role: Config['role'], config: Partial<Config> = {}): Promise<QueueCalls> {
  const service = await startTestService({
    limits: '1000/s',
    models: model.file({ 'test/counted': {} }),
    config: { databaseUrl: database.url, bootstrapApiKey, role, ...config },
  });
  return new QueueCalls(service);
}

beforeAll(async () => {
  await model.start();
  database = await createTestDatabase();
  [a, b, c] = await Promise.all([startNode('api'), startNode('api'), startNode('scheduler')]);
});
afterAll(async () => {
  model.release();
  await Promise.all([a, b, c].map(({ service }) => service.stop()));
  await model.stop();
  await database.drop();
});

const submit = (node: QueueCalls, input?: object): Promise<string> => node.submit('test/counted', input);
const streamOf = (node: QueueCalls, id: string, lastEventId = ''): Promise<StreamReader> =>
  readStream(`${node.service.url}${node.path(id)}/status/stream?logs=1`, { 'last-event-id': lastEventId });
const fill = async (): Promise<string[]> => {
  model.hold();
  const ids = await inParallel(4, Array.from({ length: 4 }), () => submit(a));
  await until(() => model.running === 4);
  return ids;
};
const drained = (): Promise<unknown> =>
  until(async () => (await a.count(`request WHERE state <> 'COMPLETED'`)) === 0);

test('a scheduler shows its health and serves nothing else', async () => {
  expect((await c.service.get('/health/ready')).status).toBe(200);
  expect((await c.service.submit('test/counted', {})).status).toBe(404);
});

test('a request submitted on one node and run by another can be followed on a third to its end', async () => {
  await fill();
  const id = await submit(a);
  const stream = await streamOf(b, id);
  // Node B learns a moment later that the four no longer wait.
  await until(() => stream.data.some(({ queue_position: shown }) => shown === 0));
  expect(stream.statuses()[0]).toBe('IN_QUEUE');
  model.release();
  await stream.ended;
  // A very short run may end before the stream reads what its start has changed.
  expect(stream.statuses().join()).toMatch(/^(IN_QUEUE,)+(IN_PROGRESS,)?COMPLETED$/);
  for (const node of [a, b]) {
    expect(await (await node.response(id)).json()).toEqual({ done: id, attempt: 1 });
    expect(await node.status(id)).toMatchObject({ status: 'COMPLETED', success: true });
  }
  await drained();
});

test('positions agree on all nodes and with the database, regardless of the node that accepted the request', async () => {
  await fill();
  const ids = await inParallel(10, Array.from({ length: 60 }), (_, i) => submit(i % 2 === 0 ? a : b));
  await inParallel(
    5,
    ids.filter((_, i) => i % 9 === 4),
    (id) => b.cancel(id),
  );
  const rows = await a.service.query<{ id: string; position: number }>(
    `SELECT request_id AS id, (row_number() OVER (ORDER BY priority, virtual_start, seq) - 1)::int AS position
     FROM queue_entry WHERE model_id = 'test/counted'`,
  );
  expect(rows).toHaveLength(53);
  for (const node of [a, b]) {
    await until(
      async () => {
        const shown = await inParallel(10, rows, async ({ id }) => (await node.status(id)).queue_position);
        return shown.every((position, i) => position === rows[i]!.position);
      },
      { message: 'every position on the node is the one that counting gives' },
    );
  }
  model.release();
  await drained();
});

test('a cancel on one node stops the run on another and ends the stream on a third', async () => {
  const [id] = (await fill()) as [string];
  const stream = await streamOf(b, id);
  expect((await a.cancel(id)).status).toBe(202);
  await stream.ended;
  expect(stream.data.at(-1)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
  expect((await b.response(id)).status).toBe(499);
  expect(model.running).toBe(3);
  model.release();
  await drained();
});

test('a stream carried from node to node by Last-Event-ID has no gap and no repetition', async () => {
  const id = await submit(a, { hold: true });
  const logs: string[] = [];
  let lastEventId = '';
  let lines = 0;
  for (let leg = 0; leg < 8; leg++) {
    const stream = await streamOf(leg % 2 === 0 ? a : b, id, lastEventId);
    const five = Array.from({ length: 5 }, () => ({ type: 'log', message: `line ${++lines}` }));
    await model.say(id, five);
    const seen = leg % 3;
    await until(() => stream.logs().length > seen);
    await stream.drop();
    logs.push(...stream.logs());
    lastEventId = stream.lastEventId;
  }
  const last = await streamOf(b, id, lastEventId);
  await model.answer(id, '{"type":"output","output":"done"}\n');
  await last.ended;
  logs.push(...last.logs());
  expect(logs).toEqual(Array.from({ length: lines }, (_, i) => `line ${i + 1}`));
  expect(last.statuses().at(-1)).toBe('COMPLETED');
  for (const node of [a, b]) {
    const again = await streamOf(node, id, last.lastEventId);
    expect(again.response.statusCode).toBe(204);
  }
});

test('while nodes join and leave, concurrency is never exceeded and every request runs once', async () => {
  model.release();
  model.takesMs = 15;
  model.maxAtOnce = 0;
  const before = model.calls.length;
  const ids: string[] = [];
  let going = true;
  const submitting = Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      while (going) ids.push(await submit(i % 2 === 0 ? a : b));
    }),
  );
  const some = (): Promise<unknown> => {
    const now = model.calls.length;
    return until(() => model.calls.length >= now + 25);
  };
  const d = await startNode('scheduler');
  await some();
  const e = await startNode('all');
  await some();
  await d.service.stop();
  await some();
  await e.service.stop();
  await some();
  // No node kept a slot when it stopped: all four can still be used at once.
  model.hold();
  await until(() => model.running === 4);
  model.release();
  going = false;
  await submitting;
  model.takesMs = 0;
  await drained();
  expect(model.maxAtOnce).toBe(4);
  const ran = model.calls.slice(before).map(({ id }) => id);
  expect(ran.toSorted()).toEqual(ids.toSorted());
  const outcomes = await a.service.query(
    `SELECT DISTINCT outcome, attempt FROM request WHERE id = ANY ($1)`,
    [ids],
  );
  expect(outcomes).toEqual([{ outcome: 'succeeded', attempt: 1 }]);
});

test('a stopping node requeues its unfinished runs, and another node runs them at their old positions', async () => {
  const leaving = await startNode('scheduler', { shutdownGraceMs: 0 });
  const share = `SELECT slots FROM slot_grant WHERE model_id = 'test/counted' ORDER BY slots`;
  await until(async () =>
    (await a.service.query<{ slots: number }>(share)).every(({ slots }) => slots === 2),
  );
  const ids = await fill();
  const behind = await submit(b);
  await leaving.service.stop();
  await until(() => ids.every((id) => model.times(id) > 0) && model.running === 4);
  expect(model.times(behind)).toBe(0);
  model.release();
  await drained();
  const stories = await a.service.query<{ story: string; n: number }>(
    `SELECT (SELECT string_agg(outcome, ' ' ORDER BY attempt) FROM attempt WHERE request_id = request.id) AS story,
            count(*)::int AS n
     FROM request WHERE id = ANY ($1) GROUP BY story ORDER BY story`,
    [[...ids, behind]],
  );
  expect(stories).toEqual([
    { story: 'returned succeeded', n: 2 },
    { story: 'succeeded', n: 3 },
  ]);
});

test('after all database connections are cut, no accepted request is lost and the nodes recover by themselves', async () => {
  await fill();
  const watched = await submit(a);
  const stream = await streamOf(b, watched);
  await until(() => stream.events.length > 0);
  const cut = (): Promise<unknown> =>
    a.service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  const accepted = [watched];
  const others = new Set<number>();
  const calling = Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      for (let n = 0; n < 40; n++) {
        const response = await (i % 2 === 0 ? a : b).service.submit('test/counted', {});
        const body = (await response.json()) as { request_id: string };
        if (response.status === 202) accepted.push(body.request_id);
        else others.add(response.status);
      }
    }),
  );
  for (let round = 0; round < 3; round++) {
    const so = accepted.length;
    await cut();
    await until(() => accepted.length > so + 5 || accepted.length > 140);
  }
  await calling;
  expect([...others].filter((code) => code !== 503)).toEqual([]);
  model.release();
  await until(() => stream.response.closed, {
    message: 'a stream hears of what was said while it was deaf',
  });
  if (stream.statuses().at(-1) !== 'COMPLETED') {
    const again = await streamOf(a, watched, stream.lastEventId);
    await again.ended;
    expect(again.statuses().at(-1)).toBe('COMPLETED');
  }
  await drained();
  const rows = await a.service.query(`SELECT DISTINCT state, outcome FROM request WHERE id = ANY ($1)`, [
    accepted,
  ]);
  expect(rows).toEqual([{ state: 'COMPLETED', outcome: 'succeeded' }]);

  await cut();
  const next = await until(() => submit(b), { message: 'submissions are taken again' });
  await until(() => model.times(next) === 1, { message: 'requests are run again' });
  await drained();
});
