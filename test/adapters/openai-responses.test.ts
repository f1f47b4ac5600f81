import OpenAI from 'openai';
import { openai } from '../support/servers/openai.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const at = (path: string): object => ({ runner: { preset: 'openai', path } });
const { service, model } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'] },
  models: {
    'acme/response': at('/v1/responses'),
    'acme/chat': at('/v1/chat/completions'),
    'acme/twice': { ...at('/v1/chat/completions'), attempts: 2, retry: { base: '1ms' }, circuit: 'off' },
    'acme/plain': {},
  },
});
beforeAll(() => {
  const play = model.respond;
  model.respond = (call) => (call.url.startsWith('/v1/') ? openai : play)(call);
});

const call = (path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<Response> =>
  fetch(`${service.url}/openai/v1/responses${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

interface Read {
  event: string;
  data: { type: string; sequence_number: number; response?: { id: string; status: string } };
}

/** Reads a stream of events that each have a type and data, and nothing else. */
async function eventsOf(answer: Response): Promise<Read[]> {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  return (await answer.text())
    .split('\n\n')
    .slice(0, -1)
    .map((text) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(text)!;
      return { event: event!, data: JSON.parse(data!) as Read['data'] };
    });
}

const order = [
  'created',
  'in_progress',
  'output_item.added',
  'content_part.added',
  'output_text.delta',
  'output_text.done',
  'content_part.done',
  'output_item.done',
  'completed',
].map((name) => `response.${name}`);

test.each([
  ['a server with responses', { model: 'acme/response', input: 'hi' }],
  ['a chat', { model: 'acme/chat', messages: [{ role: 'user', content: 'hi' }] }],
  ['a server without streams', { model: 'acme/plain', body: '"You said: hi"' }],
])(
  'a response stream sends its events in order, each with its type and sequence number: %s',
  async (_, body) => {
    const events = await eventsOf(await call('', { ...body, stream: true }));
    const types = events.map(({ event }) => event);
    expect(types.filter((type, i) => type !== types[i - 1])).toEqual(order);
    expect(events.map(({ data }) => data.type)).toEqual(types);
    expect(events.map(({ data }) => data.sequence_number)).toEqual(types.map((_type, i) => i));
    const { response } = events.at(-1)!.data;
    expect(response).toMatchObject({ status: 'completed' });
    expect(new Set(events.flatMap(({ data }) => data.response?.id ?? []))).toEqual(new Set([response!.id]));
    const again = await eventsOf(await call(`/${response!.id}?stream=true`));
    expect(again.map(({ event }) => event)).toEqual(types);
    const rest = await eventsOf(await call(`/${response!.id}?stream=true&starting_after=4`));
    expect(rest.map(({ data }) => data.sequence_number)).toEqual(types.map((_type, i) => i).slice(5));
  },
);

test.each([
  [{}, 'length', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
  [{ stream: true }, 'length', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
  [{}, 'content_filter', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
  [{}, 'stop', { status: 'completed', incomplete_details: null }],
])(
  'a response reports the finish reason and the token usage of the chat: %j, %s',
  async (asked, finish_reason, shown) => {
    const chat = {
      choices: [{ index: 0, finish_reason, message: { role: 'assistant', content: 'Once upon' } }],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 4 },
      },
    };
    const answer = await call('', { model: 'acme/plain', body: JSON.stringify(chat), ...asked });
    let response: unknown;
    if ('stream' in asked) {
      const { event, data } = (await eventsOf(answer)).at(-1)!;
      expect(event).toBe('response.incomplete');
      ({ response } = data);
    } else response = await answer.json();
    expect(response).toMatchObject({
      ...shown,
      output: [{ type: 'message', status: shown.status, content: [{ text: 'Once upon' }] }],
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 7,
      },
    });
  },
);

test.each([
  [{ content: null, refusal: 'I cannot.' }, [{ type: 'refusal', refusal: 'I cannot.' }], 'refusal'],
  [{ content: '', refusal: 'I cannot.' }, [{ type: 'refusal', refusal: 'I cannot.' }], 'refusal'],
  [{ content: null, refusal: null }, [{ type: 'output_text', text: '' }], 'output_text'],
])('a response contains only the text or the refusal of the chat: %j', async (message, content, type) => {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }];
  const body = JSON.stringify({ object: 'chat.completion', choices });
  const whole = { output: [{ type: 'message', content }] };
  const answer = await call('', { model: 'acme/plain', body });
  expect(await answer.json()).toMatchObject(whole);
  const events = await eventsOf(await call('', { model: 'acme/plain', body, stream: true }));
  expect(events.at(-1)!.data.response).toMatchObject(whole);
  expect(events.map(({ event }) => event)).toContain(`response.${type}.done`);
});

test.each([false, true])(
  'the next attempt continues a stream to which the broken one has given no event: in background %s',
  async (background) => {
    const respond = model.respond;
    model.respond = (one) => {
      if (one.attempt > 1) return respond(one);
      one.response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of [{ role: 'assistant', content: '' }, { reasoning_content: 'Hm' }])
        one.response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    };
    const hasParts = async (id: string): Promise<boolean> =>
      (await service.query('SELECT 1 FROM output_delta WHERE request_id = $1', [id])).length > 0;
    try {
      const asked = { model: 'acme/twice', messages: [{ role: 'user', content: 'hi' }], background };
      const calls = model.calls.length;
      const answer = call('', { ...asked, stream: true });
      await until(() => model.calls.length > calls);
      const { id, socket } = model.calls[calls]!;
      await until(() => hasParts(id));
      socket.destroy();
      const events = await eventsOf(await answer);
      const types = events.map(({ event }) => event);
      expect(types.filter((type, i) => type !== types[i - 1])).toEqual(order);
      expect(events.map(({ data }) => data.sequence_number)).toEqual(types.map((_type, i) => i));
      expect(model.times(id)).toBe(2);
    } finally {
      model.respond = respond;
    }
  },
);

test('events that the server does not number get sequence numbers', async () => {
  const response = { object: 'response', status: 'completed', output: [] };
  const own = [
    { type: 'response.created', response },
    { type: 'response.output_text.delta', delta: 'a' },
    { type: 'response.output_text.delta', delta: 'b', sequence_number: -1 },
    { type: 'response.completed', response },
  ];
  const play = model.respond;
  model.respond = (one) => {
    one.response.writeHead(200, { 'content-type': 'text/event-stream' });
    one.response.end(own.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };
  try {
    const events = await eventsOf(await call('', { model: 'acme/response', input: 'hi', stream: true }));
    expect(events.map(({ event, data }) => [event, data.sequence_number])).toEqual(
      own.map(({ type }, at) => [type, at]),
    );
    const { id } = events.at(-1)!.data.response!;
    const rest = await eventsOf(await call(`/${id}?stream=true&starting_after=1`));
    expect(rest.map(({ data }) => data.sequence_number)).toEqual([2, 3]);
  } finally {
    model.respond = play;
  }
});

test('a response that was erased is not streamed', async () => {
  const { id } = (await (await call('', { model: 'acme/plain' })).json()) as { id: string };
  expect((await call(`/${id}`, undefined, 'DELETE')).status).toBe(200);
  expect((await call(`/${id}?stream=true`)).status).toBe(404);
});

test.each([{ output: ['a', 'b'] }, { output: [null] }, { output: [{ text: 'a' }] }])(
  'a response shows an output list without response items as one text: %j',
  async (output) => {
    const text = JSON.stringify(output);
    const answer = await call('', { model: 'acme/plain', body: text });
    expect(await answer.json()).toMatchObject({
      output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
    });
  },
);

test('a background stream that waits sends its headers at once, and the client does not repeat the call', async () => {
  const client = new OpenAI({
    baseURL: `${service.url}/openai/v1`,
    apiKey: service.key,
    timeout: 3_000,
    maxRetries: 1,
  });
  const body = { model: 'acme/plain', input: 'hi', hold: true } as { model: string; input: string };
  const stream = await client.responses.create({ ...body, background: true, stream: true });
  const rows = await service.query<{ id: string }>(
    'SELECT id FROM request WHERE position($1 IN input::text) > 0',
    ['"hold":true,"background":true,"stream":true'],
  );
  expect(rows).toHaveLength(1);
  expect((await call(`/${rows[0]!.id}/cancel`, {})).status).toBe(200);
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.at(-1)).toBe('response.failed');
});

test('a HEAD request for the stream of an unfinished response returns 200', async () => {
  const { id } = (await (await call('', { model: 'acme/plain', background: true, hold: true })).json()) as {
    id: string;
  };
  expect((await call(`/${id}?stream=true`, undefined, 'HEAD')).status).toBe(200);
  expect((await call(`/${id}/cancel`, {})).status).toBe(200);
});

test('a call for a response in background is one request with those that repeat it under its Idempotency-Key', async () => {
  const create = async (headers: Record<string, string>): Promise<string> => {
    const answer = await fetch(`${service.url}/openai/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'x-stainless-retry-count': '1', ...headers },
      body: JSON.stringify({ model: 'acme/plain', background: true }),
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { id: string }).id;
  };
  const once = { 'idempotency-key': 'background' };
  const id = await create(once);
  expect(await create(once)).toBe(id);
  expect(await create({})).not.toBe(id);
});
