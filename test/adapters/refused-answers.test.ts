import { randomBytes } from 'node:crypto';
import { Allowances, type Hold } from '../../src/allowances/allowances.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { RequestHandlers } from '../../src/requests/request-handlers.js';
import { FileCalls } from '../support/file-calls.js';
import { onNextCall } from '../support/on-next-call.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const maxCallerBytes = 100_000;
const { service, calls, model } = testQueue({
  limits: 'off',
  config: { adapters: ['fal', 'openai', 'replicate', 'runpod'], maxCallerBytes },
  models: { 'acme/text': { concurrency: 100 } },
});

/** Too large for an answer that is not charged. */
const long = randomBytes(30_000).toString('hex');
const sound = randomBytes(20_000);
let imageUrl: string;

beforeAll(async () => {
  imageUrl = await new FileCalls(service).store(randomBytes(15_000));
  model.respond = ({ body, response }) => {
    const { answer } = JSON.parse(body) as { answer?: string };
    if (answer === 'long') response.writeHead(200, { 'content-type': 'application/json' });
    if (answer === 'long') response.end(JSON.stringify({ long }));
    if (answer === 'image') response.writeHead(200, { 'content-type': 'application/json' });
    if (answer === 'image') response.end(JSON.stringify({ data: [{ url: imageUrl }] }));
    if (answer === 'bad') response.writeHead(400).end('{}');
    if (answer === 'sound') response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound);
  };
});

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, ...headers },
    body: JSON.stringify(body),
  });
}

/** Charges the caller with as much as it may hold. */
async function busy(): Promise<Hold> {
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  return service.app.get(Allowances).charge(`key:${key!.id}`, 'bytes', maxCallerBytes);
}

const repeated = { 'x-stainless-retry-count': '1' };
const openai = { model: 'acme/text', answer: 'long' };
const wrapped = { input: { answer: 'long' } };

it.each<[string, string, object, Record<string, string>?]>([
  ['a chat', '/openai/v1/chat/completions', openai, repeated],
  ['a response', '/openai/v1/responses', openai, repeated],
  [
    'an image',
    '/openai/v1/images/generations',
    { ...openai, answer: 'image', response_format: 'b64_json' },
    repeated,
  ],
  ['a speech', '/openai/v1/audio/speech', { ...openai, answer: 'sound' }, repeated],
  ['a run of fal', '/fal/run/acme/text', { answer: 'long' }],
  ['a runsync of Runpod', '/runpod/v2/acme/text/runsync', wrapped],
  ['a prediction of Replicate', '/replicate/v1/models/acme/text/predictions', wrapped, { prefer: 'wait' }],
])(
  '%s whose answer is refused gets it with the next call, without another run',
  async (_, path, body, headers) => {
    const before = model.calls.length;
    const all = await busy();
    const first = headers === repeated ? {} : headers;
    const refused = await post(path, body, first);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    await until(async () => (await service.query('SELECT FROM abandoned_call')).length === 1);
    all.release();
    const answer = await post(path, body, headers);
    expect(answer.ok).toBe(true);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThanOrEqual(sound.length);
    expect(model.calls.length).toBe(before + 1);
    expect(await service.query('SELECT FROM abandoned_call')).toEqual([]);
    // A call that got its answer is not taken up by another one.
    expect((await post(path, body, headers)).ok).toBe(true);
    expect(model.calls.length).toBe(before + 2);
  },
);

test('the failure of a request is an answer, so a repetition is another request', async () => {
  const before = model.calls.length;
  for (const headers of [{}, repeated]) {
    const answer = await post('/openai/v1/chat/completions', { ...openai, answer: 'bad' }, headers);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('x-should-retry')).toBe('false');
  }
  expect(model.calls.length).toBe(before + 2);
  expect(await service.query('SELECT FROM abandoned_call')).toEqual([]);
});

const begun = { input: { text: long } };

test('a prediction with a large input is answered with it, although its body counts as well', async () => {
  const answer = await post('/replicate/v1/models/acme/text/predictions', begun);
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ status: 'starting', ...begun });
});

test('a prediction that was accepted is answered without what its caller has no room for', async () => {
  let all: Hold | undefined;
  onNextCall(service.app.get(RequestHandlers), 'accept', (accept) => async (...call) => {
    const accepted = await accept(...call);
    all = await busy();
    return accepted;
  });
  const answer = await post('/replicate/v1/models/acme/text/predictions', begun);
  all?.release();
  const prediction = (await answer.json()) as { id: string };
  expect([answer.status, prediction]).toMatchObject([201, { status: 'starting', id: expect.any(String) }]);
  expect(prediction).not.toHaveProperty('input');
  await model.arrived(prediction.id);
});

it.each<[string, string, object, object]>([
  ['prediction of Replicate', '/replicate/v1/models/acme/text/predictions', begun, { status: 'starting' }],
  ['request of fal', '/fal/acme/text', begun, { status: 'IN_QUEUE' }],
])('a %s is accepted once, although nothing can be read after it', async (_, path, body, expected) => {
  onNextCall(
    service.app.get(RequestHandlers),
    'find',
    () => () => Promise.reject(new DatabaseUnavailable('away', undefined)),
  );
  const answer = await post(path, body);
  const { id, request_id = id } = (await answer.clone().json()) as { id?: string; request_id?: string };
  expect([answer.ok, await answer.json()]).toMatchObject([true, expected]);
  await model.arrived(request_id!);
  await calls.status(request_id!);
});

test('the download of a kept file counts towards the bytes of its key while it is open', async () => {
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new Blob([Buffer.alloc(32 * 1024 ** 2)]), 'large.bin');
  const headers = keyHeader(service.key);
  const stored = await fetch(`${service.url}/openai/v1/files`, { method: 'POST', headers, body: form });
  const { id } = (await stored.json()) as { id: string };
  const download = (): Promise<Response> => service.get(`/openai/v1/files/${id}/content`, { headers });
  const first = await download();
  expect(first.status).toBe(200);
  const refused = await download();
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { error: { code: 'rate_limit_exceeded' } },
  ]);
  await first.body!.cancel();
  await until(async () => {
    const next = await download();
    await next.body?.cancel();
    return next.ok;
  });
});
