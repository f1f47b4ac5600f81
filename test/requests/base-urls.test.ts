import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { someBytes } from '../support/file-calls.js';
import { testNodes } from '../support/test-nodes.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const publicBaseUrl = 'https://queue.example/api';
const { model, start } = testNodes({ 'test/picture': {} });
const receiver = new WebhookReceiver();
beforeAll(() => receiver.start());
afterAll(() => receiver.stop());

const hook = (path: string): string => `webhook=${encodeURIComponent(receiver.url(path))}`;
const bodyAt = async <Body>(path: string): Promise<Body> =>
  JSON.parse((await receiver.arrived(path))[0]!.body) as Body;

test('URLs begin with the PUBLIC_BASE_URL of the node that took the request, if the node that runs it has none', async () => {
  model.respond = ({ response }) =>
    void response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(100));
  const shared = { dataDir: await temporaryDirectory(), webhookAllow };
  const calls = await start({ ...shared, role: 'api', publicBaseUrl });
  await start({ ...shared, role: 'scheduler' });

  const id = await calls.submit(`test/picture?${hook('/request')}`);
  expect(await (await calls.response(id)).json()).toMatchObject({
    file: { url: expect.stringMatching(/^https:\/\/queue\.example\/api\/v1\/files\//) as string },
  });
  expect(await bodyAt('/request')).toMatchObject({
    response_url: `${publicBaseUrl}/v1/queue/requests/${id}`,
  });

  const batches = new BatchCalls(calls.service);
  const query = `?model_id=test/picture&${hook('/batch')}`;
  const { batch_id: batch } = await batches.send(inputLines(1), query);
  expect(await bodyAt('/batch')).toMatchObject({ batch_url: `${publicBaseUrl}/v1/batches/${batch}` });
  const { output } = await batches.results(await batches.ended(batch));
  expect(output).toEqual([
    expect.objectContaining({
      output: { file: expect.objectContaining({ url: expect.stringContaining(publicBaseUrl) as string }) },
    }),
  ]);
});
