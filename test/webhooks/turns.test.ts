import { type AddressInfo, createServer, type Server } from 'node:net';
import { CollectionCalls } from '../support/collection-calls.js';
import { until } from '../support/index.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, receiver, hooks } = testWebhooks();

const silent: Server[] = [];
let connections = 0;

beforeAll(async () => {
  for (let i = 0; i < 100; i++) {
    const server = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
    });
    silent.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
});
afterAll(() => {
  for (const server of silent) server.close();
});

test('a new receiver is called although another key has a hundred receivers that never answer', async () => {
  // No try of theirs ends before the test does.
  Object.assign(hooks.terms, { timeoutMs: 600_000, claimMs: 600_000, maxTries: 32 });
  const requests = silent.map((server) => {
    const { port } = server.address() as AddressInfo;
    return { model_id: 'test/hook', input: {}, webhook: `http://127.0.0.1:${port}/` };
  });
  await new CollectionCalls(service).batch(requests, await calls.newKey());
  // Half of all tries are for hosts on trial, and a key may have half of those.
  const most = 8;
  await until(() => connections >= most, { message: 'the first key has as many tries as it may' });
  const { id, path } = await hooks.submit();
  await receiver.arrived(path);
  await hooks.only(id, 'delivered');
  expect(connections).toBe(most);
  const [row] = await service.query(
    `SELECT count(*)::integer AS tried FROM webhook_delivery WHERE host <> $1 AND cardinality(tries) > 0`,
    [`127.0.0.1:${receiver.port}`],
  );
  expect(row).toEqual({ tried: 0 });
});
