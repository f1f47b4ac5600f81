import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createTestDatabase, spawnService, type SpawnedService, until } from '../support/index.js';

const key = 'descriptors-key-0123456789';
const headers = { authorization: `Key ${key}` };
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: SpawnedService;
const sockets: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key, RATE_LIMIT_OTHER: 'off' };
  service = await spawnService(env, { openFiles: 900 });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  service.destroy();
  await database.drop();
});

/** Opens a connection, sends a call, and waits for the head of its answer or the end. */
async function send(path: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const said = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return String(said[0]).slice(0, 12);
}

const submit = (query = ''): Promise<Response> =>
  fetch(`${service.url}/v1/queue/demo/text/echo${query}`, { method: 'POST', headers, body: '{"text":"a"}' });

test('idle connections make room for others where a process may open few files', async () => {
  for (let i = 0; i < 800; i++) await send('/health/live');
  expect((await submit()).status).toBe(202);
});

test('streams beyond what the descriptors allow are refused, and submissions are still taken', async () => {
  const waiting = (await (await submit('?delay=1h')).json()) as { request_id: string };
  const path = `/v1/queue/requests/${waiting.request_id}/status/stream`;
  const answers: string[] = [];
  for (let i = 0; i < 450; i++) answers.push(await send(path));
  expect(answers.filter((answer) => answer === 'HTTP/1.1 200').length).toBeGreaterThan(100);
  expect(answers.filter((answer) => answer === 'HTTP/1.1 503').length).toBeGreaterThan(30);
  expect((await submit()).status).toBe(202);
  await until(() => service.output.includes('open streams and long polls'), { message: 'it is logged' });
});
