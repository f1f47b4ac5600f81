import { readFile } from 'node:fs/promises';
import type { Browser, Locator } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab, looks } from '../support/console-tab.js';
import type { Call } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const presets: Record<string, { preset: string; path: string }> = {
  'acme/chat': { preset: 'openai', path: '/v1/chat/completions' },
  'acme/image': { preset: 'openai', path: '/v1/images/generations' },
  'acme/speech': { preset: 'openai', path: '/v1/audio/speech' },
  'acme/ollama': { preset: 'ollama', path: '/api/chat' },
  'acme/llama': { preset: 'llama.cpp', path: '/completion' },
  'acme/tgi': { preset: 'tgi', path: '/generate_stream' },
  'acme/cog': { preset: 'cog', path: '/predictions' },
};
// The server answers all calls alike, so it has no health check.
const runners = Object.entries(presets).map(([id, runner]): [string, object] => [
  id,
  { runner: { ...runner, health: 'off' } },
]);
const { service, model } = testQueue({
  limits: 'off',
  models: { ...Object.fromEntries(runners), 'acme/plain': {} },
});
let browser: Browser;
let tab: ConsoleTab;
let output: Locator;

beforeAll(async () => {
  browser = await launchChromium();
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
  output = tab.page.getByRole('region', { name: 'Output' });
});
afterAll(() => browser.close());

/** Submits an input in Try. Returns the call that reaches the model's server. */
async function tried(modelId: string): Promise<Call> {
  const before = model.calls.length;
  await tab.show(`try/${modelId}`);
  await tab.page.locator('textarea').fill('{"prompt": "hello"}');
  await tab.click('Submit');
  return until(() => model.calls[before], { message: `${modelId} is called` });
}

/** Waits until the output is shown, with this text to read. */
async function reads(text: string): Promise<void> {
  await output.locator('.tree').waitFor();
  expect(await output.locator('pre.answer').allInnerTexts()).toEqual([text]);
}

const shows = (text: string | RegExp): Promise<void> => output.getByText(text).first().waitFor();

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const line = (value: object): string => `${JSON.stringify(value)}\n`;
const chunk = (delta: object, finish_reason: string | null = null): string =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
const usage = { prompt_tokens: 5, completion_tokens: 1_203, prompt_tokens_details: { cached_tokens: 4 } };
const said = (content: string, done: boolean): string =>
  line({ model: 'm', message: { role: 'assistant', content }, done });
const token = (text: string, generated_text: string | null = null): string =>
  event({ token: { id: 1, text, special: generated_text !== null }, generated_text });

interface Stream {
  modelId: string;
  type: string;
  /** What makes the texts "Once" and " upon". */
  parts: [string, string];
  end: string;
}

const streams: Stream[] = [
  {
    modelId: 'acme/chat',
    type: 'text/event-stream',
    parts: [
      chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Once' }),
      chunk({ content: ' upon' }),
    ],
    end: `${chunk({}, 'stop')}${event({ object: 'chat.completion.chunk', choices: [], usage })}data: [DONE]\n\n`,
  },
  {
    modelId: 'acme/ollama',
    type: 'application/x-ndjson',
    parts: [said('Once', false), said(' upon', false)],
    end: said('', true),
  },
  {
    modelId: 'acme/llama',
    type: 'text/event-stream',
    parts: [event({ content: 'Once', stop: false }), event({ content: ' upon', stop: false })],
    end: event({ content: '', stop: true }),
  },
  {
    modelId: 'acme/tgi',
    type: 'text/event-stream',
    parts: [token('Once'), token(' upon')],
    end: token('</s>', 'Once upon'),
  },
  {
    // A server without a preset, whose deltas are the chunks of another one.
    modelId: 'acme/plain',
    type: 'application/x-ndjson',
    parts: [
      line({ type: 'delta', delta: { content: 'Once', stop: false } }),
      line({ type: 'delta', delta: { content: ' upon', stop: false } }),
    ],
    end: line({ type: 'output', output: { content: 'Once upon', stop: true } }),
  },
];

describe('Try shows the text of a stream as it grows, and then as the output', () => {
  test.each(streams)('$modelId', async ({ modelId, type, parts: [first, second], end }) => {
    model.respond = ({ response }) => void response.writeHead(200, { 'content-type': type }).write(first);
    const { response } = await tried(modelId);
    const growing = output.locator('.growing');
    await growing.getByText('Once', { exact: true }).waitFor();
    response.write(second);
    await growing.getByText('Once upon', { exact: true }).waitFor();
    response.end(end);
    await shows('and succeeded');
    await reads('Once upon');
    expect(tab.complaints).toEqual([]);
  });
});

test('Try shows what a run has used as a table', async () => {
  const body = JSON.stringify({ object: 'chat.completion', choices: [], usage });
  model.respond = ({ response }) => answer(response, 'application/json', body);
  await tried('acme/chat');
  const table = output.getByRole('table', { name: 'Usage' });
  await table.waitFor();
  const rows = (await table.locator('tbody tr').allInnerTexts()).map((row) =>
    row.split(/\s/).filter(Boolean),
  );
  expect(rows).toEqual([
    ['prompt_tokens', '5'],
    ['completion_tokens', '1', '203'],
    ['prompt_tokens_details.cached_tokens', '4'],
  ]);
});

test('the words of a prediction are one text', async () => {
  const body = JSON.stringify({ status: 'succeeded', output: ['Once', ' upon', ' a time'] });
  model.respond = ({ response }) => answer(response, 'application/json', body);
  await tried('acme/cog');
  await shows('and succeeded');
  await reads('Once upon a time');
});

test.each([
  ['in an event of a stream', 200, 'text/event-stream', event({ error: { message: 'CUDA out of memory' } })],
  ['with a status', 400, 'application/json', JSON.stringify({ error: { message: 'CUDA out of memory' } })],
])('a failure that a server reports %s is told in its words', async (_, status, type, body) => {
  model.respond = ({ response }) => answer(response, type, body, status);
  await tried('acme/chat');
  await output.locator('.notice', { hasText: /model_error .*CUDA out of memory/ }).waitFor();
});

const picture = await readFile(new URL('../../docs/pictures/console-request-light.png', import.meta.url));
/** A tenth of a second of silence. */
const sound = Buffer.concat([
  Buffer.from('524946460000000057415645666d74201000000001000100401f0000401f00000100080064617461', 'hex'),
  Buffer.from([0x20, 0x03, 0, 0]),
  Buffer.alloc(800, 128),
]);
sound.writeUInt32LE(sound.length - 8, 4);

describe('Try shows files by their types', () => {
  test('a picture that stood in an answer as base64', async () => {
    const body = JSON.stringify({ created: 1, data: [{ b64_json: picture.toString('base64') }] });
    model.respond = ({ response }) => answer(response, 'application/json', body);
    await tried('acme/image');
    await output.locator('img').waitFor();
    await until(() => tab.page.evaluate<boolean>(`document.querySelector('main img').naturalWidth === 1200`));
    await shows(/^image\/png, \d+\skB$/);
  });

  test('a sound', async () => {
    model.respond = ({ response }) => answer(response, 'audio/wav', sound);
    await tried('acme/speech');
    await output.locator('audio').waitFor();
    await until(() => tab.page.evaluate<boolean>(`document.querySelector('main audio').duration > 0`));
    await shows(/^audio\/wav, 844\sB$/);
  });

  test('a video', async () => {
    model.respond = ({ response }) => answer(response, 'video/mp4', Buffer.alloc(2_000));
    await tried('acme/plain');
    await output.locator('video').waitFor();
    await shows(/^video\/mp4, 2\.0\skB$/);
  });

  test('anything else, such as a 3D model, is downloaded', async () => {
    const bytes = Buffer.from('glTF'.repeat(300));
    model.respond = ({ response }) => answer(response, 'model/gltf-binary', bytes);
    await tried('acme/plain');
    await shows(/^model\/gltf-binary, 1\.2\skB$/);
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      output.getByRole('link', { name: 'Download output.glb' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('output.glb');
    expect(await readFile(await download.path())).toEqual(bytes);
    for (const [look, viewport, colorScheme] of looks) {
      await tab.page.setViewportSize(viewport);
      await tab.page.emulateMedia({ colorScheme });
      await until(async () => (await tab.findings()).length === 0, {
        explain: async () => `${look}: ${(await tab.findings()).join(', ')}`,
      });
    }
    await tab.page.setViewportSize(looks[0][1]);
    expect(tab.complaints).toEqual([]);
  });
});

test("a model's page shows its preset and its address, without what may be secret in it", async () => {
  await tab.show('models/acme/chat');
  const server = tab.page.getByRole('region', { name: 'Server' });
  expect(await server.innerText()).toMatch(/Preset: openai/);
  expect(await server.innerText()).toContain(new URL(model.url).origin);
  expect(await server.innerText()).not.toContain('/v1/chat');
  await tab.show('models/acme/plain');
  expect(await server.innerText()).toMatch(/Preset: none/);
});

function answer(response: Call['response'], type: string, body: string | Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
