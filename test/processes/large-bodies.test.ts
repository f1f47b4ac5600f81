import { gzipSync } from 'node:zlib';
import { BatchValidation } from '../../src/batches/batch-validation.js';
import { DomainError } from '../../src/errors/domain-error.js';
import { JsonThreads, jobBounds } from '../../src/json/json-threads.js';
import { BatchCalls, type BatchView } from '../support/batch-calls.js';
import type { Call } from '../support/model-server.js';
import { type BatchResult, CollectionCalls } from '../support/collection-calls.js';
import { onNextCall } from '../support/on-next-call.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';
import { WorkerCalls } from '../support/worker-calls.js';

/** A pattern that no engine matches in a time that is linear in the length of the text. */
const endless = '^(?!x)(\\w+\\s?)*$';
const { service, calls, model } = testQueue({
  models: {
    'test/any': {},
    'test/typed': {
      input_schema: {
        type: 'object',
        properties: { width: { type: 'integer' }, list: { items: { type: 'object' } } },
      },
    },
    'test/endless': { input_schema: { properties: { text: { type: 'string', pattern: endless } } } },
    'test/linear': { input_schema: { properties: { text: { type: 'string', pattern: '^(\\w+\\s?)*$' } } } },
    'test/pulled': { runner: { kind: 'worker' } },
  },
  limits: '10000/s',
});
const collection = new CollectionCalls(service);
const threads = (): JsonThreads => service.app.get(JsonThreads);
const hostile = { text: `${'a'.repeat(40)}!` };
/** More than the service reads between two calls. */
const padding = ' '.repeat(70_000);

afterEach(() => Object.assign(threads().bounds, jobBounds));

async function stored(id: string): Promise<string> {
  const [row] = await service.query<{ input: string }>('SELECT input::text FROM request WHERE id = $1', [id]);
  return row!.input;
}

const submit = (id: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/v1/queue/${id}`, {
    method: 'POST',
    headers: { ...keyHeader(service.key), ...headers },
    body: body as string,
  });

const accepted = async (response: Response): Promise<string> => {
  expect(response.status).toBe(202);
  return ((await response.json()) as { request_id: string }).request_id;
};

describe('a large input', () => {
  test('is stored as it was written', async () => {
    const text = `{"n":123456789012345678901234567890, "e":1.0e2,"é":"\\u00e9"${padding}}`;
    expect(await stored(await accepted(await submit('test/any', text)))).toBe(text);
    expect(await stored(await accepted(await submit('test/any', `\uFEFF${text}`)))).toBe(text);
  });

  test.each([
    ['that is no UTF-8', Buffer.from([...Buffer.from(`{"a":"${padding}`), 0xff, 0x22, 0x7d]), 'invalid_json'],
    ['that is no JSON', `{"a":1,}${padding}`, 'invalid_json'],
    ['that is no object', `[${padding}]`, 'invalid_json'],
    ['that is deep', `{"a":${'['.repeat(300)}${']'.repeat(300)}${padding}}`, 'invalid_input'],
    ['that cannot be stored', `{"a":"\\u0000"${padding}}`, 'invalid_input'],
    ['that does not fit the schema', `{"width":"wide"${padding}}`, 'invalid_input'],
  ])('%s is refused as a small one is', async (_, body, code) => {
    const problem = await problemOf(await submit('test/typed', body));
    const small =
      typeof body === 'string'
        ? body.replace(padding, '')
        : Buffer.from(body.toString('latin1').replace(padding, ''), 'latin1');
    const same = await problemOf(await submit('test/typed', small));
    expect(problem.code).toBe(code);
    expect([problem.detail, problem.errors]).toEqual([same.detail, same.errors]);
  });

  test('is replayed under its idempotency key, and a changed input under that key is refused', async () => {
    const headers = { 'idempotency-key': 'large-1' };
    const id = await accepted(await submit('test/any', `{"a":1${padding}}`, headers));
    const again = await submit('test/any', `{"a":1${padding}}`, headers);
    expect([again.headers.get('idempotent-replayed'), await accepted(again)]).toEqual(['true', id]);
    expect(await verdict(submit('test/any', `{"a":2${padding}}`, headers))).toEqual([
      422,
      'idempotency_key_reused',
    ]);
    // A small and a large body have fingerprints of one kind.
    const small = { 'idempotency-key': 'small-1' };
    await accepted(await submit('test/endless', '{"text":"a"}', small));
    expect((await submit('test/endless', '{"text":"a"}', small)).headers.get('idempotent-replayed')).toBe(
      'true',
    );
  });

  test('has at most a million values, compressed or not', async () => {
    const body = `{"a":[${'{},'.repeat(1_000_000)}{}]}`;
    const problem = await problemOf(await submit('test/any', body));
    expect(problem).toMatchObject({
      status: 413,
      code: 'too_large',
      detail: expect.stringContaining('1,000,000'),
    });
    const zipped = await submit('test/any', gzipSync(body), { 'content-encoding': 'gzip' });
    expect(await verdict(zipped)).toEqual([413, 'too_large']);
    await accepted(await submit('test/any', `{"a":[${'1,'.repeat(900_000)}1]}`));
  });
});

describe('a large batch', () => {
  test('submits its valid entries, with the inputs as they were written', async () => {
    const inputs = ['{"n":1.10}', '{ "é" : [1, 2 ] }', `{"a":"${'x'.repeat(80_000)}"}`];
    const entry = (input: string, more = ''): string => `{"input":${input},"model_id":"test/typed"${more}}`;
    const body = `{"requests":[${[
      entry(inputs[0]!, ',"tag":"job:1"'),
      entry('{"width":"wide"}'),
      entry(inputs[1]!),
      '7',
      '{"input":{}}',
      entry('[1]'),
      entry('{}', ',"prority":"high"'),
      '{"input":{},"model_id":"test/none"}',
      entry(inputs[2]!),
      entry('{}', `,"webhook":"${'x'.repeat(20_000)}"`),
    ].join(',')}]}`;
    const answer = await collection.call('POST', '', body);
    const { results } = (await answer.json()) as { results: BatchResult[] };
    expect(results.map(({ status, code }) => code ?? status)).toEqual([
      202,
      'invalid_input',
      202,
      'bad_request',
      'bad_request',
      'invalid_json',
      'invalid_query',
      'unknown_model',
      202,
      'too_large',
    ]);
    expect(results[1]!.errors).toEqual([{ path: '/width', message: 'must be an integer' }]);
    const ids = results.flatMap(({ request_id: id }) => id ?? []);
    expect(await Promise.all(ids.map(stored))).toEqual(inputs);
  });

  test.each([
    [`{"requests":[],"a":1${padding}}`, 400, 'invalid_query'],
    [`{"request":[]${padding}}`, 400, 'invalid_query'],
    [`{"requests":[]${padding}}`, 400, 'bad_request'],
    [`{"requests":[${'{},'.repeat(1_000_000)}{}]}`, 413, 'too_large'],
  ])('that is invalid is refused (%#)', async (body, status, code) =>
    expect(await verdict(collection.call('POST', '', body))).toEqual([status, code]),
  );
});

test.each([
  ['POST', '/status', '{"request_ids":["x"],"more":[' + '{},'.repeat(30_000) + '{}]}', 'too_large'],
  ['POST', '/cancel', '{"request_ids":["x"],"more":[' + '{},'.repeat(30_000) + '{}]}', 'too_large'],
  ['POST', '/status', `{"request_ids":["x"]${' '.repeat(1_100_000)}}`, 'body_too_large'],
])('a call with a list of ids accepts no more than ids need (%#)', async (method, path, body, code) =>
  expect(await verdict(collection.call(method, path, body))).toEqual([413, code]),
);

describe('a large line of a batch', () => {
  const batches = new BatchCalls(service);
  let kinds: string[];
  let areAway: boolean;
  beforeEach(() => {
    kinds = [];
    areAway = false;
    const run = threads().run.bind(threads()) as (...values: unknown[]) => Promise<never>;
    threads().run = (...values) => {
      kinds.push(values[0]);
      return areAway ? Promise.reject(new DomainError('unavailable', 'No thread.')) : run(...values);
    };
  });
  afterEach(() => void delete (threads() as Partial<JsonThreads>).run);

  const line = (name: string, input: string): string => `{"custom_id":"${name}","input":${input}}`;

  test('is read in a thread and stored as it was written, and a small one needs no thread', async () => {
    const large = `{ "n": 12345678901234567890.10, "a": "${'é'.repeat(50_000)}" }`;
    const text = [line('small', '{}'), line('large', large), line('other', '{"n":1}')].join('\n');
    const { batch_id: id } = await batches.send(text, '?model_id=test/any');
    const batch = await batches.ended(id);
    expect(batch.counts).toMatchObject({ total: 3, completed: 3 });
    const { output } = await batches.results(batch);
    const [found] = output.filter(({ custom_id }) => custom_id === 'large');
    expect(await stored(found!.request_id!)).toBe(large);
    // Once to check the file, and once to submit the line. Then its input is checked.
    expect(kinds).toEqual(['line', 'line', 'input']);
  });

  test.each([
    ['that is no JSON', `{"custom_id":"a","input":{"a":1,}${padding}}`],
    ['that is no UTF-8', Buffer.from(`{"custom_id":"é","input":{}${padding}}`, 'latin1')],
    ['with another member', `{"custom_id":"a","input":{},"more":"${'x'.repeat(70_000)}"}`],
    ['without an input', `{"custom_id":"a"${padding}}`],
    ['without a custom_id', `{"input":{}${padding}}`],
    ['for a model that is not there', `{"custom_id":"a","model_id":"test/none","input":{}${padding}}`],
  ])('%s fails the batch as a small one does', async (_, text) => {
    const faultsOf = async (bytes: string | Buffer): Promise<BatchView['errors']> => {
      const { batch_id: id } = await batches.send(bytes as string, '?model_id=test/any');
      const { status, errors } = await batches.ended(id);
      expect([status, errors.length]).toEqual(['failed', 1]);
      return errors;
    };
    const shortened = (long: string): string => long.replace(/ {70000}|x{70000}/, '');
    const small =
      typeof text === 'string' ? shortened(text) : Buffer.from(shortened(text.toString('latin1')), 'latin1');
    expect(await faultsOf(text)).toEqual(await faultsOf(small));
    expect(kinds).toEqual(['line']);
  });

  test('that does not match the schema becomes an error line', async () => {
    const text = line('large', `{"width":"wide"${padding}}`);
    const { batch_id: id } = await batches.send(text, '?model_id=test/typed');
    const { errors } = await batches.results(await batches.ended(id));
    expect(errors).toMatchObject([{ custom_id: 'large', error: { code: 'invalid_input' } }]);
  });

  test('waits while no thread can read it, and the lines before it run', async () => {
    const text = [line('small', '{}'), line('large', `{"a":1${padding}}`)].join('\n');
    onNextCall(service.app.get(BatchValidation), 'run', (validate) => async (...values) => {
      const found = await validate(...values);
      areAway = true;
      return found;
    });
    const { batch_id: id } = await batches.send(text, '?model_id=test/any');
    await batches.until(id, ({ counts }) => counts.completed === 1);
    areAway = false;
    const batch = await batches.ended(id);
    expect(batch.counts).toMatchObject({ total: 2, completed: 2, failed: 0 });
  });
});

describe('a schema check that takes long', () => {
  test('delays neither small calls nor large calls of another key, and ends at its limit', async () => {
    threads().bounds.checking = 600_000;
    let isAnswered = false;
    const slow = service.submit('test/endless', hostile).finally(() => (isAnswered = true));
    const behind = service.submit('test/endless', { text: 'fine' });
    await until(() => threads().load.running === 1 && threads().load.waiting === 1);
    for (let i = 0; i < 20; i++) {
      const id = await calls.submit('test/linear', { text: `${'a '.repeat(500)}!`.slice(0, -1) });
      await calls.status(id);
    }
    const other = keyHeader(await calls.newKey());
    await accepted(await submit('test/typed', `{"width":1${padding}}`, other));
    expect(isAnswered).toBe(false);
    threads().bounds.checking = 0;
    const problem = await problemOf(await slow);
    expect(problem).toMatchObject({ status: 422, code: 'invalid_input' });
    expect(problem.detail).toContain("takes too long to check against the model's schema");
    threads().bounds.checking = jobBounds.checking;
    // The body that waited behind it goes on in a new thread.
    await accepted(await behind);
  });

  test('does not occur if a pattern can be matched in linear time', async () => {
    expect(await verdict(service.submit('test/linear', hostile))).toEqual([422, 'invalid_input']);
    await calls.submit('test/linear', { text: 'a'.repeat(50_000) });
  });

  test('in a batch of submissions refuses the batch', async () => {
    threads().bounds.checking = 0;
    const body = JSON.stringify({ requests: [{ model_id: 'test/endless', input: hostile }] });
    expect(await verdict(collection.call('POST', '', body))).toEqual([422, 'invalid_input']);
  });
});

test('a body that takes too much memory is refused, and the next one is accepted', async () => {
  const limits = { ...threads().limits };
  // Existing threads have the shipped limits.
  await Promise.all([...threads().running].map((thread) => thread.end(new Error('the test ends it'))));
  threads().limits.maxOldGenerationSizeMb = 16;
  const list = Array.from({ length: 200_000 }, (_, at) => ({ [`name${at}`]: at }));
  expect(await verdict(submit('test/typed', JSON.stringify({ list })))).toEqual([413, 'too_large']);
  Object.assign(threads().limits, limits);
  await accepted(await submit('test/typed', `{"width":1${padding}}`));
});

describe('a large answer of a model', () => {
  const long = `"${'é'.repeat(100_000)}"`;
  const answering = (type: string, text: string | Buffer) => {
    model.respond = ({ response }: Call): void =>
      void response.writeHead(200, { 'content-type': type }).end(text);
    return calls.run('test/any');
  };
  const { respond } = model;
  afterAll(() => (model.respond = respond));

  test('becomes the output as it was written', async () => {
    const output = `{ "n": 1.10, "a": ${long} }`;
    expect(await (await calls.response(await answering('application/json', output))).text()).toBe(output);
    expect(await (await calls.response(await answering('application/json', `\uFEFF${output}`))).text()).toBe(
      output,
    );
  });

  test('becomes the output as it was written in an NDJSON line', async () => {
    const lines = `{"type":"log","message":${long}}\n{"output": { "n": 1.10, "a": ${long} } ,"type":"output"}\n`;
    const id = await answering('application/x-ndjson', lines);
    expect(await (await calls.response(id)).text()).toBe(`{ "n": 1.10, "a": ${long} }`);
  });

  test('may have more than a million values', async () => {
    const output = `[${'{},'.repeat(2_000_000)}{}]`;
    const answer = await calls.response(await answering('application/json', output));
    expect((await answer.text()).length).toBe(output.length);
  });

  test.each([
    ['application/json', `{"a":${long}`, 'cannot be read as JSON'],
    ['application/json', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'cannot be read as JSON'],
    ['application/json', Buffer.alloc(100_000, 0xff), 'not UTF-8'],
    ['application/x-ndjson', `{"type":"output","output":${long}\n`, 'a line that is not a JSON object'],
    ['application/x-ndjson', `{"type":"delta","delta":${long}}\n`, 'a delta larger than'],
  ])('of the type %s that is invalid fails the request (%#)', async (type, text, fault) => {
    const problem = await problemOf(await calls.response(await answering(type, text)));
    expect([problem.code, problem.detail]).toEqual(['model_error', expect.stringContaining(fault)]);
  });
});

describe('the calls of a worker', () => {
  let worker: WorkerCalls;
  const begin = async () => {
    worker = new WorkerCalls(service);
    await calls.submit('test/pulled');
    return worker.run();
  };

  test('accept a large output as it was written', async () => {
    const run = await begin();
    const output = `{ "n": 1.10, "a": "${'é'.repeat(100_000)}" }`;
    expect(await verdict(worker.ofRun('PUT', run, 'output', output.slice(1)))).toEqual([400, 'invalid_json']);
    expect((await worker.ofRun('PUT', run, 'output', output)).status).toBe(200);
    expect(await (await calls.response(run.request_id)).text()).toBe(output);
  });

  test('accept a large event, but not more than 20,000 events at once', async () => {
    const run = await begin();
    const message = 'é'.repeat(100_000);
    expect((await worker.events(run, 0, [{ type: 'log', message }])).status).toBe(202);
    const { logs } = await calls.status(run.request_id, '?logs=1');
    expect(logs![0]!.message).toBe(`${'é'.repeat(8_192)}…`);
    const lines = '{"type":"progress","value":1}\n'.repeat(20_001);
    expect(await verdict(worker.ofRun('POST', run, 'events?from=1', lines))).toEqual([413, 'too_large']);
    await worker.output(run);
  });
});
