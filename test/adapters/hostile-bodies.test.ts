import { adapters } from '../../src/config/adapter.js';
import { expectNoInternals, type RawAnswer, send } from '../support/hostile-client.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ limits: 'off', config: { adapters: [...adapters] } });

const model = 'demo/text/echo';

function post(path: string, body: string): Promise<RawAnswer> {
  const fields = [
    'Host: a',
    'Connection: close',
    `Authorization: Bearer ${service.key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return send(service, `POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, Buffer.from(body));
}

/** By route: a body that is accepted, or would be if what it names existed. */
const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/openai/v1/chat/completions': { model, messages: [], stream_options: {}, response_format: {} },
  '/openai/v1/completions': { model, prompt: 'a' },
  '/openai/v1/embeddings': { model, encoding_format: 'base64', data: [{ embedding: [1] }] },
  '/openai/v1/images/generations': { model, response_format: 'b64_json', data: [{ url: 'a' }] },
  '/openai/v1/audio/speech': { model, file: { url: 'a' } },
  '/openai/v1/responses': { model, background: true, conversation: null, output: [], object: 'response' },
  '/openai/v1/batches': {
    input_file_id: 'a',
    endpoint: '/v1/chat/completions',
    completion_window: '1h',
    metadata: { a: 'b' },
    output_expires_after: { anchor: 'created_at', seconds: 3_600 },
  },
  '/replicate/v1/predictions': { version: model, input: {}, webhook: 'a', webhook_events_filter: ['start'] },
  '/runpod/v2/demo/text/echo/run': {
    input: {},
    webhook: 'a',
    policy: { executionTimeout: 5_000, ttl: 9_000, lowPriority: true },
    s3Config: null,
  },
  '/runpod/v2/demo/text/echo/runsync': { input: {}, policy: {} },
  '/fal/demo/text/echo': { a: 1 },
  '/fal/run/demo/text/echo': { a: 1 },
  '/fal/storage/upload/initiate': { content_type: 'image/png', file_name: 'a' },
  '/v1/batches': { model_id: model, requests: [{ custom_id: 'a', input: {} }], tag: 'a:b', webhook: 'a' },
  '/v1/webhook-endpoints': { url: 'https://hooks.example/', events: ['request.completed'] },
};

const odd: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'constructor',
  'a\0b',
  '\ud800',
  [],
  [[]],
  {},
  // Texts and numbers cannot be made of these.
  { toString: 1, valueOf: 1 },
  [{ toString: 1, valueOf: 1 }],
];

/** Returns the body with each odd value in the place of each value, at any depth. */
function oddOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return [...odd, ...oddOf(value[0]).map((one) => [one])];
  if (typeof value !== 'object' || value === null) return [...odd];
  const members = Object.entries(value);
  return [
    ...odd,
    ...members.flatMap(([name, member]) => oddOf(member).map((one) => ({ ...value, [name]: one }))),
  ];
}

/** Whole bodies that are odd as texts. */
function oddTexts(body: object): string[] {
  const text = JSON.stringify(body);
  const [open, close] = [text.slice(0, -1), text.slice(1)];
  return [
    '',
    '[]',
    '"a"',
    '1e999',
    open,
    `${text}a`,
    `\ufeff${text}`,
    `${open},${close}`,
    `{"__proto__":{"model":1,"input":1},${close}`,
    `${open},"\\u0000":1}`,
    `${open},"z":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    `${open},"z":${'9'.repeat(100_000)}}`,
  ];
}

/** How errors look, by the first segment of the path. */
const errorForms: Readonly<Record<string, object>> = {
  fal: { detail: expect.anything() },
  openai: { error: { message: expect.any(String), type: expect.any(String) } },
  replicate: { detail: expect.any(String), title: expect.any(String), status: expect.any(Number) },
  runpod: { error: expect.any(String), code: expect.any(String) },
  v1: { code: expect.any(String), detail: expect.any(String), timestamp: expect.any(String) },
};

test.each(Object.entries(bodies))(
  'a malformed request body never causes a 5xx response: %s',
  async (path, body) => {
    const texts = [...oddOf(body).map((one) => JSON.stringify(one)), ...oddTexts(body)];
    const failed: unknown[] = [];
    for (const text of texts) {
      const answer = await post(path, text);
      if (!(answer.status < 500)) failed.push([text.slice(0, 200), answer.status, answer.body]);
      if (answer.status < 400) continue;
      expectNoInternals(answer, text);
      expect(JSON.parse(answer.body)).toMatchObject(errorForms[path.split('/')[1]!]!);
    }
    expect(failed).toEqual([]);
  },
);
