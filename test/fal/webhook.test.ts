import { Webhook } from 'standardwebhooks';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { falAt } from '../support/fal-client.js';
import { testWebhooks } from '../support/test-webhooks.js';
import type { Hook } from '../support/webhook-receiver.js';

const { service, receiver, hooks } = testWebhooks({ adapters: ['fal'] });

async function hookOf(input: object): Promise<{ id: string; hook: Hook }> {
  const path = hooks.newPath();
  const webhookUrl = receiver.url(path);
  const { request_id: id } = await falAt(service).queue.submit('test/hook', { input, webhookUrl });
  const [hook] = await receiver.arrived(path);
  return { id, hook: hook! };
}

test("a success is sent in fal's form, with the output as the model wrote it", async () => {
  const { id, hook } = await hookOf({ body: '{"n":12345678901234567890.10}' });
  expect(hook.body).toBe(
    `{"request_id":"${id}","gateway_request_id":"${id}","status":"OK","error":null,` +
      '"payload":{"n":12345678901234567890.10}}',
  );
  const [key] = await service.query<{ id: string }>(`SELECT id FROM api_key`);
  const secret = await service.app.get(WebhookSecrets).secretOf(key!.id);
  const signed = hook.headers as unknown as Record<string, string>;
  expect(new Webhook(secret).verify(hook.body, signed)).toMatchObject({ request_id: id });
});

test('a failure is sent with the error of its result', async () => {
  const detail = [{ loc: ['body', 'seed'], msg: 'too large', type: 'value_error' }];
  const { id, hook } = await hookOf({ status: 422, body: JSON.stringify({ detail }) });
  expect(JSON.parse(hook.body)).toEqual({
    request_id: id,
    gateway_request_id: id,
    status: 'ERROR',
    error: 'The model answered 422.',
    payload: { detail },
  });
});

test('an output that is too large to send is left out and reported as too_large', async () => {
  const { hook } = await hookOf({ body: JSON.stringify('x'.repeat(256 * 1024)) });
  expect(JSON.parse(hook.body)).toMatchObject({ status: 'OK', payload: null, payload_error: 'too_large' });
});

test("an endpoint of the key is notified in the service's own form", async () => {
  const path = hooks.newPath();
  await service.query(
    'INSERT INTO webhook_endpoint (id, api_key_id, url) SELECT gen_random_uuid(), id, $1 FROM api_key',
    [receiver.url(path)],
  );
  const { id } = await hookOf({});
  const [hook] = await receiver.arrived(path);
  expect(JSON.parse(hook!.body)).toMatchObject({ type: 'request.completed', request_id: id });
});
