import { reachDatabase } from '../../src/database/reach.js';
import { AdminCalls } from '../support/admin-calls.js';
import { DatabaseGate } from '../support/database-gate.js';
import { QueueCalls } from '../support/queue-calls.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  startTestService,
  type TestDatabase,
  until,
} from '../support/index.js';
import { createEncodedDatabase } from '../support/test-database.js';

let database: TestDatabase;
const use = async (created: Promise<TestDatabase>): Promise<void> => void (database = await created);

/** Returns the SQL at the end of a refusal. */
async function refusalOf(url: string, what: RegExp): Promise<string> {
  const { message } = await reachDatabase(url).then(
    () => new Error('was not refused'),
    (error: Error) => error,
  );
  expect(message).toMatch(what);
  return /run: (.*;)$/.exec(message)![1]!;
}

describe('a late database', () => {
  let gate: DatabaseGate;

  beforeEach(async () => {
    await use(createTestDatabase());
    gate = await DatabaseGate.before(database.url);
    gate.close();
  });
  afterEach(async () => {
    await gate.stop();
    await database.drop();
  });

  test('is waited for, with one sentence that names it', async () => {
    const reports: string[] = [];
    const reached = reachDatabase(gate.url, { report: (sentence) => reports.push(sentence) });
    await until(() => reports.length > 0);
    gate.open();
    expect((await reached).url).toBe(gate.url);
    const { host, pathname } = new URL(gate.url);
    expect(reports).toEqual([
      expect.stringContaining(`Waiting up to 60 s for the database at ${host}${pathname}: `),
    ]);
    expect(reports[0]).not.toContain(new URL(gate.url).password);
  });

  test('is not waited for after a signal', async () => {
    const abort = new AbortController();
    await expect(
      reachDatabase(gate.url, { signal: abort.signal, report: () => abort.abort() }),
    ).rejects.toThrow(/abort/);
  });

  test('is reported as unreachable after the wait', async () => {
    const reports: string[] = [];
    const reached = reachDatabase(gate.url, {
      waitMs: 700,
      report: (sentence) => reports.push(sentence),
    });
    await expect(reached).rejects.toThrow(/^The database at .* cannot be reached: /);
    expect(reports).toHaveLength(1);
  });
});

test('a host name that is not known yet is waited for', async () => {
  const reports: string[] = [];
  const abort = new AbortController();
  const reached = reachDatabase('postgres://somebody@not-there.invalid/queue', {
    signal: abort.signal,
    report: (sentence) => {
      reports.push(sentence);
      abort.abort();
    },
  });
  await expect(reached).rejects.toThrow(/abort/);
  expect(reports).toEqual([expect.stringMatching(/not-there\.invalid\/queue: .*(ENOTFOUND|EAI_AGAIN)/)]);
});

describe('a database that the service cannot use is refused with the remedy:', () => {
  afterEach(() => database.drop());

  test.each(['LATIN1', 'SQL_ASCII'])('the encoding %s', async (encoding) => {
    await use(createEncodedDatabase(encoding));
    await expect(reachDatabase(database.url)).rejects.toThrow(
      new RegExp(
        `has the encoding ${encoding}, .*CREATE DATABASE \\w+ TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';`,
      ),
    );
  });

  test('a role that may not create tables, which can serve after the grant that is named', async () => {
    await use(createEmptyDatabase());
    const { role, url } = await database.createRole();
    const grant = await refusalOf(url, new RegExp(`^The role ${role} may not create tables in .*CREATE`));
    expect(grant).toBe(`GRANT CREATE ON SCHEMA public TO ${role};`);
    await database.run(grant);
    const service = await startTestService({ limits: 'off', config: { databaseUrl: url } });
    const id = await new QueueCalls(service).submit('demo/text/echo', { text: 'hello' });
    const admin = new AdminCalls(service);
    await until(async () =>
      (await (await admin.call('GET', `/requests/${id}`)).text()).includes('COMPLETED'),
    );
    expect(await (await service.get('/health/ready')).json()).toMatchObject({ status: 'ok' });
    await service.stop();
  });

  test('a role whose search_path has no schema that it may use', async () => {
    await use(createEmptyDatabase());
    const { role, url } = await database.createRole();
    await database.run(`CREATE SCHEMA apart; ALTER ROLE ${role} SET search_path = '$user', apart, public`);
    await database.run('REVOKE USAGE ON SCHEMA public FROM PUBLIC');
    const grant = await refusalOf(url, new RegExp(`^The role ${role} has no schema for its tables`));
    expect(grant).toBe(`GRANT USAGE, CREATE ON SCHEMA apart TO ${role};`);
    await database.run(grant);
    await reachDatabase(url);
    await database.run(`ALTER ROLE ${role} SET search_path = '$user'`);
    expect(await refusalOf(url, /no schema/)).toBe(`CREATE SCHEMA ${role} AUTHORIZATION ${role};`);
  });

  test('a role that does not own the tables', async () => {
    await use(createTestDatabase());
    const { role, url } = await database.createRole();
    const grant = await refusalOf(url, new RegExp(`^The role ${role} does not own the tables`));
    expect(grant).toBe(`GRANT postgres TO ${role};`);
    await database.run(grant);
    await reachDatabase(url);
  });

  test('a role that may not connect', async () => {
    await use(createEmptyDatabase());
    const { role, url } = await database.createRole();
    const name = new URL(url).pathname.slice(1);
    await database.run(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
    const grant = await refusalOf(url, /cannot be reached: permission denied for database/);
    expect(grant).toBe(`GRANT CONNECT ON DATABASE "${name}" TO "${role}";`);
    await database.run(grant);
    await database.run(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await reachDatabase(url);
  });
});
