import { KeysService } from '../../src/auth/keys.service.js';
import type { Config } from '../../src/config/config.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import {
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
  until,
} from '../support/index.js';
import { CountingModel } from '../support/counting-model.js';
import { inParallel } from '../support/in-parallel.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { readStream, type Status } from '../support/stream-reader.js';

const key = 'a-key-that-all-nodes-know';
const counting = new CountingModel();
const chatty = new ModelServer();
const talks = new Map<string, Call>();
let database: TestDatabase;
let models: string;
/** A and B serve callers, C runs. */
let a: TestService, b: TestService, c: TestService;

const startNode = (role: Config['role'], config: Partial<Config> = {}): Promise<TestService> =>
  startTestService({
    limits: '1000/s',
    models,
    config: { databaseUrl: database.url, bootstrapApiKey: key, role, ...config },
  });

beforeAll(async () => {
  await Promise.all([counting.start(), chatty.start()]);
  chatty.answer = (call) => {
    call.response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    talks.set(String(call.headers['x-request-id']), call);
  };
  models = `models:
${counting.entry('test/counted')}
  - { id: test/chatty, runner: { kind: http, url: '${chatty.url}' }, concurrency: 2, timeout: 60s }
`;
  database = await createTestDatabase();
  [a, b, c] = await Promise.all([startNode('api'), startNode('api'), startNode('scheduler')]);
});
afterAll(async () => {
  counting.release();
  await Promise.all([a.stop(), b.stop(), c.stop()]);
  await Promise.all([counting.stop(), chatty.stop()]);
  await database.drop();
});

const submit = async (node: TestService, model = 'test/counted', input: unknown = {}): Promise<string> => {
  const response = await node.submit(model, input);
  expect(response.status).toBe(202);
  return ((await response.json()) as { request_id: string }).request_id;
};
const path = (id: string): string => `/v1/queue/requests/${id}`;
const status = async (node: TestService, id: string): Promise<Status> =>
  (await (await node.get(`${path(id)}/status`)).json()) as Status;
const streamOf = (node: TestService, id: string, lastEventId?: string) =>
  readStream(
    `${node.url}${path(id)}/status/stream?logs=1`,
    lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  );
const say = (id: string, line: object): void =>
  void talks.get(id)!.response.write(`${JSON.stringify(line)}\n`);
const fill = async (): Promise<string[]> => {
  counting.hold();
  const ids = await inParallel(4, Array.from({ length: 4 }), () => submit(a));
  await until(() => counting.running === 4);
  return ids;
};
const drained = (): Promise<unknown> =>
  until(async () => {
    const [left] = await a.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM request WHERE state <> 'COMPLETED'`,
    );
    return left!.n === 0;
  });

test('a request submitted on one node and run by another is followed on a third, from its place to its end', async () => {
  await fill();
  const id = await submit(a);
  const stream = await streamOf(b, id);
  // Node b hears a moment later that the four no longer wait.
  await until(() => stream.events.some(({ status: shown }) => shown.queue_position === 0));
  expect(stream.events[0]!.status.status).toBe('IN_QUEUE');
  counting.release();
  await stream.ended;
  // A run of a moment may have ended before the stream asks what its start has changed.
  expect(stream.statuses().join()).toMatch(/^(IN_QUEUE,)+(IN_PROGRESS,)?COMPLETED$/);
  for (const node of [a, b]) {
    expect(await (await node.get(path(id))).json()).toEqual({ done: id, attempt: 1 });
    expect(await status(node, id)).toMatchObject({ status: 'COMPLETED', success: true });
  }
  await drained();
});

test('positions agree on all nodes and with the database, whoever took the request', async () => {
  await fill();
  const ids = await inParallel(10, Array.from({ length: 60 }), (_, i) => submit(i % 2 === 0 ? a : b));
  await inParallel(
    5,
    ids.filter((_, i) => i % 9 === 4),
    (id) => b.put(`${path(id)}/cancel`),
  );
  const rows = await a.query<{ id: string; position: number }>(
    `SELECT request_id AS id, (row_number() OVER (ORDER BY priority, seq) - 1)::int AS position
     FROM queue_entry WHERE model_id = 'test/counted'`,
  );
  expect(rows).toHaveLength(53);
  for (const node of [a, b]) {
    await until(
      async () => {
        const shown = await inParallel(10, rows, async ({ id }) => (await status(node, id)).queue_position);
        return shown.every((position, i) => position === rows[i]!.position);
      },
      { message: 'every position on the node is the one that counting gives' },
    );
  }
  counting.release();
  await drained();
});

test('a cancel on one node stops the run on another and ends the stream on a third', async () => {
  const [id] = (await fill()) as [string];
  const stream = await streamOf(b, id);
  expect((await a.put(`${path(id)}/cancel`)).status).toBe(202);
  await stream.ended;
  expect(stream.events.at(-1)!.status).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
  expect((await b.get(path(id))).status).toBe(499);
  expect(counting.running).toBe(3);
  counting.release();
  await drained();
});

test('a stream carried from node to node by Last-Event-ID has no gap and no repetition', async () => {
  const id = await submit(a, 'test/chatty');
  await until(() => talks.has(id));
  const logs: string[] = [];
  let lastEventId: string | undefined;
  let lines = 0;
  for (let leg = 0; leg < 8; leg++) {
    const stream = await streamOf(leg % 2 === 0 ? a : b, id, lastEventId);
    for (let i = 0; i < 5; i++) say(id, { type: 'log', level: 'INFO', message: `line ${++lines}` });
    const seen = leg % 3;
    await until(() => stream.logs().length > seen);
    stream.drop();
    await stream.ended;
    logs.push(...stream.logs());
    lastEventId = stream.lastEventId;
  }
  const last = await streamOf(b, id, lastEventId);
  say(id, { type: 'output', output: 'done' });
  talks.get(id)!.response.end();
  await last.ended;
  logs.push(...last.logs());
  expect(logs).toEqual(Array.from({ length: lines }, (_, i) => `line ${i + 1}`));
  expect(last.statuses().at(-1)).toBe('COMPLETED');
  for (const node of [a, b]) {
    const again = await node.get(`${path(id)}/status/stream`, {
      headers: { 'last-event-id': last.lastEventId },
    });
    expect(again.status).toBe(204);
  }
});

test('while nodes join and leave, concurrency is never exceeded and every request runs once', async () => {
  counting.release();
  counting.takesMs = 15;
  counting.maxAtOnce = 0;
  const before = counting.arrivals.length;
  const ids: string[] = [];
  let going = true;
  const submitting = Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      while (going) ids.push(await submit(i % 2 === 0 ? a : b));
    }),
  );
  const some = (): Promise<unknown> => {
    const now = counting.arrivals.length;
    return until(() => counting.arrivals.length >= now + 25);
  };
  const d = await startNode('scheduler');
  await some();
  const e = await startNode('all');
  await some();
  await d.stop();
  await some();
  await e.stop();
  await some();
  // Nobody took a place along: all four can still be had at once.
  counting.hold();
  await until(() => counting.running === 4);
  counting.release();
  going = false;
  await submitting;
  counting.takesMs = 0;
  await drained();
  expect(counting.maxAtOnce).toBe(4);
  const ran = counting.arrivals.slice(before).map(({ id }) => id);
  expect(ran.toSorted()).toEqual(ids.toSorted());
  const outcomes = await a.query(`SELECT DISTINCT outcome, attempt FROM request WHERE id = ANY ($1)`, [ids]);
  expect(outcomes).toEqual([{ outcome: 'succeeded', attempt: 1 }]);
}, 60_000);

test('a node that stops hands back what it could not finish, and another runs it at its old place', async () => {
  const leaving = await startNode('scheduler', { shutdownGraceMs: 0 });
  const share = `SELECT slots FROM slot_grant WHERE model_id = 'test/counted' ORDER BY slots`;
  await until(async () => (await a.query<{ slots: number }>(share)).every(({ slots }) => slots === 2));
  const ids = await fill();
  const behind = await submit(b);
  await leaving.stop();
  await until(() => ids.every((id) => counting.times(id) > 0) && counting.running === 4);
  expect(counting.times(behind)).toBe(0);
  counting.release();
  await drained();
  const stories = await a.query<{ story: string; n: number }>(
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

test('a key revoked on one node is refused on the other within 5 seconds', async () => {
  const keys = a.app.get(KeysService);
  const authorization = `Key ${(await keys.create({ name: 'everywhere' })).reveal()}`;
  for (const node of [a, b]) {
    expect((await node.submit('test/counted', {}, { authorization })).status).toBe(202);
  }
  const { id } = (await keys.list()).find(({ name }) => name === 'everywhere')!;
  await keys.revoke(id);
  const isRefused = (node: TestService) => async () =>
    (await node.submit('test/counted', {}, { authorization })).status === 401;
  await Promise.all([a, b].map((node) => until(isRefused(node), { timeoutMs: 5_000 })));
});

test('a limit holds over two nodes that are asked at once', async () => {
  const rateLimitSubmit = parseRateLimits('10/h');
  const limited = await Promise.all([
    startNode('api', { rateLimitSubmit }),
    startNode('api', { rateLimitSubmit }),
  ]);
  const authorization = `Key ${(await limited[0].app.get(KeysService).create({ name: 'hasty' })).reveal()}`;
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => limited[i % 2]!.submit('test/counted', {}, { authorization })),
  );
  const statuses = answers.map((answer) => answer.status);
  expect(statuses.filter((code) => code === 202)).toHaveLength(10);
  expect(statuses.filter((code) => code === 403)).toHaveLength(50);
  await Promise.all(limited.map((node) => node.stop()));
});

test('when every connection to the database is cut, nothing accepted is lost and all goes on by itself', async () => {
  await fill();
  const watched = await submit(a);
  const stream = await streamOf(b, watched);
  await until(() => stream.events.length > 0);
  const cut = (): Promise<unknown> =>
    a.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  const accepted = [watched];
  const others = new Set<number>();
  const calling = Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      for (let n = 0; n < 40; n++) {
        const response = await (i % 2 === 0 ? a : b).submit('test/counted', {});
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
  counting.release();
  let ended = false;
  void stream.ended.then(() => (ended = true));
  await until(() => ended, {
    timeoutMs: 10_000,
    message: 'a stream hears of what was said while it was deaf',
  });
  if (stream.statuses().at(-1) !== 'COMPLETED') {
    const again = await streamOf(a, watched, stream.lastEventId);
    await again.ended;
    expect(again.statuses().at(-1)).toBe('COMPLETED');
  }
  await drained();
  const rows = await a.query(`SELECT DISTINCT state, outcome FROM request WHERE id = ANY ($1)`, [accepted]);
  expect(rows).toEqual([{ state: 'COMPLETED', outcome: 'succeeded' }]);

  await cut();
  const next = await until(() => submit(b), { timeoutMs: 10_000, message: 'submissions are taken again' });
  await until(() => counting.times(next) === 1, { timeoutMs: 10_000, message: 'requests are run again' });
  await drained();
}, 60_000);
