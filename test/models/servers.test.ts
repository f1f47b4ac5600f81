import { sha256, FileCalls, someBytes } from '../support/file-calls.js';
import type { Call } from '../support/model-server.js';
import { problemOf } from '../support/queue-calls.js';
import { BentoMl } from '../support/servers/bentoml.js';
import { Cog } from '../support/servers/cog.js';
import { ComfyUi } from '../support/servers/comfyui.js';
import { Gradio } from '../support/servers/gradio.js';
import { llamaCpp } from '../support/servers/llama-cpp.js';
import { ollama } from '../support/servers/ollama.js';
import { openai, png } from '../support/servers/openai.js';
import { tgi } from '../support/servers/tgi.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const chat = { preset: 'openai', path: '/v1/chat/completions' };
const { service, calls, model } = testQueue({
  limits: '1000/s',
  models: {
    'acme/chat': { runner: { ...chat, request: { set: { model: 'llama' } } } },
    'acme/streamed': {
      runner: {
        ...chat,
        request: { set: { model: 'llama', stream: true, stream_options: { include_usage: true } } },
      },
    },
    'acme/by-input': { runner: chat },
    'acme/completion': { runner: { preset: 'openai', path: '/v1/completions' } },
    'acme/embed': { runner: { preset: 'openai', path: '/v1/embeddings' } },
    'acme/image': { runner: { preset: 'openai', path: '/v1/images/generations' } },
    'acme/hear': { runner: { preset: 'openai', path: '/v1/audio/transcriptions' } },
    'acme/speak': { runner: { preset: 'openai', path: '/v1/audio/speech' } },
    'acme/llama': { runner: { preset: 'llama.cpp', path: '/completion' } },
    'acme/tgi': { runner: { preset: 'tgi', path: '/generate_stream', headers: { 'x-server': 'tgi' } } },
    'acme/tgi/whole': { runner: { preset: 'tgi', path: '/generate', headers: { 'x-server': 'tgi' } } },
    'acme/ollama': { runner: { preset: 'ollama', path: '/api/chat' } },
    'acme/cog': { runner: { preset: 'cog', path: '/predictions' } },
    'acme/comfy': { runner: { preset: 'comfyui', path: '/comfy', follow: { every: '20ms' } }, attempts: 2 },
    'acme/bento': { runner: { preset: 'bentoml', path: '/bento/summarize', follow: { every: '20ms' } } },
    'acme/gradio': { runner: { preset: 'gradio', path: '/gradio_api/call/predict' } },
    'acme/silent': {
      runner: { preset: 'gradio', path: '/gradio_api/call/predict', idle_timeout: '200ms' },
    },
    'acme/named': {
      runner: {
        path: '/named',
        request: {
          method: 'PUT',
          set: { user: '{tag.user}', meta: { run: '{run_id}', of: '{request_id}' }, drop: null },
          wrap: 'job',
          headers: { 'x-user': '{tag.user} of {key} at {priority}, attempt {attempt}, from {base}' },
        },
      },
    },
  },
});
const files = new FileCalls(service);
const cog = new Cog();
const comfy = new ComfyUi();
const bento = new BentoMl();
const gradio = new Gradio();

/** The stand-ins for servers, by the first segment of their paths. */
const servers: Record<string, (call: Call) => void> = {
  v1: openai,
  completion: llamaCpp,
  generate: tgi,
  generate_stream: tgi,
  api: ollama,
  predictions: cog.respond,
  'health-check': cog.respond,
  readyz: bento.respond,
  // The same path in both servers: llama.cpp answers with JSON, TGI with nothing.
  health: (call) => (call.headers['x-server'] === 'tgi' ? tgi(call) : llamaCpp(call)),
  comfy: comfy.respond,
  bento: bento.respond,
  gradio_api: gradio.respond,
};

const respond = (call: Call): void => servers[call.url.split('/')[1]!]!(call);
// The service checks the health of the servers as soon as it starts.
model.respond = respond;

beforeEach(() => {
  model.respond = respond;
});

async function output(modelId: string, input: unknown): Promise<unknown> {
  const id = await calls.run(modelId, input);
  const answer = await calls.response(id);
  expect([answer.status, modelId, (await calls.status(id)).error]).toEqual([200, modelId, null]);
  return answer.json();
}

async function failureMessage(modelId: string, input: unknown): Promise<string | undefined> {
  const id = await calls.run(modelId, input);
  return (await calls.status(id)).error?.message;
}

const ask = (content: string, more: object = {}): object => ({
  messages: [{ role: 'user', content }],
  ...more,
});

/** Returns the answer without what differs from call to call. */
function unnamed(answer: unknown): object {
  const { id, ...others } = answer as { id: string };
  expect(id).toMatch(/^chatcmpl-/);
  return others;
}

test.each([
  ['text', ask('hello my friend')],
  ['three choices', ask('hello', { n: 3 })],
  ['calls of tools', ask('Oslo', { tools: [{ type: 'function' }] })],
])('a streamed chat has the same answer as one without a stream: %s', async (_, input) => {
  const streamed = unnamed(await output('acme/streamed', input));
  expect(streamed).toEqual(unnamed(await output('acme/chat', input)));
});

test('a chat streams if its input asks for it, and its texts are in the output stream', async () => {
  const id = await calls.run('acme/by-input', ask('one two', { model: 'm', stream: true }));
  const { value } = { value: (await (await calls.response(id)).json()) as { choices: unknown[] } };
  expect(value.choices).toEqual([
    expect.objectContaining({ message: { role: 'assistant', content: 'You said: one two' } }),
  ]);
  const events = await (await service.get(`${calls.path(id)}/output/stream`)).text();
  const parts = [...events.matchAll(/^data: (\{"index".*)$/gm)].map(
    ([, data]) => JSON.parse(data!) as object,
  );
  expect(parts.map((part) => (part as { delta: string }).delta).join('')).toBe('You said: one two');
});

test.each([
  ['break in the middle', /^The connection to the model broke/],
  ['end without an end', /^The model's stream ended without its end mark/],
  ['run out of memory', /^CUDA out of memory$/],
])('a stream that must "%s" is a failure', async (said, message) => {
  expect(await failureMessage('acme/streamed', ask(said))).toMatch(message);
});

test('the usage that a server states is stored with the attempt and shown', async () => {
  const whole = await calls.run('acme/chat', ask('hello'));
  const streamed = await calls.run('acme/streamed', ask('hello'));
  const used = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  for (const id of [whole, streamed]) {
    expect((await calls.status(id)).metrics).toMatchObject({ usage: used });
    const rows = await service.query(
      `SELECT attempt.usage, history.usage AS seen
       FROM attempt JOIN request_history AS history ON history.id = request_id WHERE request_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ usage: used, seen: used }]);
  }
});

test('the refusal of a server reaches the caller', async () => {
  const id = await calls.run('acme/by-input', ask('no model'));
  const problem = await problemOf(await calls.response(id));
  expect([problem.status, JSON.stringify(problem)]).toEqual([400, expect.stringContaining('Field required')]);
});

test('completions, embeddings and speech return their outputs', async () => {
  const streamed = await output('acme/completion', { prompt: 'once upon a time', stream: true });
  expect(streamed).toMatchObject({
    choices: [{ index: 0, text: 'once upon a time', finish_reason: 'length' }],
  });
  expect(await output('acme/embed', { input: ['a', 'bcd'] })).toMatchObject({
    data: [{ embedding: [1, 0.5] }, { embedding: [3, 0.5] }],
  });
  expect(await output('acme/speak', { input: 'hi', voice: 'alloy' })).toMatchObject({
    file: { content_type: 'audio/mpeg', size: 5 },
  });
});

test('pictures become files, and the answer has their URLs', async () => {
  const { data } = (await output('acme/image', { prompt: 'a cat', n: 2 })) as { data: { url: string }[] };
  expect(data).toEqual([1, 2].map(() => ({ revised_prompt: 'a cat', url: expect.any(String) as string })));
  for (const { url } of data) {
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await answer.arrayBuffer()).equals(png)).toBe(true);
  }
});

test.each([
  ['an uploaded file', async (sound: Buffer<ArrayBuffer>) => files.store(sound, 'audio/wav', 'a voice.wav')],
  ['a data URL', (sound: Buffer<ArrayBuffer>) => `data:audio/wav;base64,${sound.toString('base64')}`],
])('a sound is sent as a part of a form: %s', async (kind, make) => {
  const sound = someBytes(300_000);
  const file = await make(sound);
  const heard = await output('acme/hear', {
    file,
    model: 'whisper-1',
    temperature: 0.2,
    words: ['a', 'b'],
    // It has the same value as the file, and is another member.
    prompt: file,
  });
  const name = kind === 'a data URL' ? 'file' : 'a%20voice.wav';
  expect(heard).toEqual({
    text: expect.stringMatching(new RegExp(`^(${name}|a voice.wav) audio/wav ${sha256(sound)}$`)) as string,
    fields: { model: 'whisper-1', temperature: '0.2', 'words[]': 'b', prompt: file },
  });
});

test('an empty file is sent as an empty file', async () => {
  const file = await files.store('', 'audio/wav', 'silence.wav');
  expect(await output('acme/hear', { file, model: 'whisper-1' })).toEqual({
    text: `silence.wav audio/wav ${sha256('')}`,
    fields: { model: 'whisper-1' },
  });
});

test('a file of another service is not fetched', async () => {
  const message = await failureMessage('acme/hear', { file: 'http://169.254.169.254/latest', model: 'm' });
  expect(message).toMatch(/URL of another service/);
});

test('llama.cpp: the whole answer and the stream are the same', async () => {
  const whole = await output('acme/llama', { prompt: 'once upon a time' });
  expect(await output('acme/llama', { prompt: 'once upon a time', stream: true })).toEqual(whole);
  expect(await failureMessage('acme/llama', { prompt: 'break here', stream: true })).toMatch(
    /without its end mark/,
  );
});

test('TGI: the whole answer and the stream are the same, and a failure in the stream fails the run', async () => {
  for (const inputs of ['deep learning is', '']) {
    const whole = await output('acme/tgi/whole', { inputs });
    expect(await output('acme/tgi', { inputs })).toEqual(whole);
  }
  expect(await failureMessage('acme/tgi', { inputs: 'fail now' })).toBe('Request failed during generation');
});

test('Ollama: the whole answer and the stream are the same', async () => {
  const input = { model: 'llama3', ...ask('well met') };
  const whole = await output('acme/ollama', { ...input, stream: false });
  expect(await output('acme/ollama', input)).toEqual(whole);
  expect(await failureMessage('acme/ollama', { model: 'm', ...ask('fail') })).toMatch(
    /^an error was encountered/,
  );
});

describe.each([
  ['a model without a stream', false],
  ['a model that streams', true],
])('Cog, %s', (_, isStreaming) => {
  beforeEach(() => {
    cog.isStreaming = isStreaming;
  });

  test('the input is wrapped, and the output is unwrapped', async () => {
    const expected = isStreaming ? ['a ', 'small ', 'cat'] : 'seen: a small cat';
    const id = await calls.run('acme/cog', { prompt: 'a small cat' });
    expect(await (await calls.response(id)).json()).toEqual(expected);
    expect(await calls.status(id)).toMatchObject({
      error: null,
      metrics: { usage: isStreaming ? { tokens: 3 } : { steps: 4 } },
    });
    const rows = await service.query('SELECT delta FROM output_delta WHERE request_id = $1 ORDER BY index', [
      id,
    ]);
    expect(rows.map(({ delta }) => delta as string).join('')).toBe(isStreaming ? 'a small cat' : '');
  });

  test('a failed prediction fails the run', async () => {
    expect(await failureMessage('acme/cog', { prompt: 'fail' })).toBe('CUDA out of memory');
  });

  test('a data URL becomes a file of this service', async () => {
    const [url] = (await output('acme/cog', { prompt: 'a picture' })) as string[];
    expect(url).toMatch(/^http/);
    expect(Buffer.from(await (await fetch(url!)).arrayBuffer()).equals(png)).toBe(true);
  });
});

test('Cog: cancelling a request cancels its prediction', async () => {
  cog.isStreaming = true;
  const id = await calls.submit('acme/cog', { prompt: 'hold' });
  const own = await until(() =>
    cog.begun.find((name) => model.calls.some((call) => call.id === id && call.url.endsWith(name))),
  );
  await calls.cancel(id);
  await until(() => cog.cancelled.includes(own));
  await until(async () => (await rowsOf(id)).length === 0);
});

test('a server that is busy costs no attempt', async () => {
  cog.isStreaming = false;
  cog.isBusy = true;
  const id = await calls.submit('acme/cog', { prompt: 'a dog' });
  await until(() => model.times(id) >= 2);
  cog.isBusy = false;
  await calls.reached(id, 'COMPLETED');
  expect(await (await calls.response(id)).json()).toBe('seen: a dog');
  expect(await calls.status(id)).toMatchObject({ attempt: 1 });
});

test('placeholders are filled in the body and in headers', async () => {
  let seen: Call | undefined;
  model.respond = (call) => {
    seen = call;
    call.response.writeHead(200, { 'content-type': 'application/json' }).end('1');
  };
  const id = await calls.submit('acme/named?tag=user:zoe&priority=low', { drop: 1, prompt: 'x' });
  await calls.reached(id, 'COMPLETED');
  expect([seen!.method, JSON.parse(seen!.body)]).toEqual([
    'PUT',
    {
      job: {
        prompt: 'x',
        user: 'zoe',
        meta: { run: expect.stringMatching(/^[\da-f-]{36}$/) as string, of: id },
      },
    },
  ]);
  const { origin } = new URL(model.url);
  expect(seen!.headers['x-user']).toMatch(new RegExp(`^zoe of .+ at low, attempt 1, from ${origin}$`));
});

const workflow = (text: string): object => ({ prompt: { 1: { class_type: 'Sampler', text } } });

test('ComfyUI: a workflow is followed, and its pictures become files', async () => {
  const outputs = (await output('acme/comfy', workflow('a cat'))) as { 9: { images: { url: string }[] } };
  const [image] = outputs[9].images;
  expect(image).toMatchObject({ filename: 'a cat.png', type: 'output' });
  expect(Buffer.from(await (await fetch(image!.url)).arrayBuffer()).equals(png)).toBe(true);
  expect(await failureMessage('acme/comfy', workflow('fail'))).toBe('CUDA out of memory');
  const refused = await problemOf(await calls.response(await calls.run('acme/comfy', { prompt: {} })));
  expect([refused.status, JSON.stringify(refused)]).toEqual([
    400,
    expect.stringContaining('prompt_no_outputs'),
  ]);
});

/** Submits a workflow that goes on until it is released. */
async function heldRun(): Promise<{ id: string; runId: string }> {
  const before = comfy.jobs.length;
  const id = await calls.submit('acme/comfy', workflow('hold'));
  await until(() => comfy.jobs[before]?.status === 'in_progress');
  return { id, runId: comfy.jobs[before]!.id };
}

const rowsOf = (id: string): Promise<object[]> =>
  service.query('SELECT start FROM followed_run WHERE request_id = $1', [id]);

test('ComfyUI: a cancel interrupts the run at the server', async () => {
  const { id, runId } = await heldRun();
  expect(await rowsOf(id)).toEqual([{ start: 1 }]);
  await calls.cancel(id);
  await until(() => comfy.interrupted.includes(runId));
  await calls.reached(id, 'COMPLETED');
  await until(async () => (await rowsOf(id)).length === 0);
});

test('ComfyUI: a restart loses the run, and the next attempt begins another', async () => {
  const { id, runId } = await heldRun();
  comfy.restart();
  await until(() => comfy.jobs[0]?.status === 'in_progress', { timeoutMs: 20_000 });
  expect(comfy.jobs[0]!.id).not.toBe(runId);
  comfy.release();
  await calls.reached(id, 'COMPLETED');
  expect(await calls.status(id)).toMatchObject({ attempt: 2, error: null });
  await until(async () => (await rowsOf(id)).length === 0);
});

test('BentoML: a task is followed through the failures of a proxy', async () => {
  expect(await output('acme/bento', { text: 'a story' })).toEqual({ summary: 'seen: a story' });
  expect(await output('acme/bento', { text: 'a picture' })).toMatchObject({
    file: { content_type: 'image/png' },
  });
  expect(await failureMessage('acme/bento', { text: 'fail' })).toBe('CUDA out of memory');
});

test('BentoML: cancelling a request cancels its task', async () => {
  const id = await calls.submit('acme/bento', { text: 'hold' });
  await until(async () => (await rowsOf(id)).length === 1);
  const task = `task-${bento.tasks.size}`;
  await calls.cancel(id);
  await until(() => bento.cancelled.includes(task));
});

test('Gradio: an event is read to its end, and its files are fetched', async () => {
  expect(await output('acme/gradio', { data: ['well met', true] })).toEqual(['well met', -15.5]);
  const [file, number] = (await output('acme/gradio', { data: ['a picture'] })) as [{ url: string }, number];
  expect([file, number]).toEqual([expect.objectContaining({ orig_name: 'a cat.png' }), 7]);
  expect(file.url).toContain('/v1/files/');
  expect(Buffer.from(await (await fetch(file.url)).arrayBuffer()).equals(png)).toBe(true);
});

test.each([
  ['fail', /^CUDA out of memory$/],
  ['fail silently', /without a message/],
  ['cut', /^The connection to the model broke/],
  ['end', /^The model's stream ended without its end mark \(complete\)/],
])('Gradio: an event that must "%s" is a failure', async (what, message) => {
  expect(await failureMessage('acme/gradio', { data: [what] })).toMatch(message);
});

test('Gradio: a stream that is silent for too long fails the run', async () => {
  expect(await failureMessage('acme/silent', { data: ['hold'] })).toMatch(/^The model's stream was silent/);
});

test('Gradio: a cancel closes the stream, which cancels the event', async () => {
  const id = await calls.submit('acme/gradio', { data: ['hold'] });
  const held = await until(() => [...gradio.inputs].findLast(([, text]) => text === 'hold')?.[0]);
  await until(() => model.calls.some(({ url }) => url.endsWith(`/${held}`)));
  expect(await rowsOf(id)).toEqual([]);
  await calls.cancel(id);
  await calls.reached(id, 'COMPLETED');
  await until(() => gradio.left.includes(held));
});
