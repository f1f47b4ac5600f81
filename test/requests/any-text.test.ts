import fc from 'fast-check';
import { isStorable } from '../../src/tools/storable-text.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { until } from '../support/index.js';
import { ndjson } from '../support/model-server.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { type Hook, WebhookReceiver } from '../support/webhook-receiver.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls, model } = testQueue({
  limits: 'off',
  config: { webhookAllow },
  models: { 'test/any': { concurrency: 8 }, 'test/pulled': { ...pulled, attempts: 1 } },
});
const collection = new CollectionCalls(service);
const receiver = new WebhookReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());

/** Characters that PostgreSQL cannot store, texts that look like them, and the parts that they consist of. */
const unit = fc.constantFrom('\0', '\ud83d', '\ude00', '\ufffd', '\\', 'u0000', '"', 'a', 'é', '😀', '\n');
const text = fc.string({ unit, minLength: 1, maxLength: 12 });
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

interface Said {
  type: string;
  [member: string]: unknown;
}

/** Events that runs emit while they go on. */
const event: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ type: fc.constant('log'), message: value, level: text, source: text }),
  fc.record({ type: fc.constant('progress'), value: fc.constant(0.5), message: value }),
  fc.record({ type: fc.constant('delta'), delta: value }),
);
const events = fc.array(event, { maxLength: 6 });
const end: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ type: fc.constant('output'), output: value }),
  fc.record({ type: fc.constant('error'), message: value }),
);

/** An answer of a model, as its status, content type and body. */
type Answer = [number, string, string | Buffer];
const jsonType = 'application/json';
const answer: fc.Arbitrary<Answer> = fc.oneof(
  value.map((output): Answer => [200, jsonType, JSON.stringify(output)]),
  fc.tuple(events, end).map(([said, last]): Answer => [200, 'application/x-ndjson', ndjson([...said, last])]),
  fc
    .array(
      text.map((delta) => ({ type: 'delta', delta })),
      { minLength: 1, maxLength: 6 },
    )
    .map((deltas): Answer => [200, 'application/x-ndjson', ndjson(deltas)]),
  value.map((details): Answer => [422, jsonType, JSON.stringify(details)]),
  value.map((message): Answer => [500, jsonType, JSON.stringify({ error: { message } })]),
  fc
    .tuple(fc.constantFrom(422, 500), fc.uint8Array({ minLength: 1, maxLength: 20 }))
    .map(([status, bytes]): Answer => [status, 'text/plain', Buffer.from([...bytes, 0, 0xf0, 0x9f])]),
  fc
    .constantFrom('text/\xff', 'image/p\xffng', 'application/octet-stream; x="\xff"')
    .map((type): Answer => [200, type, 'a\0b']),
);

interface Work {
  said: Said[];
  output?: unknown;
  failure?: object;
}
const work: fc.Arbitrary<Work> = fc.oneof(
  fc.record({ said: events, output: value }),
  fc.record({
    said: events,
    failure: fc.record({ message: text, details: value, status: fc.constantFrom(400, 422, undefined) }),
  }),
);

const seed = 20_261;
const answers = fc.sample(answer, { seed, numRuns: 50 });
const works = fc.sample(work, { seed, numRuns: 25 });

/** Checks a body of JSON, or of events or lines of JSON. */
function expectClean(body: string): void {
  const values = body
    .split('\n')
    .map((line) => line.replace(/^data: /, ''))
    .filter((line) => /^[{["]/.test(line));
  for (const one of values) expect(leaves(JSON.parse(one)).filter((leaf) => !isStorable(leaf))).toEqual([]);
  expect(body).not.toContain('\0');
}

function leaves(of: unknown): string[] {
  if (typeof of === 'string') return [of];
  if (typeof of !== 'object' || of === null) return [];
  return Object.entries(of).flatMap(([name, below]) => [name, ...leaves(below)]);
}

async function read(path: string): Promise<number> {
  const response = await service.get(path, { headers: keyHeader(service.key) });
  const body = await response.text();
  const isModels = /"code":"(model_error|model_unavailable)"/.test(body);
  if (response.status >= 500 && !isModels) throw new Error(`${path} → ${response.status} ${body}`);
  expectClean(body);
  return response.status;
}

describe(`with arbitrary texts from models and workers (seed ${seed})`, () => {
  const ids: string[] = [];
  const hook = (): string => `tag=any:text&webhook=${encodeURIComponent(receiver.url())}`;
  const beginning = Buffer.from('a\0😀'.repeat(300)).subarray(1);

  beforeAll(() => {
    receiver.answer = ({ response }) => void response.writeHead(200).end(beginning);
  });

  test('every answer of a model is accepted', async () => {
    model.respond = ({ body, response }) => {
      const [status, type, said] = answers[(JSON.parse(body) as { n: number }).n]!;
      response.writeHead(status, { 'content-type': type }).end(said);
    };
    const some = await inParallel(8, [...answers.keys()], (n) => calls.submit(`test/any?${hook()}`, { n }));
    await inParallel(8, some, (id) => calls.reached(id, 'COMPLETED'));
    ids.push(...some);
  });

  test('every event, output and failure of a worker is accepted', async () => {
    const worker = new WorkerCalls(service);
    for (const { said, output, failure } of works) {
      const id = await calls.submit(`test/pulled?${hook()}`);
      const run = await worker.run();
      const told = await worker.events(run, 0, said);
      const ended =
        failure === undefined ? await worker.output(run, output) : await worker.failure(run, failure);
      expect([run.request_id, told.status, ended.status]).toEqual([id, 202, 200]);
      ids.push(id);
    }
  });

  test.each(['/status?logs=1', '', '?logs=1', '/status/stream?logs=1', '/output/stream', '/deliveries'])(
    'each request can be read at %j',
    (path) => inParallel(8, ids, (id) => read(calls.path(id) + path)),
  );

  test.each(['', '/status', '/events', '/log', '/response', '/deliveries'])(
    'operators can read each request at %j',
    (path) => inParallel(8, ids, (id) => read(`/v1/admin/requests/${id}${path}`)),
  );

  test.each([
    ...['', 'outcome=failed', 'outcome=succeeded', 'code=model_error&outcome=failed'].map(
      (query) => `admin/requests?tag=any:text&limit=100&${query}`,
    ),
    ...['', '&outcome=failed'].map((query) => `queue/requests?tag=any:text&limit=100${query}`),
    ...['deliveries', 'webhooks', 'workers', 'nodes', 'models', 'operations'].map((path) => `admin/${path}`),
  ])('the list %s can be read', async (path) => expect(await read(`/v1/${path}`)).toBe(200));

  test('each request is sent to its webhook', async () => {
    const idOf = ({ body }: Hook): string => (JSON.parse(body) as { request_id: string }).request_id;
    await until(() => new Set(receiver.hooks.map(idOf)).size === ids.length);
    for (const { body } of receiver.hooks) expectClean(body);
  });

  test('every view and JSON column can be queried', async () => {
    const views = await service.query<{ name: string }>(
      `SELECT viewname AS name FROM pg_views WHERE schemaname = 'public'`,
    );
    expect(views.length).toBeGreaterThan(5);
    for (const { name } of views) await service.query(`SELECT * FROM ${name}`);
    await service.query(
      `SELECT output::jsonb, error::jsonb, error ->> 'details' AS details, error -> 'message' AS message FROM request`,
    );
    await service.query('SELECT delta::jsonb FROM output_delta');
  });

  test('each request can be erased, by itself or by an operation', async () => {
    const single = ids.filter((_, n) => n % 2 === 0);
    const statuses = await inParallel(8, single, async (id) => (await collection.erase(id)).status);
    expect(new Set(statuses)).toEqual(new Set([204]));
    const started = await fetch(`${service.url}/v1/admin/operations`, {
      method: 'POST',
      headers: keyHeader(service.key),
      body: JSON.stringify({ action: 'erase', filter: { tag: 'any:text' } }),
    });
    const { id } = (await started.json()) as { id: string };
    const counts = await until(async () => {
      const [row] = await service.query<{ state: string }>(
        'SELECT state, done, failed FROM operation WHERE id = $1',
        [id],
      );
      return row!.state === 'done' && row!;
    });
    expect(counts).toEqual({ state: 'done', done: ids.length - single.length, failed: 0 });
  });
});

test('a character split between two deltas is whole in the output, and an incomplete one is U+FFFD', async () => {
  const said = ['a\ud83d', '\ude00b', '\ud83d'].map((delta) => ({ type: 'delta', delta }));
  model.respond = ({ response }) =>
    void response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(ndjson(said));
  const output = await (await calls.response(await calls.submit('test/any'))).json();
  expect(output).toBe('a😀b\ufffd');
});
