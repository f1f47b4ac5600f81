import { type AddressInfo, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Database } from '../../src/database/database.js';
import { dataSourceOptions } from '../../src/database/data-source.js';
import { createObservingPool } from '../../src/database/observing-database.js';
import { DatabaseSessions } from '../../src/database/sessions.js';
import { createStatementPool } from '../../src/database/statement-pool.js';

// A PostgreSQL that stops sends "ready" and "terminating connection" in one packet to a session that has just begun.

/** Returns a message of the protocol: its type, its length, its content. */
function message(type: string, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
}

const readyAndEnded = Buffer.concat([
  message('R', '\0\0\0\0'),
  message('Z', 'I'),
  message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
]);

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((socket) => {
    socket.once('data', () => socket.end(readyAndEnded));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/any`;
});
afterAll(() => server.close());

test.each<[string, () => pg.Pool]>([
  ['statements', () => createStatementPool({ sessions: new DatabaseSessions(url), size: 1 })],
  ['reads of operators', () => createObservingPool(new DatabaseSessions(url))],
])('a session of the pool for %s that ends at its start fails the statement only', async (_, open) => {
  const pool = open();
  const database = new Database(pool, { databasePreparedStatements: true });
  await expect(database.query({ name: 'one', text: 'SELECT 1' })).rejects.toThrow();
  await expect(database.atomically([{ name: 'one', text: 'SELECT 1' }, []])).rejects.toThrow();
  await pool.end();
});

test("a session of TypeORM's pool that ends at its start fails the statement only", async () => {
  const source = new DataSource(dataSourceOptions({ url, poolSize: 1 }));
  await expect(source.initialize()).rejects.toThrow();
});
