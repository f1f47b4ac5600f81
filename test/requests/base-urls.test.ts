import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { someBytes } from '../support/file-calls.js';
import type { QueueCalls } from '../support/queue-calls.js';
import { testNodes } from '../support/test-nodes.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const publicBaseUrl = 'https://queue.example/api';
const { model, start } = testNodes({ 'test/picture': {} });
const receiver = new WebhookReceiver();
beforeAll(async () => {
  await receiver.start();
  model.respond = ({ response }) =>
    void response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(100));
});
afterAll(() => receiver.stop());

/** Starts a node that takes calls and has a PUBLIC_BASE_URL, and one that does the work and has none. */
async function startBoth(): Promise<QueueCalls> {
  const shared = { dataDir: await temporaryDirectory(), webhookAllow };
  const calls = await start({ ...shared, role: 'api', publicBaseUrl });
  await start({ ...shared, role: 'scheduler' });
  return calls;
}

const hook = (path: string): string => `webhook=${encodeURIComponent(receiver.url(path))}`;
const bodyAt = async <Body>(path: string): Promise<Body> =>
  JSON.parse((await receiver.arrived(path))[0]!.body) as Body;
const outputWithFile = (): object => ({
  file: expect.objectContaining({ url: expect.stringContaining(`${publicBaseUrl}/v1/files/`) as string }),
});

test('the URLs of a request begin with the PUBLIC_BASE_URL of the node that took it, wherever it runs', async () => {
  const calls = await startBoth();
  const id = await calls.submit(`test/picture?${hook('/request')}`);
  expect(await (await calls.response(id)).json()).toEqual(outputWithFile());
  expect(await bodyAt('/request')).toMatchObject({
    response_url: `${publicBaseUrl}/v1/queue/requests/${id}`,
  });
});

test('the URLs of a batch begin with the PUBLIC_BASE_URL of the node that took it, wherever it runs', async () => {
  const batches = new BatchCalls((await startBoth()).service);
  const { batch_id: id } = await batches.send(inputLines(1), `?model_id=test/picture&${hook('/batch')}`);
  expect(await bodyAt('/batch')).toMatchObject({ batch_url: `${publicBaseUrl}/v1/batches/${id}` });
  const { output } = await batches.results(await batches.ended(id));
  expect(output).toEqual([expect.objectContaining({ output: outputWithFile() })]);
});
