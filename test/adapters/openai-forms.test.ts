import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'] },
  models: { 'acme/hear': { aliases: ['whisper-1'] } },
});

/** Sends a form as OpenAI's client does, with an idempotency key. */
function transcribe(key: string, audio: string): Promise<Response> {
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new Blob([audio], { type: 'audio/wav' }), 'speech.wav');
  return fetch(`${service.url}/openai/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'idempotency-key': key },
    body: form,
  });
}

test('a form that is sent again under its idempotency key is one request', async () => {
  const first = await transcribe('one', 'hello');
  const again = await transcribe('one', 'hello');
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(await again.json()).toEqual(await first.json());
  expect(await calls.count('request')).toBe(1);
});

test('another file under the same idempotency key is refused', async () => {
  expect((await transcribe('two', 'hello')).status).toBe(200);
  const other = await transcribe('two', 'goodbye');
  expect([other.status, await other.json()]).toMatchObject([
    422,
    { error: { code: 'idempotency_key_reused' } },
  ]);
});
