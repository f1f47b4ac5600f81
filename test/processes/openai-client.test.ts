import { createHash } from 'node:crypto';
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  toFile,
} from 'openai';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { JsonThreads } from '../../src/json/json-threads.js';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import type { Call } from '../support/model-server.js';
import { openai, png, sendResponseEvents } from '../support/servers/openai.js';
import { testQueue } from '../support/test-queue.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const at = (path: string, alias: string, more: object = {}): object => ({
  aliases: [alias],
  runner: { path, preset: 'openai' },
  ...more,
});
const prompt = { type: 'object', required: ['messages'], properties: { n: { type: 'integer' } } };

const { service, calls, model } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'], webhookAllow },
  models: {
    'acme/chat': at('/v1/chat/completions', 'gpt-4o-mini', { input_schema: prompt }),
    'acme/twice': at('/v1/chat/completions', 'twice', {
      attempts: 2,
      retry: { base: '1ms' },
      circuit: 'off',
    }),
    'acme/patient': at('/v1/chat/completions', 'patient', {
      attempts: 2,
      retry: { base: '1m', cap: '1m' },
      circuit: 'off',
    }),
    'acme/chunks': {
      runner: {
        path: '/v1/chat/completions',
        preset: 'openai',
        response: { delta: '$', chunks: false },
      },
    },
    'acme/texts': {
      runner: { path: '/v1/chat/completions', preset: 'openai', response: { chunks: false } },
    },
    'acme/counted': {
      aliases: ['counted'],
      runner: {
        path: '/v1/chat/completions',
        preset: 'openai',
        request: { set: { stream_options: { include_usage: true } } },
      },
    },
    'acme/text': at('/v1/completions', 'gpt-3.5-turbo-instruct'),
    'acme/embed': at('/v1/embeddings', 'text-embedding-3-small'),
    'acme/image': at('/v1/images/generations', 'dall-e-3'),
    'acme/gpt-image': at('/v1/images/generations', 'gpt-image-1'),
    'acme/speech': at('/v1/audio/speech', 'tts-1'),
    'acme/whisper': at('/v1/audio/transcriptions', 'whisper-1'),
    'acme/response': at('/v1/responses', 'gpt-5'),
    'acme/slow': { concurrency: 1 },
  },
});
const receiver = new WebhookReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());

/** What the model does with a call whose last message is this text, in place of answering it. */
const scripts = new Map<string, (call: Call) => void>();
const hold = (): void => undefined;
beforeAll(() => {
  const play = model.respond;
  model.respond = (call) => {
    if (!call.url.startsWith('/v1/')) return play(call);
    const script = [...scripts].find(([said]) => call.body.includes(`"${said}"`))?.[1];
    (script ?? openai)(call);
  };
});

type Options = ConstructorParameters<typeof OpenAI>[0];
const clientOf = (options: Options = {}): OpenAI =>
  new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: service.key, ...options });
let client: OpenAI;
beforeAll(() => (client = clientOf()));

const messages = (content: string): [{ role: 'user'; content: string }] => [{ role: 'user', content }];
const ask = (content: string): { model: string; messages: ReturnType<typeof messages> } => ({
  model: 'gpt-4o-mini',
  messages: messages(content),
});

/** The ids of the requests whose input contains this text. */
const idsOf = async (said: string): Promise<string[]> => {
  const text = `SELECT id FROM request WHERE position($1 IN input::text) > 0 ORDER BY id`;
  return (await service.query<{ id: string }>(text, [said])).map(({ id }) => id);
};
const idOf = (said: string): Promise<string> =>
  until(async () => (await idsOf(said))[0], { message: `the request "${said}" is there` });

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

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

describe('a chat', () => {
  test('is answered by the model that its alias names', async () => {
    const answer = await client.chat.completions.create(ask('hello'));
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'gpt-4o-mini',
      choices: [{ message: { role: 'assistant', content: 'You said: hello' }, finish_reason: 'stop' }],
      usage: { total_tokens: 8 },
    });
    const rows = await service.query('SELECT model_id, adapter FROM request WHERE id = $1', [
      await idOf('hello'),
    ]);
    expect(rows).toEqual([{ model_id: 'acme/chat', adapter: 'openai' }]);
  });

  test('may be long, and its Location is the status of the request', async () => {
    const long = 'a long story '.repeat(20_000);
    const { data, response } = await client.chat.completions.create(ask(long)).withResponse();
    expect(data.choices[0]!.message.content).toBe(`You said: ${long}`);
    const status = await service.get(response.headers.get('location')!);
    expect(await status.json()).toMatchObject({ status: 'COMPLETED', model_id: 'acme/chat' });
  });

  test('may name the id of its model', async () => {
    const answer = await client.chat.completions.create({ ...ask('by id'), model: 'acme/chat' });
    expect(answer.choices[0]!.message.content).toBe('You said: by id');
  });

  /** The chunks of a chat, as its client reads them. */
  async function chunksOf(
    asked: Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'stream'>,
  ): Promise<OpenAI.ChatCompletionChunk[]> {
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const one of await client.chat.completions.create({ ...asked, stream: true }))
      chunks.push(one);
    return chunks;
  }

  /** Plays a stream of these chunks, each with this head, in place of the model's own. */
  function playChunks(said: string, chunks: readonly object[]): void {
    scripts.set(said, ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const one of chunks) response.write(`data: ${JSON.stringify(one)}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  }

  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];

  test('streams the chunks of its model unchanged: texts, finish reasons and usage', async () => {
    const asked = { ...ask('three little words'), stream_options: { include_usage: true } };
    const chunks = await chunksOf(asked);
    const id = await idOf('three little words');
    const head = { id: `chatcmpl-${id}`, created: 1_700_000_000, model: 'gpt-4o-mini' };
    const said = (delta: object, finish_reason: string | null = null): object => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
    expect(chunks).toEqual([
      said({ role: 'assistant', content: '' }),
      ...['You ', 'said: ', 'three ', 'little ', 'words'].map((content) => said({ content })),
      said({}, 'stop'),
      {
        ...head,
        object: 'chat.completion.chunk',
        choices: [],
        usage: expect.objectContaining({ total_tokens: 8 }),
      },
    ]);
  });

  test('streams tool calls chunk by chunk', async () => {
    const chunks = await chunksOf({ ...ask('Lyon'), tools });
    const calls = chunks.flatMap((one) => one.choices[0]?.delta.tool_calls ?? []);
    expect(calls[0]).toEqual({
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '' },
    });
    expect(calls.slice(1).map((call) => call.function!.arguments)).toEqual(['{"ci', 'ty":', '"Lyo', 'n"}']);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('tool_calls');
    const called = await client.chat.completions.stream({ ...ask('Lyon'), tools }).finalChatCompletion();
    expect(called.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Lyon"}' } }] },
    });
  });

  test('streams a tool call while the model still generates it', async () => {
    let goOn = (): void => undefined;
    scripts.set('slow tools', ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: null }));
      response.write(chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'weather' } }] }));
      goOn = () => response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    });
    const stream = await client.chat.completions.create({ ...ask('slow tools'), tools, stream: true });
    const names: unknown[] = [];
    for await (const one of stream) {
      const [call] = one.choices[0]!.delta.tool_calls ?? [];
      if (call === undefined) continue;
      names.push(call.function!.name);
      goOn();
    }
    expect(names).toEqual(['weather']);
  });

  test('streams all its choices in the order of the model', async () => {
    const chunks = await chunksOf({ ...ask('twice please'), n: 2 });
    const said = chunks.flatMap((one) => one.choices.map(({ index, delta }) => [index, delta.content]));
    expect(said.slice(2, -2)).toEqual(
      ['You ', 'said: ', 'twice ', 'please'].flatMap((word) => [
        [0, word],
        [1, word],
      ]),
    );
    const two = await client.chat.completions.stream({ ...ask('twice please'), n: 2 }).finalChatCompletion();
    expect(two.choices.map(({ message }) => message.content)).toEqual(
      Array(2).fill('You said: twice please'),
    );
  });

  test('streams log probabilities and unknown members', async () => {
    const logprobs = {
      content: [{ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] }],
      refusal: null,
    };
    const delta = { content: 'a', reasoning_content: 'hm' };
    const head = { id: 'c', created: 1, model: 'm', object: 'chat.completion.chunk', prompt_token_ids: [1] };
    const chunks = ['a', 'stop'].map((reason) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs, finish_reason: reason === 'stop' ? reason : null }],
    }));
    playChunks('with logprobs', chunks);
    expect(await chunksOf({ ...ask('with logprobs'), logprobs: true })).toEqual(chunks);
  });

  test('streams no usage that only the entry of the model requests, not the caller', async () => {
    const chunks = await chunksOf({ ...ask('usage for the operator'), model: 'counted' });
    expect(chunks.filter(({ choices }) => choices.length === 0)).toEqual([]);
    const status = await calls.status(await idOf('usage for the operator'));
    expect(status).toMatchObject({ metrics: { usage: { total_tokens: 8 } } });
  });

  test('has the same texts in the output stream of the queue API, and the unstreamed answer as its output', async () => {
    const asked = { ...ask('read twice'), stream: true as const };
    await chunksOf(asked);
    const id = await idOf('read twice');
    const events = await (await service.get(`${calls.path(id)}/output/stream`)).text();
    const deltas = [...events.matchAll(/^data: (\{"index".*)$/gm)].map(
      ([, data]) => (JSON.parse(data!) as { delta: string }).delta,
    );
    expect(deltas.join('')).toBe('You said: read twice');
    const output = await (await calls.response(id)).json();
    expect(output).toMatchObject({ object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
  });

  test('with only a tool call is one part in the output stream of the queue API', async () => {
    await chunksOf({ ...ask('Turku'), tools });
    const events = await (await service.get(`${calls.path(await idOf('Turku'))}/output/stream`)).text();
    const [part, ...more] = [...events.matchAll(/^data: (\{"index".*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as { index: number; delta: object },
    );
    expect(more).toEqual([]);
    expect(part).toMatchObject({ index: 0, delta: { choices: [{ finish_reason: 'tool_calls' }] } });
  });

  test('of a model without stored chunks is streamed as texts, with the usage at the end', async () => {
    const chunks = await chunksOf({
      ...ask('only texts'),
      model: 'acme/texts',
      stream_options: { include_usage: true },
    });
    const id = await idOf('only texts');
    expect(new Set(chunks.map((one) => one.id))).toEqual(new Set([`chatcmpl-${id}`]));
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.map((one) => one.choices[0]?.delta.content ?? '').join('')).toBe('You said: only texts');
    expect(chunks.at(-2)!.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
    const called = await client.chat.completions
      .stream({ ...ask('Oulu'), model: 'acme/texts', tools })
      .finalChatCompletion();
    expect(called.choices[0]!.message.tool_calls).toMatchObject([
      { function: { name: 'weather', arguments: '{"city":"Oulu"}' } },
    ]);
  });

  test('passes on the deltas of a model that are chunks', async () => {
    const chunks = await chunksOf({ ...ask('own chunks'), model: 'acme/chunks' });
    expect(chunks[0]).toMatchObject({ created: 1_700_000_000, model: 'acme/chunks' });
    expect(chunks.map((one) => one.choices[0]?.delta.content ?? '').join('')).toBe('You said: own chunks');
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('stop');
  });

  test('continues unnoticed if an attempt fails before its first word', async () => {
    scripts.set('fails at first', (call) => {
      if (call.attempt === 1) call.response.writeHead(500).end();
      else openai(call);
    });
    const stream = await client.chat.completions.create({
      ...ask('fails at first'),
      model: 'twice',
      stream: true,
    });
    let text = '';
    for await (const one of stream) text += one.choices[0]?.delta.content ?? '';
    expect(text).toBe('You said: fails at first');
    expect(model.times(await idOf('fails at first'))).toBe(2);
  });

  test('ends with an error if an attempt fails after its first word', async () => {
    scripts.set('fails later', (call) => {
      if (call.attempt > 1) return openai(call);
      call.response.writeHead(200, { 'content-type': 'text/event-stream' });
      call.response.write(chunk({ content: 'You' }));
    });
    const stream = await client.chat.completions.create({
      ...ask('fails later'),
      model: 'twice',
      stream: true,
    });
    let text = '';
    const read = async (): Promise<void> => {
      for await (const one of stream) {
        text += one.choices[0]?.delta.content ?? '';
        if (text === 'You') (await model.arrived(await idOf('fails later'))).socket.destroy();
      }
    };
    const error = await rejection(read(), APIError);
    expect([text, error.message]).toEqual(['You', expect.stringContaining('broke off')]);
  });

  describe('that breaks off half-way', () => {
    const begin = ({ response }: Call): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'You' }));
    };
    /** Reads the stream of a call whose next attempt would begin after a minute. */
    async function readBroken(said: string, headers: Record<string, string> = {}): Promise<void> {
      scripts.set(said, begin);
      const asked = { ...ask(said), model: 'patient', stream: true as const };
      const stream = await client.chat.completions.create(asked, { headers });
      let text = '';
      const read = async (): Promise<void> => {
        for await (const one of stream) {
          text += one.choices[0]?.delta.content ?? '';
          if (text === 'You') (await model.arrived(await idOf(said))).socket.destroy();
        }
      };
      const error = await rejection(read(), APIError);
      expect([text, error]).toEqual([
        'You',
        expect.objectContaining({
          code: 'model_unavailable',
          type: 'server_error',
          message: expect.stringContaining('Discard the part and send the call again.'),
        }),
      ]);
    }

    test('ends at once, and its request is not tried again', async () => {
      service.app.get(AbandonedCalls).graceMs = 10_000;
      await readBroken('breaks off');
      const id = await idOf('breaks off');
      await calls.reached(id, 'COMPLETED');
      expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
      expect(model.times(id)).toBe(1);
      expect(await service.query('SELECT FROM abandoned_call WHERE request_id = $1', [id])).toEqual([]);
    });

    test('with an idempotency key leaves its request queued like that of a closed call', async () => {
      service.app.get(AbandonedCalls).graceMs = 10_000;
      await readBroken('broken under its key', { 'Idempotency-Key': 'broken-off' });
      const id = await idOf('broken under its key');
      await until(async () => {
        const rows = await service.query('SELECT FROM abandoned_call WHERE request_id = $1', [id]);
        return rows.length === 1;
      });
      expect(await calls.status(id)).toMatchObject({ status: 'IN_QUEUE' });
      await calls.cancel(id);
    });
  });

  test('whose model fails permanently is an error, and submits one request per call', async () => {
    scripts.set('fails for good', ({ response }) => response.writeHead(500).end());
    const plain = await rejection(client.chat.completions.create(ask('fails for good')), InternalServerError);
    expect(plain).toMatchObject({ status: 502, type: 'server_error', code: 'model_error' });
    const streamed = client.chat.completions.create({ ...ask('fails for good'), stream: true });
    expect(await rejection(streamed, InternalServerError)).toMatchObject({ status: 502 });
    expect(await idsOf('fails for good')).toHaveLength(2);
  });
});

test('a completion is answered, and streamed', async () => {
  const asked = { model: 'gpt-3.5-turbo-instruct', prompt: 'once upon a time' };
  expect((await client.completions.create(asked)).choices[0]!.text).toBe('once upon a time');
  const chunks: OpenAI.Completion[] = [];
  for await (const one of await client.completions.create({ ...asked, stream: true })) chunks.push(one);
  expect(chunks.map((one) => one.choices[0]!.text)).toEqual(['once ', 'upon ', 'a ', 'time']);
  expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('length');
});

test('embeddings are numbers, even from a server that does not support base64', async () => {
  const asked = { model: 'text-embedding-3-small', input: ['a', 'four'] };
  const expected = [
    [1, 0.5],
    [4, 0.5],
  ];
  for (const encoding of [{}, { encoding_format: 'float' as const }]) {
    const { data } = await client.embeddings.create({ ...asked, ...encoding });
    expect(data.map(({ embedding }) => [...embedding])).toEqual(expected);
  }
});

test('three thousand embeddings arrive complete', async () => {
  const input = Array.from({ length: 3_000 }, (_, i) => 'x'.repeat(1 + (i % 7)));
  const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input });
  expect(data.map(({ embedding }) => [...embedding])).toEqual(input.map(({ length }) => [length, 0.5]));
});

test('images have URLs, or come as base64', async () => {
  const { data } = await client.images.generate({ model: 'dall-e-3', prompt: 'a cat', n: 2 });
  expect(data).toHaveLength(2);
  const file = await service.get(data![0]!.url!);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(png);
  const { data: embedded } = await client.images.generate({
    model: 'dall-e-3',
    prompt: 'a cat',
    response_format: 'b64_json',
  });
  expect(Buffer.from(embedded![0]!.b64_json!, 'base64')).toEqual(png);
  expect(embedded![0]!.url).toBeUndefined();
});

test('images of a GPT image model are base64 by default, and URLs on request', async () => {
  const asked = { model: 'gpt-image-1', prompt: 'a cat' };
  const { data } = await client.images.generate(asked);
  expect(Buffer.from(data![0]!.b64_json!, 'base64')).toEqual(png);
  const { data: named } = await client.images.generate({ ...asked, response_format: 'url' });
  expect(named![0]!.url).toContain('/v1/files/');
});

test('speech is the file that the model makes', async () => {
  const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'hi' });
  expect(speech.headers.get('content-type')).toBe('audio/mpeg');
  expect(Buffer.from(await speech.arrayBuffer()).toString('latin1')).toBe('ID3\x04\0');
});

test('the events of a transcription are passed on unchanged', async () => {
  const events = [
    {
      type: 'transcript.text.delta',
      delta: 'Once ',
      logprobs: [{ token: 'Once', logprob: -1, bytes: [79] }],
    },
    { type: 'transcript.text.delta', delta: 'upon' },
    { type: 'transcript.text.done', text: 'Once upon', usage: { type: 'duration', seconds: 2 } },
  ];
  scripts.set('streamed.wav', ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const file = await toFile(Buffer.from('a sound'), 'streamed.wav', { type: 'audio/wav' });
  const seen: object[] = [];
  for await (const one of await client.audio.transcriptions.create({
    file,
    model: 'whisper-1',
    stream: true,
  }))
    seen.push(one);
  expect(seen).toEqual(events);
});

test('a transcription sends the file and the fields to the model', async () => {
  const bytes = Buffer.from('some sound');
  const { text, fields } = (await client.audio.transcriptions.create({
    file: await toFile(bytes, 'Grüße.wav', { type: 'audio/wav' }),
    model: 'whisper-1',
    timestamp_granularities: ['word', 'segment'],
    response_format: 'verbose_json',
  })) as unknown as { text: string; fields: Record<string, unknown> };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(text).toBe(`Grüße.wav audio/wav ${sha256}`);
  expect(fields).toMatchObject({ model: 'whisper-1', response_format: 'verbose_json' });
  expect(fields['timestamp_granularities[]']).toBe('segment');
});

describe('a response in the foreground', () => {
  test('has the output of its model and the id of its request', async () => {
    const response = await client.responses.create({ model: 'gpt-5', input: 'right away' });
    expect(response).toMatchObject({
      id: await idOf('right away'),
      object: 'response',
      background: false,
      status: 'completed',
      output_text: 'You said: right away',
      usage: { total_tokens: 8 },
    });
    expect(await client.responses.retrieve(response.id)).toMatchObject({ output: response.output });
  });

  test('that is large arrives complete, and a thread reads it', async () => {
    const threads = service.app.get(JsonThreads);
    const kinds: string[] = [];
    const run = threads.run.bind(threads);
    threads.run = (kind, ...others) => {
      kinds.push(kind);
      return run(kind, ...others);
    };
    const input = 'many words '.repeat(20_000);
    const response = await client.responses.create({ model: 'gpt-5', input });
    expect(response.output_text).toBe(`You said: ${input}`);
    expect(await client.responses.retrieve(response.id)).toMatchObject({
      id: response.id,
      object: 'response',
      status: 'completed',
      output: response.output,
    });
    expect(kinds.filter((kind) => kind === 'openAi')).toHaveLength(2);
    threads.run = run;
  });

  test('whose model fails permanently is an error, and submits one request per call', async () => {
    scripts.set('fails at once', ({ response }) => response.writeHead(500).end());
    const failing = client.responses.create({ model: 'gpt-5', input: 'fails at once' });
    expect(await rejection(failing, InternalServerError)).toMatchObject({ status: 502, code: 'model_error' });
    expect(await idsOf('fails at once')).toHaveLength(1);
  });

  test('that is aborted marks its request as abandoned', async () => {
    scripts.set('never answered', hold);
    const abort = new AbortController();
    const asked = { model: 'gpt-5', input: 'never answered' };
    const call = client.responses.create(asked, { signal: abort.signal });
    const ended = call.catch((error: unknown) => error);
    const id = await idOf('never answered');
    await model.arrived(id);
    abort.abort();
    expect(await ended).toBeInstanceOf(APIUserAbortError);
    await until(async () => {
      const rows = await service.query('SELECT FROM abandoned_call WHERE request_id = $1', [id]);
      return rows.length === 1;
    });
    await calls.cancel(id);
  });

  test.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
  ])('with %s is refused with an explanation, and no request is submitted', async (param, option) => {
    const input = `with ${param}`;
    const asked = { model: 'gpt-5', input, ...option };
    const error = await rejection(client.responses.create(asked), BadRequestError);
    expect(error).toMatchObject({ param, message: expect.stringContaining('docs/openai.md') });
    expect(await idsOf(input)).toEqual([]);
  });
});

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

describe('a streamed response', () => {
  const asked = (input: string): { model: string; input: string; stream: true } => ({
    model: 'gpt-5',
    input,
    stream: true,
  });
  /** A call of a chat model, for which the client has no type. */
  const askedOfChat = (content: string, more: object = {}): ReturnType<typeof asked> =>
    ({ ...ask(content), stream: true, ...more }) as never;

  async function eventsOf(stream: Promise<AsyncIterable<StreamEvent>>): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for await (const one of await stream) events.push(one);
    return events;
  }

  const create = (body: ReturnType<typeof asked>): Promise<StreamEvent[]> =>
    eventsOf(client.responses.create(body));
  const retrieve = (id: string, starting_after?: number): Promise<StreamEvent[]> =>
    eventsOf(client.responses.retrieve(id, { stream: true, ...(starting_after && { starting_after }) }));

  /** Returns the response of the last event. */
  const ended = (events: readonly StreamEvent[]): OpenAI.Responses.Response =>
    (events.at(-1) as OpenAI.Responses.ResponseCompletedEvent).response;
  const typesOf = (events: readonly StreamEvent[]): string[] => events.map(({ type }) => type);
  const numbersOf = (events: readonly StreamEvent[]): number[] =>
    events.map(({ sequence_number: number }) => number);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const textOf = (events: readonly StreamEvent[]): string =>
    events.map((one) => (one.type === 'response.output_text.delta' ? one.delta : '')).join('');

  /** The types of a message with this many deltas. */
  const message = (deltas: number): string[] => [
    'response.output_item.added',
    'response.content_part.added',
    ...Array<string>(deltas).fill('response.output_text.delta'),
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
  ];
  const begin = ['response.created', 'response.in_progress'];

  test('has the events of its server, with the id of the request', async () => {
    const events = await create(asked('four quite little words'));
    const id = await idOf('four quite little words');
    expect(typesOf(events)).toEqual([...begin, ...message(6), 'response.completed']);
    expect(numbersOf(events)).toEqual(upTo(events.length));
    expect(events[0]).toMatchObject({
      response: { id, object: 'response', status: 'in_progress', model: 'm', background: false, output: [] },
    });
    expect(events[2]).toMatchObject({ item: { id: 'msg_1', status: 'in_progress' } });
    expect(textOf(events)).toBe('You said: four quite little words');
    const whole = await client.responses.retrieve(id);
    const { output_text: _text, background: _background, ...read } = whole;
    expect(ended(events)).toEqual({ ...read, background: false });
    expect(read).toMatchObject({ id, status: 'completed', usage: { total_tokens: 8 } });
  });

  test('is assembled by the helper of the client', async () => {
    const stream = client.responses.stream({ model: 'gpt-5', input: 'for the helper' });
    const texts: string[] = [];
    stream.on('response.output_text.delta', ({ snapshot }) => texts.push(snapshot));
    const response = await stream.finalResponse();
    expect(texts.at(-1)).toBe('You said: for the helper');
    expect(response).toMatchObject({
      id: await idOf('for the helper'),
      status: 'completed',
      output_text: 'You said: for the helper',
    });
  });

  test('streams a text while the model still generates it', async () => {
    let goOn = (): void => undefined;
    scripts.set('slow response', (call) => {
      const response = { object: 'response', status: 'in_progress', output: [] };
      const at = { item_id: 'm', output_index: 0, content_index: 0 };
      sendResponseEvents(call, [
        { type: 'response.created', response },
        { type: 'response.output_text.delta', ...at, delta: 'slow' },
      ]);
      goOn = () => {
        const last = { type: 'response.completed', response: { ...response, status: 'completed' } };
        sendResponseEvents(call, [last], 2);
        call.response.end();
      };
    });
    const types: string[] = [];
    for await (const { type } of await client.responses.create(asked('slow response'))) {
      types.push(type);
      if (type === 'response.output_text.delta') goOn();
    }
    expect(types).toEqual(['response.created', 'response.output_text.delta', 'response.completed']);
  });

  test.each([
    ['of a chat', 'gpt-4o-mini'],
    ['of a chat without chunks', 'acme/texts'],
    ['of deltas that are chunks', 'acme/chunks'],
  ])('is made of the texts %s', async (said, name) => {
    const events = await create({ ...askedOfChat(said), model: name });
    const id = await idOf(said);
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta').length;
    expect(typesOf(events)).toEqual([...begin, ...message(deltas), 'response.completed']);
    expect(numbersOf(events)).toEqual(upTo(events.length));
    expect(textOf(events)).toBe(`You said: ${said}`);
    const item = `msg_${id}`;
    expect(events[4]).toMatchObject({ item_id: item, output_index: 0, content_index: 0 });
    expect(ended(events)).toMatchObject({
      id,
      status: 'completed',
      output: [{ id: item, content: [{ type: 'output_text', text: `You said: ${said}` }] }],
    });
    expect(ended(events).output).toEqual((await client.responses.retrieve(id)).output);
  });

  test('is built from the tool calls of a chat, like an unstreamed response', async () => {
    const events = await create(askedOfChat('Bodø', { tools: [{ type: 'function' }] }));
    expect(typesOf(events)).toEqual([
      ...begin,
      'response.output_item.added',
      ...Array<string>(4).fill('response.function_call_arguments.delta'),
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const id = `fc_${await idOf('Bodø')}_0`;
    const call = { id, type: 'function_call', call_id: 'call_1', name: 'weather' };
    expect(events[2]).toMatchObject({ item: { ...call, status: 'in_progress', arguments: '' } });
    const whole = { ...call, status: 'completed', arguments: '{"city":"Bodø"}' };
    expect(events.at(-3)).toMatchObject({ item_id: id, name: 'weather', arguments: whole.arguments });
    expect(ended(events).output).toEqual([whole]);
    const { stream: _, ...unstreamed } = askedOfChat('Bodø', { tools: [{ type: 'function' }] });
    const { output } = await client.responses.create(unstreamed);
    expect(output).toMatchObject([{ ...whole, id: expect.any(String) }]);
  });

  test('has a text and its tool calls as separate items', async () => {
    const call = (index: number, id: string, name: string): object => ({ index, id, function: { name } });
    scripts.set('text and calls', ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'Let me see.' }));
      response.write(chunk({ tool_calls: [call(0, 'call_a', 'one'), call(1, 'call_b', 'two')] }));
      for (const index of [1, 0])
        response.write(chunk({ tool_calls: [{ index, function: { arguments: `{"n":${index}}` } }] }));
      response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    });
    const events = await create(askedOfChat('text and calls'));
    expect(numbersOf(events)).toEqual(upTo(events.length));
    const places = events.flatMap((one) => ('output_index' in one ? [[one.type, one.output_index]] : []));
    expect(places.filter(([type]) => type === 'response.function_call_arguments.delta')).toEqual(
      [2, 1].map((place) => ['response.function_call_arguments.delta', place]),
    );
    expect(places.filter(([type]) => type === 'response.output_item.done').map(([, place]) => place)).toEqual(
      [0, 1, 2],
    );
    expect(ended(events).output).toMatchObject([
      { type: 'message', content: [{ text: 'Let me see.' }] },
      { type: 'function_call', call_id: 'call_a', name: 'one', arguments: '{"n":0}' },
      { type: 'function_call', call_id: 'call_b', name: 'two', arguments: '{"n":1}' },
    ]);
  });

  test('of a server that does not stream is built from the whole answer', async () => {
    const output = [
      { id: 'rs_1', type: 'reasoning', summary: [] },
      { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
      { id: 'm_1', type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ];
    scripts.set('in one piece', ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'response', status: 'incomplete', output }));
    });
    const events = await create(asked('in one piece'));
    expect(typesOf(events)).toEqual([
      ...begin,
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.incomplete',
    ]);
    expect(numbersOf(events)).toEqual(upTo(events.length));
    expect(ended(events)).toMatchObject({ status: 'incomplete', output });
  });

  test.each([
    ['in many deltas', `${'long'.repeat(100)} `.repeat(300)],
    ['in one delta', 'long'.repeat(30_000)],
  ])('may be long, %s', async (_, long) => {
    for (const body of [asked(long), askedOfChat(long), { ...askedOfChat(long), model: 'acme/texts' }]) {
      const events = await create(body);
      expect(textOf(events)).toBe(`You said: ${long}`);
      expect(ended(events)).toMatchObject({ status: 'completed', object: 'response' });
      expect(numbersOf(events)).toEqual(upTo(events.length));
    }
  });

  test('whose model fails before the first event is an error, and one request', async () => {
    scripts.set('fails unstreamed', ({ response }) => response.writeHead(500).end());
    const error = await rejection(create(asked('fails unstreamed')), InternalServerError);
    expect(error).toMatchObject({ status: 502, code: 'model_error' });
    expect(await idsOf('fails unstreamed')).toHaveLength(1);
  });

  test('that its server reports as failed ends with an event', async () => {
    const error = { code: 'server_error', message: 'CUDA out of memory' };
    scripts.set('fails later on', (call) => {
      const response = { object: 'response', status: 'in_progress', output: [] };
      sendResponseEvents(call, [
        { type: 'response.created', response },
        { type: 'response.failed', response: { ...response, status: 'failed', error } },
      ]);
      call.response.end();
    });
    const events = await create(asked('fails later on'));
    const id = await idOf('fails later on');
    expect(typesOf(events)).toEqual(['response.created', 'response.failed']);
    expect(numbersOf(events)).toEqual([0, 1]);
    expect(ended(events)).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'model_error', message: 'CUDA out of memory' },
    });
    expect(await client.responses.retrieve(id)).toMatchObject({ error: ended(events).error });
  });

  test('that breaks off half-way ends with an event, and its request is not tried again', async () => {
    scripts.set('broken response', ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'You' }));
    });
    const stream = await client.responses.create({ ...askedOfChat('broken response'), model: 'patient' });
    const events: StreamEvent[] = [];
    for await (const one of stream) {
      events.push(one);
      if (one.type === 'response.output_text.delta')
        (await model.arrived(await idOf('broken response'))).socket.destroy();
    }
    expect(typesOf(events)).toEqual([...begin, ...message(1).slice(0, 3), 'response.failed']);
    expect(ended(events)).toMatchObject({
      status: 'failed',
      error: { code: 'model_unavailable', message: expect.stringContaining('send the call again') },
    });
    const id = await idOf('broken response');
    await calls.reached(id, 'COMPLETED');
    expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
    expect(model.times(id)).toBe(1);
  });

  /** Begins a response, and says no more until the function that is stored here under its input is called. */
  const finish = new Map<string, () => void>();
  const playHeld = (said: string): void => {
    scripts.set(said, ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'You' }));
      finish.set(said, () =>
        response.end(`${chunk({ content: ' there' })}${chunk({}, 'stop')}data: [DONE]\n\n`),
      );
    });
  };

  test('that the client leaves cancels its request', async () => {
    service.app.get(AbandonedCalls).graceMs = 200;
    playHeld('left response');
    for await (const { type } of await client.responses.create(askedOfChat('left response')))
      if (type === 'response.output_text.delta') break;
    const id = await idOf('left response');
    await calls.reached(id, 'COMPLETED');
    expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
  });

  test('in background continues when the client leaves, and can be read from any event on', async () => {
    playHeld('left in background');
    let last = 0;
    const stream = await client.responses.create(askedOfChat('left in background', { background: true }));
    for await (const one of stream) {
      last = one.sequence_number;
      if (one.type === 'response.output_text.delta') break;
    }
    const id = await idOf('left in background');
    expect(await service.query('SELECT FROM abandoned_call WHERE request_id = $1', [id])).toEqual([]);
    const [whole, others] = [retrieve(id), retrieve(id, last)];
    finish.get('left in background')!();
    const types = [...begin, ...message(2), 'response.completed'];
    expect(typesOf(await whole)).toEqual(types);
    expect(ended(await whole)).toMatchObject({ id, status: 'completed', background: true });
    expect(await others).toEqual((await whole).slice(last + 1));
    expect(await retrieve(id)).toEqual(await whole);
    expect((await retrieve(id, 99)).map(({ type }) => type)).toEqual(['response.completed']);
    const helped = client.responses.stream({ response_id: id, starting_after: last });
    expect((await helped.finalResponse()).output_text).toBe('You there');
  });

  test('in background that is cancelled ends with an event', async () => {
    playHeld('to cancel');
    const stream = await client.responses.create(askedOfChat('to cancel', { background: true }));
    const events: StreamEvent[] = [];
    for await (const one of stream) {
      events.push(one);
      if (one.type === 'response.output_text.delta') await client.responses.cancel(await idOf('to cancel'));
    }
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
  });

  test('in background that breaks off half-way ends with an error, and its request is tried again', async () => {
    playHeld('broken in background');
    const body = { ...askedOfChat('broken in background', { background: true }), model: 'patient' };
    const events: StreamEvent[] = [];
    for await (const one of await client.responses.create(body)) {
      events.push(one);
      if (one.type === 'response.output_text.delta')
        (await model.arrived(await idOf('broken in background'))).socket.destroy();
    }
    const id = await idOf('broken in background');
    expect(events.at(-1)).toEqual({
      type: 'error',
      code: 'model_unavailable',
      param: null,
      sequence_number: 5,
      message: expect.stringContaining('Read it again'),
    });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'queued' });
    await calls.cancel(id);
  });

  test('that has failed is read as events', async () => {
    scripts.set('to read', ({ response }) => response.writeHead(500).end());
    const { id } = await client.responses.create({ model: 'gpt-5', input: 'to read', background: true });
    const events = await retrieve(id);
    expect(typesOf(events)).toEqual([...begin, 'response.failed']);
    expect(ended(events)).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'model_error', message: 'The model answered 500.' },
    });
  });

  test('cannot be resumed after an event of another attempt', async () => {
    scripts.set('second attempt', (call) => {
      if (call.attempt === 1) call.response.writeHead(500).end();
      else openai(call);
    });
    const asks = askedOfChat('second attempt', { background: true });
    await create({ ...asks, model: 'twice' });
    const id = await idOf('second attempt');
    const error = await rejection(retrieve(id, 1), BadRequestError);
    expect(error).toMatchObject({ param: 'starting_after' });
    expect(textOf(await retrieve(id))).toBe('You said: second attempt');
    const wrong = client.responses.retrieve(id, { stream: true, starting_after: 'x' as never });
    expect(await rejection(wrong, BadRequestError)).toMatchObject({ param: 'starting_after' });
  });
});

describe('a response in background', () => {
  const ended = (id: string): Promise<OpenAI.Responses.Response> =>
    until(async () => {
      const response = await client.responses.retrieve(id);
      return !['queued', 'in_progress'].includes(response.status!) && response;
    });

  const done = async (): Promise<string> => {
    const { id } = await client.responses.create({ model: 'gpt-5', input: 'done', background: true });
    await ended(id);
    return id;
  };

  test('is a request, and has its output once it has completed', async () => {
    const begun = await client.responses.create({ model: 'gpt-5', input: 'hello there', background: true });
    expect(['queued', 'in_progress', 'completed']).toContain(begun.status);
    expect(begun).toMatchObject({ id: await idOf('hello there'), object: 'response', background: true });
    const response = await ended(begun.id);
    expect(response).toMatchObject({ id: begun.id, status: 'completed', usage: { total_tokens: 8 } });
    expect(response.output_text).toBe('You said: hello there');
    await client.responses.delete(begun.id);
    await rejection(client.responses.retrieve(begun.id), NotFoundError);
  });

  test('is made, read, cancelled and deleted by the beta interface of the client too', async () => {
    const { responses } = client.beta;
    const asked = { model: 'acme/slow', input: 'by beta', background: true, hold: true } as const;
    const begun = await responses.create(asked, { query: { priority: 'low' } });
    expect(begun).toMatchObject({ id: await idOf('by beta'), object: 'response', background: true });
    expect(await service.query('SELECT priority FROM request WHERE id = $1', [begun.id])).toEqual([
      { priority: 1 },
    ]);
    await model.arrived(begun.id);
    expect(await responses.retrieve(begun.id)).toMatchObject({ id: begun.id, status: 'in_progress' });
    expect(await responses.cancel(begun.id)).toMatchObject({ id: begun.id, status: 'cancelled' });
    await responses.delete(begun.id);
    await rejection(responses.retrieve(begun.id), NotFoundError);
  });

  test('shows the answer of a chat model as a message', async () => {
    const asked = { ...ask('chat in background'), background: true } as never;
    const begun = await client.responses.create(asked);
    const { output_text: text } = await ended((begun as OpenAI.Responses.Response).id);
    expect(text).toBe('You said: chat in background');
  });

  test('is cancelled, whether it waits or runs', async () => {
    const asked = { model: 'acme/slow', input: 'x', background: true, hold: true } as const;
    const { id: running } = await client.responses.create(asked);
    const { id: waiting } = await client.responses.create(asked);
    await model.arrived(running);
    expect(await client.responses.retrieve(waiting)).toMatchObject({ status: 'queued', output_text: '' });
    expect(await client.responses.retrieve(running)).toMatchObject({ status: 'in_progress' });
    for (const id of [waiting, running])
      expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled', error: null });
    expect(await rejection(client.responses.cancel(await done()), BadRequestError)).toMatchObject({
      code: 'already_completed',
    });
  });

  test('that fails has the reason', async () => {
    scripts.set('to fail', ({ response }) => response.writeHead(500).end());
    const begun = await client.responses.create({ model: 'gpt-5', input: 'to fail', background: true });
    expect(await ended(begun.id)).toMatchObject({
      status: 'failed',
      output: [],
      error: { code: 'model_error', message: 'The model answered 500.' },
    });
  });

  test('notifies by webhooks that the client verifies', async () => {
    scripts.set('a failing hook', ({ response }) => response.writeHead(500).end());
    const choices = [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'Once' } }];
    scripts.set('a hook at its limit', ({ response }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices })),
    );
    for (const [input, type] of [
      ['a hook', 'response.completed'],
      ['a hook at its limit', 'response.incomplete'],
      ['a failing hook', 'response.failed'],
    ] as const) {
      const path = `/${type}`;
      const query = { webhook: receiver.url(path) };
      const { id } = await client.responses.create({ model: 'gpt-5', input, background: true }, { query });
      const [hook] = await receiver.arrived(path);
      const [row] = await service.query<{ key: string }>(
        'SELECT api_key_id AS key FROM request WHERE id = $1',
        [id],
      );
      const secret = await service.app.get(WebhookSecrets).secretOf(row!.key);
      const headers = new Headers(hook!.headers as unknown as Record<string, string>);
      const event = await client.webhooks.unwrap(hook!.body, headers, secret);
      expect(event).toMatchObject({ object: 'event', type, data: { id } });
      await expect(client.webhooks.unwrap(`${hook!.body} `, headers, secret)).rejects.toThrow();
    }
  });
});

describe('files', () => {
  const upload = (name: string, more: object = {}): Promise<OpenAI.FileObject> =>
    toFile(Buffer.from(name), name).then((file) =>
      client.files.create({ file, purpose: 'user_data', ...more }),
    );

  test('are stored with their purpose until they are deleted', async () => {
    const file = await upload('kept.txt');
    expect(file).toMatchObject({
      object: 'file',
      bytes: 8,
      filename: 'kept.txt',
      purpose: 'user_data',
      status: 'processed',
    });
    expect(file.expires_at).toBeUndefined();
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe('kept.txt');
    await service.query(`UPDATE file SET created_at = created_at - interval '2 days'`);
    await service.app.get(FilePruner).runOnce();
    expect(await (await client.files.content(file.id)).text()).toBe('kept.txt');
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await rejection(client.files.retrieve(file.id), NotFoundError);
    await service.app.get(FilePruner).runOnce();
    expect(await service.query('SELECT FROM file WHERE id = $1', [file.id])).toEqual([]);
  });

  test('are deleted after they expire', async () => {
    const file = await upload('short.txt', { expires_after: { anchor: 'created_at', seconds: 3_600 } });
    expect(file.expires_at).toBe(file.created_at + 3_600);
    await service.query(
      `UPDATE file SET kept_until = now() - interval '1s', expires_at = now() - interval '1s' WHERE id = $1`,
      [file.id],
    );
    await rejection(client.files.content(file.id), NotFoundError);
    await service.app.get(FilePruner).runOnce();
    expect(await service.query('SELECT FROM file WHERE id = $1', [file.id])).toEqual([]);
    const wrong = upload('wrong.txt', { expires_after: { anchor: 'created_at', seconds: 1 } });
    expect(await rejection(wrong, BadRequestError)).toMatchObject({ param: 'expires_after.seconds' });
  });

  test('are listed by page and by purpose, only to their own key', async () => {
    const names = ['one.txt', 'two.txt', 'three.txt'];
    for (const name of names) await upload(name, { purpose: 'evals' });
    const page = await client.files.list({ purpose: 'evals', limit: 2 });
    expect(page.data.map(({ filename }) => filename)).toEqual(['three.txt', 'two.txt']);
    const all: string[] = [];
    for await (const { filename } of client.files.list({ purpose: 'evals', limit: 2, order: 'asc' }))
      all.push(filename);
    expect(all).toEqual(names);
    const other = clientOf({ apiKey: await calls.newKey() });
    expect((await other.files.list()).data).toEqual([]);
    await rejection(other.files.retrieve(page.data[0]!.id), NotFoundError);
    await rejection(other.files.delete(page.data[0]!.id), NotFoundError);
  });
});

describe('models', () => {
  test('are listed by the names in their entries if the key may call them', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['gpt-4o-mini', 'acme/chunks']));
    const narrow = clientOf({ apiKey: await calls.newKey({ models: ['acme/chat'] }) });
    expect((await narrow.models.list()).data.map(({ id }) => id)).toEqual(['gpt-4o-mini']);
    expect(await narrow.models.retrieve('gpt-4o-mini')).toMatchObject({ object: 'model' });
    expect(await client.models.retrieve('acme/chunks')).toMatchObject({ id: 'acme/chunks' });
    expect(await rejection(narrow.models.retrieve('dall-e-3'), APIError)).toMatchObject({ status: 403 });
  });

  test('that do not exist are answered model_not_found', async () => {
    const error = await rejection(
      client.chat.completions.create({ ...ask('x'), model: 'gpt-9' }),
      NotFoundError,
    );
    expect(error).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error' });
  });
});

describe('errors', () => {
  test('of a wrong key have the code of OpenAI', async () => {
    const error = await rejection(clientOf({ apiKey: 'wrong' }).models.list(), AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', param: null });
    expect(error.requestID).toMatch(/^[\w-]+$/);
  });

  test('of an invalid input name the parameter', async () => {
    const wrong = { ...ask('x'), n: 'many' } as unknown as ReturnType<typeof ask>;
    const error = await rejection(client.chat.completions.create(wrong), BadRequestError);
    expect(error).toMatchObject({ type: 'invalid_request_error', param: 'n' });
    const none = { messages: messages('x') } as unknown as ReturnType<typeof ask>;
    expect(await rejection(client.chat.completions.create(none), BadRequestError)).toMatchObject({
      param: 'model',
    });
  });

  test('of the model pass unchanged', async () => {
    const refusal = { message: 'too long', type: 'BadRequestError', param: null, code: 400 };
    scripts.set('too long', ({ response }) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: refusal })),
    );
    const error = await rejection(client.chat.completions.create(ask('too long')), BadRequestError);
    expect(error.error).toEqual(refusal);
  });

  test('of the model in another form are added to the message', async () => {
    scripts.set('nowhere', ({ response }) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}'),
    );
    const error = await rejection(client.chat.completions.create(ask('nowhere')), NotFoundError);
    expect(error).toMatchObject({ code: 'model_error', message: '404 The model answered 404: Not Found' });
    const begun = await client.responses.create({ model: 'gpt-5', input: 'nowhere', background: true });
    const ended = await until(async () => {
      const one = await client.responses.retrieve(begun.id);
      return one.status === 'failed' && one;
    });
    expect(ended.error).toMatchObject({ message: 'The model answered 404: Not Found' });
  });

  test('of a call that the model does not support name both calls, and no request is submitted', async () => {
    const embedding = client.embeddings.create({ model: 'gpt-4o-mini', input: 'for a chat' });
    expect(await rejection(embedding, BadRequestError)).toMatchObject({
      param: 'model',
      message: expect.stringContaining('answers chat/completions, not embeddings'),
    });
    const completion = client.completions.create({ model: 'gpt-4o-mini', prompt: 'for a chat' });
    expect((await rejection(completion, BadRequestError)).message).toContain('not completions');
    const text = client.chat.completions.create({ ...ask('for a chat'), model: 'gpt-3.5-turbo-instruct' });
    expect((await rejection(text, BadRequestError)).message).toContain('answers completions');
    expect(await idsOf('for a chat')).toEqual([]);
  });

  test('of a call that is not served name the page', async () => {
    const others = [
      () => client.moderations.create({ input: 'x' }),
      () => client.fineTuning.jobs.list(),
      () => client.chat.completions.list(),
      async () => client.images.edit({ image: await toFile(png, 'a.png'), prompt: 'x' }),
      () => client.responses.inputItems.list('x'),
    ];
    for (const call of others)
      expect(await rejection(call(), NotFoundError)).toMatchObject({
        code: 'not_found',
        message: expect.stringMatching(/is not served here\. docs\/openai\.md/),
      });
  });

  test('of an invalid or truncated form are 400', async () => {
    const send = (body: string, type: string): Promise<Response> =>
      fetch(`${service.url}/openai/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.key}`, 'content-type': type },
        body,
      });
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    for (const [body, type] of [
      ['{}', 'application/json'],
      ['', 'multipart/form-data'],
      [`${head}abc`, 'multipart/form-data; boundary=x'],
      [`${head}abc\r\n--x--\r\n`, 'multipart/form-data; boundary=x'],
    ] as const) {
      const answer = await send(body, type);
      expect([type, body, answer.status]).toEqual([type, body, 400]);
      expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    }
  });
});

test('a call over a limit is 429, after which the client waits and succeeds', async () => {
  const statuses: number[] = [];
  const counting: typeof fetch = async (...given) => {
    const answer = await fetch(...given);
    statuses.push(answer.status);
    return answer;
  };
  const limited = await calls.newKey({ rateLimitSubmit: '1/s' });
  const patient = clientOf({ apiKey: limited, fetch: counting, maxRetries: 5 });
  await Promise.all(['one', 'two'].map((said) => patient.chat.completions.create(ask(`limited ${said}`))));
  expect(statuses).toContain(429);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  const once = clientOf({ apiKey: await calls.newKey({ rateLimitSubmit: '1/h' }), maxRetries: 0 });
  await once.chat.completions.create(ask('limited three'));
  const error = await rejection(once.chat.completions.create(ask('limited four')), RateLimitError);
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' });
  expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0);
});

describe('a closed call', () => {
  const isAbandoned = async (id: string): Promise<boolean> =>
    (await service.query('SELECT FROM abandoned_call WHERE request_id = $1', [id])).length > 0;

  test('that was aborted cancels its request', async () => {
    service.app.get(AbandonedCalls).graceMs = 200;
    scripts.set('aborted', hold);
    const abort = new AbortController();
    const call = client.chat.completions.create(ask('aborted'), { signal: abort.signal });
    const failed = rejection(call, APIUserAbortError);
    const id = await idOf('aborted');
    await model.arrived(id);
    abort.abort();
    await failed;
    await calls.reached(id, 'COMPLETED');
    expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
  });

  test('of a stream that the client leaves cancels its request', async () => {
    service.app.get(AbandonedCalls).graceMs = 200;
    scripts.set('left', ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'You' }));
    });
    const stream = await client.chat.completions.create({ ...ask('left'), stream: true });
    for await (const one of stream) if (one.choices[0]?.delta.content === 'You') break;
    const id = await idOf('left');
    await calls.reached(id, 'COMPLETED');
    expect(await calls.status(id)).toMatchObject({ error: { code: 'cancelled' } });
    expect(await isAbandoned(id)).toBe(false);
  });

  test('that the client repeats after a timeout is one request', async () => {
    service.app.get(AbandonedCalls).graceMs = 10_000;
    scripts.set('repeated', hold);
    const hasty = clientOf({ timeout: 3_000, maxRetries: 5 });
    const call = hasty.chat.completions.create(ask('repeated'));
    const id = await idOf('repeated');
    await until(() => isAbandoned(id), { message: 'the first call was closed' });
    await until(async () => !(await isAbandoned(id)), { message: 'the next one took its request up' });
    scripts.delete('repeated');
    openai(await model.arrived(id));
    expect((await call).choices[0]!.message.content).toBe('You said: repeated');
    expect(await idsOf('repeated')).toEqual([id]);
  });

  test('that is repeated with its idempotency key is one request, even without a retry count', async () => {
    scripts.set('by key', hold);
    const headers = { 'Idempotency-Key': 'one-and-the-same' };
    const abort = new AbortController();
    const first = client.chat.completions.create(ask('by key'), { headers, signal: abort.signal });
    const failed = rejection(first, APIUserAbortError);
    const id = await idOf('by key');
    await model.arrived(id);
    abort.abort();
    await failed;
    await until(() => isAbandoned(id));
    const second = client.chat.completions.create(ask('by key'), { headers });
    await until(async () => !(await isAbandoned(id)));
    openai(await model.arrived(id));
    expect((await second).choices[0]!.message.content).toBe('You said: by key');
    expect(await idsOf('by key')).toEqual([id]);
  });

  test('is not merged with another call of the same content', async () => {
    scripts.set('twins', hold);
    const both = [ask('twins'), ask('twins')].map((one) => client.chat.completions.create(one));
    await until(async () => (await idsOf('twins')).length === 2);
    for (const id of await idsOf('twins')) openai(await model.arrived(id));
    await Promise.all(both);
  });
});
