import { createHash } from 'node:crypto';
import type { Call } from '../model-server.js';

/**
 * A server with OpenAI's API, after https://platform.openai.com/docs/api-reference and the deviations that
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html documents: the error object has a `type` and a
 * numeric `code`, and an error within a stream is an event with an `error` object, followed by [DONE].
 */
export function openai(call: Call): void {
  const { pathname } = new URL(call.url, 'http://server');
  const answer = routes[pathname];
  if (answer === undefined) return refuse(call, 404, 'Not Found');
  void answer(call);
}

interface ChatInput {
  model?: string;
  messages: { role: string; content: string }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  n?: number;
  tools?: unknown[];
}

const routes: Record<string, (call: Call) => unknown> = {
  '/v1/chat/completions': chat,
  '/v1/completions': completion,
  '/v1/embeddings': embeddings,
  '/v1/images/generations': images,
  '/v1/audio/transcriptions': transcription,
  '/v1/responses': responses,
  '/v1/audio/speech': ({ response }) =>
    response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': 5 }).end('ID3\x04\0'),
};

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const created = 1_700_000_000;

function send({ response }: Call, value: unknown, status = 200): void {
  const text = JSON.stringify(value);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

function refuse(call: Call, status: number, message: string): void {
  send(call, { error: { message, type: 'BadRequestError', param: null, code: status } }, status);
}

const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];

function chat(call: Call): void {
  const input = JSON.parse(call.body) as ChatInput;
  if (input.model === undefined)
    return refuse(call, 400, "[{'loc': ('body', 'model'), 'msg': 'Field required'}]");
  const said = input.messages.at(-1)!.content;
  const head = { id: `chatcmpl-${call.id}`, created, model: input.model };
  const calls = [
    { id: 'call_1', type: 'function', function: { name: 'weather', arguments: `{"city":"${said}"}` } },
  ];
  const isCall = input.tools !== undefined;
  const message = isCall
    ? { role: 'assistant', content: null, tool_calls: calls }
    : { role: 'assistant', content: `You said: ${said}` };
  const finish = isCall ? 'tool_calls' : 'stop';
  const indexes = Array.from({ length: input.n ?? 1 }, (_, index) => index);
  if (input.stream !== true) {
    const choices = indexes.map((index) => ({ index, message, logprobs: null, finish_reason: finish }));
    return send(call, { ...head, object: 'chat.completion', choices, usage });
  }
  const { response } = call;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const event = (value: unknown): unknown => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const chunk = (index: number, delta: object, finish_reason: string | null = null): unknown =>
    event({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index, delta, logprobs: null, finish_reason }],
    });
  for (const index of indexes) chunk(index, { role: 'assistant', content: isCall ? null : '' });
  if (said === 'break in the middle') return void setImmediate(() => call.socket.destroy());
  if (said === 'end without an end') return void response.end();
  if (said === 'run out of memory') {
    event({ error: { message: 'CUDA out of memory', type: 'InternalServerError', code: 500 } });
    return void response.end('data: [DONE]\n\n');
  }
  if (isCall) {
    const [
      {
        function: { name, arguments: json },
        ...tool
      },
    ] = calls as [(typeof calls)[0]];
    chunk(0, { tool_calls: [{ index: 0, ...tool, function: { name, arguments: '' } }] });
    for (const part of json.match(/.{1,4}/g)!)
      chunk(0, { tool_calls: [{ index: 0, function: { arguments: part } }] });
  } else
    for (const word of words(String(message.content)))
      for (const index of indexes) chunk(index, { content: word });
  for (const index of indexes) chunk(index, {}, finish);
  if (input.stream_options?.include_usage === true)
    event({ ...head, object: 'chat.completion.chunk', choices: [], usage });
  response.end('data: [DONE]\n\n');
}

function completion(call: Call): void {
  const { prompt, stream } = JSON.parse(call.body) as { prompt: string; stream?: boolean };
  const head = { id: 'cmpl-1', object: 'text_completion', created, model: 'm' };
  if (stream !== true)
    return send(call, {
      ...head,
      choices: [{ index: 0, text: prompt, logprobs: null, finish_reason: 'length' }],
      usage,
    });
  call.response.writeHead(200, { 'content-type': 'text/event-stream' });
  const parts = words(prompt);
  parts.forEach((text, at) => {
    const finish_reason = at === parts.length - 1 ? 'length' : null;
    const choices = [{ index: 0, text, logprobs: null, finish_reason }];
    call.response.write(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
  });
  call.response.end('data: [DONE]\n\n');
}

function responses(call: Call): void {
  const { input, background, stream } = JSON.parse(call.body) as {
    input: string;
    background?: boolean;
    stream?: boolean;
  };
  if (background === true) return refuse(call, 400, 'This server has no background.');
  const part = { type: 'output_text', text: `You said: ${input}`, annotations: [] };
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const head = { id: 'resp_1', object: 'response', created_at: created, model: 'm', error: null };
  const whole = {
    ...head,
    status: 'completed',
    output: [item],
    usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
  };
  if (stream !== true) return send(call, whole);
  const begun = { ...head, status: 'in_progress', output: [] };
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const deltas = words(part.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta }));
  sendResponseEvents(call, [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...deltas,
    { type: 'response.output_text.done', ...at, text: part.text },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]);
  call.response.end();
}

/** Sends events of a response, the first of which has this number. */
export function sendResponseEvents(
  { response }: Call,
  events: readonly { type: string; [name: string]: unknown }[],
  first = 0,
): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  events.forEach(({ type, ...event }, i) =>
    response.write(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: first + i, ...event })}\n\n`,
    ),
  );
}

function embeddings(call: Call): void {
  const { input } = JSON.parse(call.body) as { input: string[] };
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 0.5] }));
  send(call, { object: 'list', data, model: 'e', usage: { prompt_tokens: 4, total_tokens: 4 } });
}

/** A picture of one pixel, and bytes after its end. */
export const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(200, 7)]);

function images(call: Call): void {
  const { n = 1 } = JSON.parse(call.body) as { n?: number };
  const data = Array.from({ length: n }, () => ({
    b64_json: png.toString('base64'),
    revised_prompt: 'a cat',
  }));
  send(call, { created, data });
}

async function transcription(call: Call): Promise<void> {
  const type = call.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return refuse(call, 422, 'Field required');
  const body = new Uint8Array(call.bytes);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const file = form.get('file');
  if (!(file instanceof File)) return refuse(call, 422, 'Field required');
  const sha256 = createHash('sha256')
    .update(new Uint8Array(await file.arrayBuffer()))
    .digest('hex');
  const others = [...form].filter(([name]) => name !== 'file');
  send(call, { text: `${file.name} ${file.type} ${sha256}`, fields: Object.fromEntries(others) });
}
