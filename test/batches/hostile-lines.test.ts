import { BatchCalls } from '../support/batch-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls } = testQueue({
  limits: 'off',
  config: { adapters: ['openai'] },
  models: { 'test/wide': {} },
});

const names = {
  'a NUL': 'a\0b',
  'half of a surrogate pair': '\ud800',
  'a megabyte': 'a'.repeat(1024 ** 2),
};

test.each(Object.entries(names))(
  'a batch of a key for some models fails if a line names a model with %s',
  async (_, model_id) => {
    const batches = new BatchCalls({ url: service.url, key: await calls.newKey({ models: ['test/*'] }) });
    const { batch_id } = await batches.send(JSON.stringify({ custom_id: '1', model_id, input: {} }));
    const { status, errors } = await batches.ended(batch_id);
    expect([status, errors]).toEqual([
      'failed',
      [{ line: 1, code: 'forbidden', message: 'This API key may not use this model.' }],
    ]);
  },
);

interface OpenAiBatch {
  id: string;
  status: string;
  errors: { data: { line: number; message: string }[] } | null;
}

test.each(Object.entries(names))(
  "a batch of OpenAI's client fails if its key is for some models and a line names a model with %s",
  async (_, model) => {
    const headers = { authorization: `Bearer ${await calls.newKey({ models: ['test/*'] })}` };
    const url = `${service.url}/openai/v1`;
    const form = new FormData();
    form.set('purpose', 'batch');
    const line = { custom_id: '1', method: 'POST', url: '/v1/embeddings', body: { model } };
    form.set('file', new Blob([JSON.stringify(line)]), 'lines.jsonl');
    const stored = await fetch(`${url}/files`, { method: 'POST', headers, body: form });
    const { id: input_file_id } = (await stored.json()) as { id: string };
    const terms = { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' };
    const made = await fetch(`${url}/batches`, { method: 'POST', headers, body: JSON.stringify(terms) });
    const { id } = (await made.json()) as OpenAiBatch;
    const batch = await until(async () => {
      const found = (await (await fetch(`${url}/batches/${id}`, { headers })).json()) as OpenAiBatch;
      return found.status !== 'validating' && found;
    });
    expect([batch.status, batch.errors?.data]).toEqual([
      'failed',
      [expect.objectContaining({ line: 1, message: 'This API key may not use this model.' })],
    ]);
  },
);
