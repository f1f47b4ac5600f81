import OpenAI, { APIError, BadRequestError, ConflictError, NotFoundError, toFile } from 'openai';
import { JsonThreads } from '../../src/json/json-threads.js';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import type { Call } from '../support/model-server.js';
import { openai } from '../support/servers/openai.js';
import { testQueue } from '../support/test-queue.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const at = (path: string, alias: string, more: object = {}): object => ({
  aliases: [alias],
  runner: { path, preset: 'openai' },
  ...more,
});
const prompt = { type: 'object', required: ['messages'] };

const { service, calls, model } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'], webhookAllow },
  models: {
    'acme/chat': at('/v1/chat/completions', 'gpt-4o-mini', { input_schema: prompt }),
    'acme/text': at('/v1/completions', 'gpt-3.5-turbo-instruct'),
    'acme/embed': at('/v1/embeddings', 'text-embedding-3-small'),
    'acme/image': at('/v1/images/generations', 'dall-e-3'),
    'acme/response': at('/v1/responses', 'gpt-5'),
    'acme/one': at('/v1/chat/completions', 'one-at-a-time', { concurrency: 1 }),
  },
});
const receiver = new WebhookReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());

/** What the model does with a call whose body has this text, in place of answering it. */
const scripts = new Map<string, (call: Call) => void>();
const refusal = { message: 'too long', type: 'BadRequestError', param: null, code: 400 };
const refuse = ({ response }: Call): void =>
  void response
    .writeHead(400, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: refusal }));
beforeAll(() => {
  model.respond = (call) => {
    const script = [...scripts].find(([said]) => call.body.includes(`"${said}"`))?.[1];
    (script ?? openai)(call);
  };
});

type Options = ConstructorParameters<typeof OpenAI>[0];
const clientOf = (options: Options = {}): OpenAI =>
  new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: service.key, ...options });
let client: OpenAI;
beforeAll(() => (client = clientOf()));

interface Line {
  id: string;
  custom_id: string;
  response: { status_code: number; request_id: string | null; body: unknown } | null;
  error: { code: string; message: string } | null;
}

/** A line of an input file. */
const line = (customId: string, body: object, url = '/v1/chat/completions'): object => ({
  custom_id: customId,
  method: 'POST',
  url,
  body,
});
const chat = (customId: string, content: string, name = 'gpt-4o-mini'): object =>
  line(customId, { model: name, messages: [{ role: 'user', content }] });

async function upload(lines: readonly unknown[], purpose: 'batch' | 'user_data' = 'batch'): Promise<string> {
  const text = lines.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');
  const file = await toFile(Buffer.from(text), 'lines.jsonl');
  return (await client.files.create({ file, purpose })).id;
}

type Terms = Partial<OpenAI.BatchCreateParams>;
async function begin(lines: readonly unknown[], terms: Terms = {}): Promise<OpenAI.Batch> {
  return client.batches.create({
    input_file_id: await upload(lines),
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...terms,
  });
}

const inStatus = (id: string, ...statuses: string[]): Promise<OpenAI.Batch> => {
  let last: OpenAI.Batch;
  return until(
    async () => {
      last = await client.batches.retrieve(id);
      return statuses.includes(last.status) && last;
    },
    { message: `the batch is ${statuses.join(' or ')}`, explain: () => last },
  );
};
const ended = (id: string): Promise<OpenAI.Batch> =>
  inStatus(id, 'completed', 'failed', 'expired', 'cancelled');

async function linesOf(fileId: string | null | undefined): Promise<Line[]> {
  if (fileId === null || fileId === undefined) return [];
  const text = await (await client.files.content(fileId)).text();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one) as Line);
}

const sorted = (lines: Line[]): Line[] =>
  lines.sort((one, other) => (one.custom_id < other.custom_id ? -1 : 1));

/** Returns the error with which a promise rejects. */
async function rejection<E extends Error>(
  promise: PromiseLike<unknown>,
  type: new (...args: never[]) => E,
): Promise<E> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  return error as E;
}

test('a batch answers each line, in the output file or in the error file', async () => {
  scripts.set('a refused line', refuse);
  const begun = await begin(
    [
      chat('first', 'one'),
      chat('second', 'a refused line'),
      line('third', { model: 'gpt-4o-mini', text: 'no messages' }),
      chat('a “name” with \u2028', 'by its id', 'acme/chat'),
    ],
    { metadata: { night: 'first' } },
  );
  expect(begun).toMatchObject({
    object: 'batch',
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    output_file_id: null,
    error_file_id: null,
    errors: null,
    metadata: { night: 'first' },
  });
  expect(begun.expires_at).toBe(begun.created_at + 86_400);
  const batch = await ended(begun.id);
  expect(batch).toMatchObject({
    id: begun.id,
    status: 'completed',
    input_file_id: begun.input_file_id,
    request_counts: { total: 4, completed: 2, failed: 2 },
    failed_at: null,
    expired_at: null,
    cancelled_at: null,
    metadata: { night: 'first' },
  });
  for (const time of [batch.in_progress_at, batch.finalizing_at, batch.completed_at])
    expect(time).toBeGreaterThanOrEqual(begun.created_at);

  const outputs = sorted(await linesOf(batch.output_file_id));
  expect(outputs).toEqual(
    [
      ['a “name” with \u2028', 'by its id', 'acme/chat'],
      ['first', 'one', 'gpt-4o-mini'],
    ].map(([customId, said, name]) => ({
      id: expect.stringMatching(/^batch_req_/) as string,
      custom_id: customId,
      response: {
        status_code: 200,
        request_id: expect.any(String) as string,
        body: expect.objectContaining({
          object: 'chat.completion',
          model: name,
          choices: [
            expect.objectContaining({ message: { role: 'assistant', content: `You said: ${said}` } }),
          ],
        }) as object,
      },
      error: null,
    })),
  );
  const requestId = outputs[0]!.response!.request_id!;
  expect(await service.query('SELECT model_id, priority FROM request WHERE id = $1', [requestId])).toEqual([
    { model_id: 'acme/chat', priority: 1 },
  ]);
  const [second, third] = sorted(await linesOf(batch.error_file_id));
  expect(second).toMatchObject({
    custom_id: 'second',
    response: { status_code: 400, body: { error: refusal } },
    error: null,
  });
  expect(third).toMatchObject({
    custom_id: 'third',
    response: { status_code: 400, request_id: null, body: { error: { type: 'invalid_request_error' } } },
    error: null,
  });
  for (const [id, purpose] of [
    [batch.output_file_id!, 'batch_output'],
    [batch.error_file_id!, 'batch_output'],
  ] as const) {
    const file = await client.files.retrieve(id);
    expect(file).toMatchObject({ id, object: 'file', purpose, status: 'processed' });
    expect(file.bytes).toBe((await (await client.files.content(id)).arrayBuffer()).byteLength);
    expect(await rejection(client.batches.cancel(batch.id), ConflictError)).toMatchObject({
      code: 'batch_ended',
      type: 'invalid_request_error',
    });
    expect(await rejection(client.files.delete(id), ConflictError)).toMatchObject({
      message: expect.stringContaining(`/v1/batches/${batch.id}`) as string,
    });
  }
});

test.each([
  ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'more' }, { object: 'text_completion' }],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: ['four'] }, { object: 'list' }],
  ['/v1/images/generations', { model: 'dall-e-3', prompt: 'a cat' }, { data: [{ url: expect.any(String) }] }],
  [
    '/v1/responses',
    { model: 'gpt-5', input: 'hello' },
    { object: 'response', status: 'completed', output: [{ content: [{ text: 'You said: hello' }] }] },
  ],
] as const)('a batch may be for %s', async (endpoint, body, answer) => {
  const { id } = await begin([line('one', body, endpoint)], { endpoint });
  const { status, output_file_id: output } = await ended(id);
  expect(status).toBe('completed');
  expect(await linesOf(output)).toMatchObject([
    { custom_id: 'one', response: { status_code: 200, body: answer } },
  ]);
});

test('a large response in a batch arrives complete, and a thread reads it', async () => {
  const threads = service.app.get(JsonThreads);
  const kinds: string[] = [];
  const run = threads.run.bind(threads);
  threads.run = (kind, ...others) => {
    kinds.push(kind);
    return run(kind, ...others);
  };
  const input = 'many words '.repeat(20_000);
  const endpoint = '/v1/responses';
  const { id } = await begin([line('one', { model: 'gpt-5', input }, endpoint)], { endpoint });
  expect(await linesOf((await ended(id)).output_file_id)).toMatchObject([
    { response: { body: { object: 'response', output: [{ content: [{ text: `You said: ${input}` }] }] } } },
  ]);
  threads.run = run;
  expect(kinds).toContain('openAi');
});

test.each([
  ['a custom_id that is there twice', [chat('a', 'unsent'), chat('a', 'unsent, too')], 2],
  ['a line that is not JSON', [chat('a', 'unsent'), '{"custom_id": "b"'], 2],
  ['a line for another call', [line('a', { model: 'gpt-4o-mini' }, '/v1/embeddings')], 1],
  ['a line with another method', [{ ...chat('a', 'unsent'), method: 'GET' }], 1],
  ['a line without a custom_id', [{ ...chat('a', 'unsent'), custom_id: undefined }], 1],
  ['a line without a body', [{ ...chat('a', 'unsent'), body: undefined }], 1],
  ['a stream', [line('a', { model: 'gpt-4o-mini', messages: [], stream: true })], 1],
  ['a model that is not there', [chat('a', 'unsent', 'gpt-9')], 1],
])('%s fails the batch before anything is submitted', async (_, lines, number) => {
  const batch = await ended((await begin(lines)).id);
  expect(batch).toMatchObject({
    status: 'failed',
    errors: {
      object: 'list',
      data: [{ line: number, code: expect.any(String), message: expect.any(String) }],
    },
    output_file_id: null,
    error_file_id: null,
    request_counts: { completed: 0, failed: 0 },
  });
  expect(batch.failed_at).toBeGreaterThanOrEqual(batch.created_at);
  expect(await service.query(`SELECT FROM request WHERE position('unsent' IN input::text) > 0`)).toEqual([]);
});

test('a response that continues another one fails the batch', async () => {
  const body = { model: 'gpt-5', input: 'unsent', previous_response_id: 'resp_1' };
  const { id } = await begin([line('a', body, '/v1/responses')], { endpoint: '/v1/responses' });
  const { status, errors } = await ended(id);
  expect([status, errors?.data?.[0]?.message]).toEqual([
    'failed',
    expect.stringContaining('"previous_response_id" is not served'),
  ]);
});

test('faults of lines have the codes of OpenAI', async () => {
  const codeOf = async (...lines: unknown[]): Promise<string | undefined> =>
    (await ended((await begin(lines)).id)).errors?.data?.[0]?.code;
  expect(await codeOf('no JSON')).toBe('invalid_json_line');
  expect(await codeOf(chat('a', 'x', 'gpt-9'))).toBe('model_not_found');
  expect(await codeOf(chat('a', 'x'), chat('a', 'y'))).toBe('duplicate_custom_id');
});

test('a running batch offers its results so far, and a cancelled batch has a result for each line', async () => {
  scripts.set('held', () => undefined);
  const lines = [chat('0', 'quick', 'one-at-a-time'), chat('1', 'held', 'one-at-a-time')];
  for (let n = 2; n < 6; n++) lines.push(chat(String(n), `later ${n}`, 'one-at-a-time'));
  const { id } = await begin(lines);
  const running = await until(
    async () => {
      const batch = await client.batches.retrieve(id);
      return batch.request_counts?.completed === 1 && batch;
    },
    { message: 'the first line has completed' },
  );
  expect(running).toMatchObject({ status: 'in_progress', request_counts: { total: 6, failed: 0 } });
  expect(await linesOf(running.output_file_id)).toMatchObject([{ custom_id: '0' }]);
  expect(running.error_file_id).toBeNull();
  await until(() => model.calls.some(({ body }) => body.includes('"held"')));
  const cancelling = await client.batches.cancel(id);
  expect(['cancelling', 'cancelled']).toContain(cancelling.status);
  const batch = await inStatus(id, 'cancelled');
  expect(batch.cancelled_at).toBeGreaterThanOrEqual(batch.cancelling_at!);
  expect(batch.request_counts).toEqual({ total: 6, completed: 1, failed: 5 });
  expect(await linesOf(batch.output_file_id)).toHaveLength(1);
  const errors = sorted(await linesOf(batch.error_file_id));
  expect(errors.map(({ custom_id: customId }) => customId)).toEqual(['1', '2', '3', '4', '5']);
  for (const { response, error } of errors)
    expect([response, error]).toEqual([
      null,
      { code: 'batch_cancelled', message: expect.any(String) as string },
    ]);
  expect(await client.batches.cancel(id)).toEqual(batch);
});

test('a batch that expires with its window has a result for each line', async () => {
  scripts.set('too long', () => undefined);
  const lines = ['a', 'b', 'c'].map((name) => chat(name, 'too long', 'one-at-a-time'));
  const { id } = await begin(lines, { completion_window: '2s' as '24h' });
  const batch = await ended(id);
  expect(batch).toMatchObject({ status: 'expired', request_counts: { total: 3, completed: 0, failed: 3 } });
  expect(batch.expired_at).toBeGreaterThanOrEqual(batch.expires_at!);
  const errors = await linesOf(batch.error_file_id);
  expect(errors.map(({ error }) => error?.code)).toEqual(Array(3).fill('batch_expired'));
});

test('batches are listed in pages, newest first, only to their own key', async () => {
  const key = await calls.newKey();
  const own = clientOf({ apiKey: key });
  const file = await own.files.create({
    file: await toFile(Buffer.from(JSON.stringify(chat('a', 'x'))), 'a.jsonl'),
    purpose: 'batch',
  });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { id } = await own.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    ids.unshift(id);
  }
  const page = await own.batches.list({ limit: 2 });
  expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const all: string[] = [];
  for await (const { id } of own.batches.list({ limit: 2 })) all.push(id);
  expect(all).toEqual(ids);
  const other = clientOf({ apiKey: await calls.newKey() });
  expect((await other.batches.list()).data).toEqual([]);
  for (const call of [
    () => other.batches.retrieve(ids[0]!),
    () => other.batches.cancel(ids[0]!),
    () => other.batches.list({ after: ids[0]! }),
    () => other.files.content(`${ids[0]}_output`),
    () => client.batches.retrieve('batch_none'),
  ])
    await rejection(call(), NotFoundError);
});

test('an invalid batch is refused in OpenAI’s form', async () => {
  const params = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  const input_file_id = await upload([chat('a', 'x')]);
  for (const [wrong, param] of [
    [{ endpoint: '/v1/moderations' }, 'endpoint'],
    [{ completion_window: 'soon' }, 'completion_window'],
    [{ input_file_id: 1 }, 'input_file_id'],
    [{ input_file_id: await upload([chat('a', 'x')], 'user_data') }, 'input_file_id'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ output_expires_after: { anchor: 'created_at', seconds: 1 } }, 'output_expires_after.seconds'],
    [{ output_expires_after: { anchor: 'now', seconds: 3_600 } }, 'output_expires_after.anchor'],
  ] as const) {
    const asked = { input_file_id, ...params, ...wrong } as unknown as OpenAI.BatchCreateParams;
    const error = await rejection(client.batches.create(asked), BadRequestError);
    expect([param, error.param, error.type]).toEqual([param, param, 'invalid_request_error']);
  }
  const missing = { ...params, input_file_id: '01a1fbb0-8cdf-7754-9773-e0650e0cecc1' };
  await rejection(client.batches.create(missing), NotFoundError);
  const reader = clientOf({ apiKey: await calls.newKey({ scopes: ['read'] }) });
  const refused = await rejection(reader.batches.create({ ...params, input_file_id }), APIError);
  expect(refused).toMatchObject({ status: 403, error: { type: 'invalid_request_error' } });
});

test('a call that the client repeats makes one batch', async () => {
  const input_file_id = await upload([chat('a', 'x')]);
  const params = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  let isFirst = true;
  const lossy: typeof fetch = async (...given) => {
    const answer = await fetch(...given);
    if (!isFirst) return answer;
    isFirst = false;
    throw new TypeError('the answer was lost');
  };
  const repeated = await clientOf({ fetch: lossy }).batches.create(params);
  const mine = async (): Promise<string[]> =>
    (await client.batches.list({ limit: 100 })).data
      .filter((one) => one.input_file_id === input_file_id)
      .map(({ id }) => id);
  expect(await mine()).toEqual([repeated.id]);
  const deliberate = await client.batches.create(params);
  expect(await mine()).toEqual([deliberate.id, repeated.id]);
  const headers = { 'Idempotency-Key': 'one-batch' };
  const keyed = await client.batches.create(params, { headers });
  expect(await client.batches.create(params, { headers })).toMatchObject({ id: keyed.id });
});

test('the files of a batch expire at the requested time', async () => {
  const { id } = await begin([chat('a', 'x')], {
    output_expires_after: { anchor: 'created_at', seconds: 3_600 },
  });
  const { output_file_id: output } = await ended(id);
  const file = await client.files.retrieve(output!);
  expect(file.expires_at).toBe(file.created_at + 3_600);
  await service.query(`UPDATE batch SET ended_at = ended_at - interval '2 hours' WHERE id = $1`, [id]);
  await rejection(client.files.content(output!), NotFoundError);
  await rejection(client.files.retrieve(output!), NotFoundError);
});

test('a webhook that the client verifies reports the end of a batch', async () => {
  const path = '/batch';
  const input_file_id = await upload([chat('a', 'x')]);
  const { id } = await client.batches.create(
    { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    { query: { webhook: receiver.url(path) } },
  );
  const [hook] = await receiver.arrived(path);
  const [row] = await service.query<{ key: string }>('SELECT api_key_id AS key FROM batch WHERE id = $1', [
    id,
  ]);
  const secret = await service.app.get(WebhookSecrets).secretOf(row!.key);
  const headers = new Headers(hook!.headers as unknown as Record<string, string>);
  const event = await client.webhooks.unwrap(hook!.body, headers, secret);
  expect(event).toMatchObject({ object: 'event', type: 'batch.completed', data: { id } });
  await expect(client.webhooks.unwrap(`${hook!.body} `, headers, secret)).rejects.toThrow();
});
