import { JsonThreads } from '../../src/json/json-threads.js';
import { maxInlineBytes } from '../../src/models/input-schemas.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ limits: 'off', config: { adapters: ['openai'] } });

const large = Array.from({ length: 20_000 }, (_, nth) => ({ nth }));
const largeBytes = JSON.stringify(large).length;

function post(path: string, body: object): Promise<Response> {
  return fetch(`${service.url}/openai/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify(body),
  });
}

function transcribe(fields: Readonly<Record<string, string>>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return fetch(`${service.url}/openai/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body,
  });
}

/** Returns the largest JSON that the event loop has parsed in the meantime. */
async function largestParsed(work: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON;
  let largest = 0;
  JSON.parse = (text: string, ...more: []) => {
    largest = Math.max(largest, text.length);
    return parse(text, ...more) as unknown;
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return largest;
}

test('every call parses a large output off the event loop', async () => {
  expect(largeBytes).toBeGreaterThan(4 * maxInlineBytes);
  const asked = { model: 'demo/text/echo', data: large };
  const texts: string[] = [];
  const text = async (answer: Response): Promise<void> => {
    expect(answer.status).toBe(200);
    texts.push(await answer.text());
  };
  const largest = await largestParsed(async () => {
    await text(await post('responses', asked));
    await text(await post('chat/completions', asked));
    await text(await post('chat/completions', { ...asked, stream: true }));
    await text(await post('embeddings', { ...asked, encoding_format: 'base64' }));
    await text(await post('images/generations', { ...asked, response_format: 'b64_json' }));
    await text(await post('audio/speech', asked));
    await text(await post('responses', { ...asked, stream: true }));
    const form = { model: 'demo/text/echo', text: JSON.stringify(large) };
    await text(await transcribe(form));
    await text(await transcribe({ ...form, stream: 'true' }));
  });
  for (const one of texts) expect(one.length).toBeGreaterThan(largeBytes);
  expect(largest).toBeLessThan(2 * maxInlineBytes);
  expect(JSON.parse(texts[0]!)).toMatchObject({ status: 'completed', object: 'response' });
  expect(texts[2]!.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(texts[6]).toContain('event: response.completed\n');
  expect(texts[8]).toContain('"type":"transcript.text.done"');
  const { id } = JSON.parse(texts[0]!) as { id: string };
  const read = await largestParsed(async () => {
    const headers = { authorization: `Key ${service.key}` };
    await text(await service.get(`/openai/v1/responses/${id}`, { headers }));
    await text(await service.get(`/openai/v1/responses/${id}?stream=true`, { headers }));
  });
  expect(read).toBeLessThan(2 * maxInlineBytes);
  expect(service.app.get(JsonThreads).load).toEqual({ waiting: 0, running: 0 });
});
