import { randomUUID } from 'node:crypto';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { FileCalls, fileId, someBytes } from '../support/file-calls.js';
import { ndjson } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';

const at = (path: string): object => ({ runner: { preset: 'openai', path } });
const { service } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'], corsOrigins: ['https://app.example'] },
  models: { 'acme/chat': at('/v1/chat/completions'), 'acme/plain': {} },
});
const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${service.url}/openai/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${service.key}`, ...(init.headers as object) },
  });
const post = (path: string, body: object): Promise<Response> =>
  call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

const choices = [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
const chunks = [
  { id: 'c', object: 'chat.completion.chunk', choices },
  { id: 'c', object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 8 } },
];

test.each([
  [{}, chunks.slice(0, 1)],
  [{ stream_options: { include_usage: true } }, chunks],
])('deltas that are chunks have the usage only if the call asks for it: %j', async (options, shown) => {
  const body = ndjson(chunks.map((delta) => ({ type: 'delta', delta })));
  const asked = { model: 'acme/plain', stream: true, type: 'application/x-ndjson', body };
  const text = await (await post('/chat/completions', { ...asked, ...options })).text();
  const sent = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  expect(sent.map((event) => JSON.parse(event.slice(6)) as unknown)).toEqual(shown);
});

test('a form for a model that answers chats is refused, and no request is made', async () => {
  const form = new FormData();
  form.set('model', 'acme/chat');
  form.set('file', new Blob(['hello'], { type: 'audio/wav' }), 'speech.wav');
  const answer = await call('/audio/transcriptions', { method: 'POST', body: form });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { param: 'model', message: expect.stringContaining('not audio/transcriptions') } },
  ]);
  expect(await service.query("SELECT FROM request WHERE model_id = 'acme/chat'")).toEqual([]);
});

test('a page of files or batches after an unknown id is 404, not an empty last page', async () => {
  for (const path of ['/files', '/batches']) {
    const answer = await call(`${path}?after=${randomUUID()}`);
    expect([path, answer.status]).toEqual([path, 404]);
  }
});

test('a page of files after the last one is empty', async () => {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob(['{}']), 'lines.jsonl');
  const { id } = (await (await call('/files', { method: 'POST', body: form })).json()) as { id: string };
  expect(await (await call(`/files?after=${id}`)).json()).toMatchObject({ data: [], has_more: false });
});

test.each(['User-Agent', 'OpenAI-Beta'])(
  'CORS allows the header %s, which clients in a browser send',
  async (name) => {
    const answer = await fetch(`${service.url}/openai/v1/models`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': `authorization, ${name.toLowerCase()}`,
      },
    });
    expect(answer.headers.get('access-control-allow-headers')!.split(/, ?/)).toContain(name);
  },
);

test('a speech response breaks off when its stored file is truncated', async () => {
  const url = await new FileCalls(service).store(someBytes(100_000), 'audio/mpeg', 'speech.mp3');
  const folder = join(service.config.dataDir, 'files');
  const stored = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.includes(`${fileId(url)}-`),
  )!;
  truncateSync(join(folder, stored), 70_000);
  const answer = await call('/audio/speech', {
    method: 'POST',
    body: JSON.stringify({ model: 'acme/plain', body: JSON.stringify({ file: { url } }) }),
    signal: AbortSignal.timeout(5_000),
  });
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '100000']);
  await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
});
