import { connect, type Socket } from 'node:net';
import { createTestDatabase, spawnService, type SpawnedService, until } from '../support/index.js';

/** More than Node keeps by default. */
const connections = 800;
const sockets: Socket[] = [];
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: SpawnedService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await spawnService({ DATABASE_URL: database.url, BOOTSTRAP_API_KEY: 'connection-burst-key' });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  service.destroy();
  await database.drop();
});

test('no connection of a burst is dropped while the event loop is busy', async () => {
  const { hostname, port } = new URL(service.url);
  let connected = 0;
  let answered = 0;
  service.kill('SIGSTOP');
  try {
    for (let i = 0; i < connections; i++) {
      const socket = connect(Number(port), hostname, () => connected++);
      socket.on('error', () => undefined);
      socket.once('data', () => answered++);
      socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      sockets.push(socket);
    }
    await until(() => connected === connections, {
      message: 'every connection waits in the queue of the listening socket',
      explain: () => `${connected} are connected`,
    });
  } finally {
    service.kill('SIGCONT');
  }
  await until(() => answered === connections, {
    message: 'every call is answered',
    explain: () => `${answered} were answered`,
  });
});
