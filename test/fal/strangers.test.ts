import { createFalClient, type FalClient } from '@fal-ai/client';
import { falAt } from '../support/fal-client.js';
import { until } from '../support/until.js';

const service = { url: 'http://127.0.0.1:3000', key: 'ns_secret' };
const image = 'acme/image/upscale';

let sent: string[];
/** A network that sends nothing, but notes the origin of every call. */
const network = ((url: string | URL | Request) => {
  sent.push(new URL(url instanceof Request ? url.url : url).origin);
  return Promise.resolve(Response.json({ request_id: 'id', file_url: 'f', upload_url: `${service.url}/up` }));
}) as typeof fetch;
const webSocket = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');

beforeEach(() => {
  sent = [];
  const opened = function (url: string): void {
    sent.push(new URL(url).origin);
  };
  Object.defineProperty(globalThis, 'WebSocket', { value: opened, configurable: true });
});
afterEach(() => {
  if (webSocket === undefined) Reflect.deleteProperty(globalThis, 'WebSocket');
  else Object.defineProperty(globalThis, 'WebSocket', webSocket);
});

async function streamed(fal: FalClient, options: object): Promise<unknown> {
  const stream = await fal.stream(image, { input: {}, ...options } as Parameters<typeof fal.stream>[1]);
  return stream.done();
}

const large = { size: 91 * 1024 * 1024, type: 'image/png', slice: () => new Blob([]) } as unknown as Blob;

const calls: [string, (fal: FalClient) => Promise<unknown>][] = [
  ['run of an address', (fal) => fal.run('https://api.fal.ai/a/b', { input: {} })],
  ['run of an address that ends alike', (fal) => fal.run('https://evil-fal.run/a/b', { input: {} })],
  ['run of another scheme', (fal) => fal.run('http://queue.fal.run/a/b', { input: {} })],
  ['stream with a token of fal', (fal) => streamed(fal, { connectionMode: 'client' })],
  ['an upload in parts', (fal) => fal.storage.upload(large)],
];

test.each(calls)('%s is refused, and nothing is sent', async (_name, call) => {
  const fal = falAt(service, service.key, network);
  const outcome = call(fal).then(
    () => 'was sent',
    (error: Error) => error.message,
  );
  expect(await outcome).toMatch(/^Refused: \S+ is not served by http:\/\/127\.0\.0\.1:3000\.$/);
  expect(sent).toEqual([]);
});

test('realtime gets no token, so it opens no connection', async () => {
  let asked = 0;
  const credentials = (): string => `ns_${++asked}`;
  const fal = falAt(service, credentials, network);
  const before = asked;
  fal.realtime.connect(image, { onResult: () => undefined }).send({ prompt: 'x' });
  // The client does not report that it got no token; it takes the key from the place where this fails.
  await until(() => asked > before || sent.length > 0);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
});

test('supported calls go to the service, and nowhere else', async () => {
  const fal = falAt(service, service.key, network);
  await fal.queue.submit(image, { input: { image: new Blob(['x']) }, webhookUrl: 'https://hooks.example/' });
  await fal.queue.status(image, { requestId: 'id' });
  await fal.queue.cancel(image, { requestId: 'id' });
  await fal.storage.upload(new Blob(['x']));
  await fal.run(image, { input: {} });
  // The client takes an address that is not fal's for the id of a model.
  await fal.run('https://elsewhere.example/a/b', { input: {} });
  await fal.run('https://queue.fal.run.evil.example/a/b', { input: {} });
  await streamed(fal, {});
  const tokenProvider = (): Promise<string> => Promise.resolve('token');
  await streamed(fal, { connectionMode: 'client', tokenProvider });
  expect(sent).toHaveLength(12);
  expect(new Set(sent)).toEqual(new Set([service.url]));
});

test('with "proxyUrl" every call that has the key goes to the service', async () => {
  const fal = createFalClient({
    credentials: service.key,
    fetch: network,
    proxyUrl: { url: `${service.url}/fal`, when: 'always' },
  });
  const proxied = calls.filter(([name]) => !name.includes('with a token'));
  await Promise.allSettled(proxied.map(([, call]) => call(fal)));
  expect(sent.length).toBeGreaterThan(3);
  expect(new Set(sent)).toEqual(new Set([service.url]));
});
