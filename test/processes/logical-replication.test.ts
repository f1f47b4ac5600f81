import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/database/open-database.js';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { type TestService, startTestService, until } from '../support/index.js';
import { blocksOf } from '../support/page-examples.js';
import { ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

const page = 'docs/logical-replication.md';
const [publish, printPartitions] = blocksOf(page)
  .filter(({ language }) => language === 'sql')
  .map(({ code }) => code);

/** The procedure of the page, from one PostgreSQL to another, while calls come. */
const model = new ModelServer();
const servers: EmbeddedPostgres[] = [];
const clients: pg.Client[] = [];
let service: TestService | undefined;

beforeAll(() => model.start());
afterAll(async () => {
  await service?.stop();
  for (const client of clients) await client.end();
  for (const server of servers) await server.stop();
  await model.stop();
});

/** Returns a session on a new server. */
async function startServer(): Promise<{ url: string; client: pg.Client }> {
  const dataDir = join(await temporaryDirectory(), 'data');
  const server = new EmbeddedPostgres(dataDir);
  servers.push(server);
  const first = await connect(await server.start(), dataDir);
  await first.query('ALTER SYSTEM SET wal_level = logical');
  await first.end();
  clients.pop();
  await server.stop();
  const url = await server.start();
  return { url, client: await connect(url, dataDir) };
}

/** A session that its server ends makes the test fail, and the end of the server's log says why. */
async function connect(url: string, dataDir: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', ({ message }) => {
    const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
    process.stderr.write(`${message}\n${log.slice(-8_000)}\n`);
  });
  clients.push(client);
  await client.connect();
  return client;
}

async function read<Row extends object>(client: pg.Client, sql: string, values?: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(sql, values)).rows;
}

const startOn = async (databaseUrl: string): Promise<QueueCalls> => {
  service = await startTestService({
    models: model.file({ 'test/moved': { concurrency: 2 } }),
    limits: 'off',
    config: { databaseUrl, bootstrapApiKey: 'test_moved_key_0123456789' },
  });
  return new QueueCalls(service);
};

const tablesOf = (client: pg.Client): Promise<{ name: string }[]> =>
  read(
    client,
    `SELECT relname AS name FROM pg_class
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );

test('the service moves to another PostgreSQL by logical replication', async () => {
  const { url: oldUrl, client: old } = await startServer();
  const { url: newUrl, client: next } = await startServer();
  model.hold();
  let calls = await startOn(oldUrl);
  const done = await calls.submit('test/moved');
  await model.arrived(done);
  await model.answer(done, '"before"');
  await calls.reached(done, 'COMPLETED');

  // A request of another day, and a part of an output that is not of this hour.
  await old.query(`SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 3, 1)`);
  await old.query(`SELECT ensure_output_partitions(now() - interval '5 hours')`);
  await old.query(
    `INSERT INTO request SELECT (jsonb_populate_record(request, jsonb_build_object('id', uuid_at(now() - interval '3 days')))).*
     FROM request WHERE id = $1`,
    [done],
  );
  await old.query(
    `INSERT INTO output_delta (request_id, attempt, index, at, delta) VALUES ($1, 1, 0, now() - interval '5 hours', '""')`,
    [done],
  );

  await old.query(publish!);
  await openDatabase(newUrl, undefined, {});
  const tables = (await tablesOf(next)).map(({ name }) => name);
  const filled = [];
  for (const name of tables) if ((await read(next, `SELECT FROM "${name}"`)).length > 0) filled.push(name);
  expect(filled).toEqual(['key_change', 'migrations']);
  await next.query(`TRUNCATE ${filled.join()}`);
  const partitions = await read<{ statement: string }>(old, printPartitions!);
  expect(partitions.length).toBeGreaterThan(9);
  for (const { statement } of partitions) await next.query(statement);
  await next.query(`CREATE SUBSCRIPTION moved CONNECTION '${oldUrl}' PUBLICATION moved`);
  await until(async () => {
    const states = await read<{ state: string }>(next, 'SELECT srsubstate AS state FROM pg_subscription_rel');
    return states.length >= tables.length && states.every(({ state }) => state === 'r');
  });

  // Calls while it replicates.
  const later = await calls.submit('test/moved');
  await model.arrived(later);
  await model.answer(later, '"meanwhile"');
  await calls.reached(later, 'COMPLETED');
  const cancelled = await calls.submit('test/moved?delay=1h');
  expect((await calls.cancel(cancelled)).ok).toBe(true);
  const waiting: string[] = [];
  while (waiting.length < 6) waiting.push(await calls.submit('test/moved'));
  await until(() => model.running === 2);

  const stopping = service!.stop();
  model.release();
  await stopping;
  const [{ end }] = (await read<{ end: string }>(old, 'SELECT pg_current_wal_lsn() AS end')) as [
    { end: string },
  ];
  await until(async () => {
    const slots = await read(
      old,
      `SELECT FROM pg_replication_slots WHERE slot_name = 'moved' AND confirmed_flush_lsn >= $1`,
      [end],
    );
    return slots.length === 1;
  });
  for (const { name } of await tablesOf(old)) {
    const count = `SELECT count(*)::int AS rows FROM "${name}"`;
    expect([name, await read(next, count)]).toEqual([name, await read(old, count)]);
  }
  const sequences = await read<{ name: string }>(
    old,
    'SELECT sequencename AS name FROM pg_sequences ORDER BY 1',
  );
  expect(sequences.map(({ name }) => name)).toEqual(['migrations_id_seq', 'request_event_id', 'request_seq']);
  for (const { name } of sequences) {
    const [{ value }] = (await read<{ value: string }>(old, `SELECT last_value AS value FROM ${name}`)) as [
      { value: string },
    ];
    await next.query(`SELECT setval('${name}', ${value} + 100000)`);
  }
  await next.query('DROP SUBSCRIPTION moved');

  calls = await startOn(newUrl);
  const more = await calls.submit('test/moved');
  for (const id of [...waiting, more]) await calls.reached(id, 'COMPLETED');
  expect(waiting.map((id) => model.times(id)).filter((times) => times !== 1)).toEqual([]);
  expect(await (await calls.response(done)).json()).toBe('before');
  expect(await (await calls.response(later)).json()).toBe('meanwhile');
  expect((await calls.status(cancelled)).status).toBe('COMPLETED');
});
