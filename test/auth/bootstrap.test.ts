import { ownNode } from '../../src/audit/actor.js';
import { AuditedKeys } from '../../src/audit/audited-keys.js';
import { KeySecret } from '../../src/auth/key-secret.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { Config } from '../../src/config/config.js';
import { Caller } from '../support/caller.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';

let database: TestDatabase;
const apps: Caller[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const { service } of apps.splice(0)) await service.stop();
  await database.drop();
});

async function start(bootstrapApiKey?: string): Promise<Caller> {
  const config = { databaseUrl: database.url, bootstrapApiKey, role: 'api' as const };
  const app = new Caller(await startTestService({ config }));
  apps.push(app);
  return app;
}

/** Starts as if the database were the embedded one. */
async function startEmbedded(): Promise<Caller> {
  const app = await start();
  app.service.app.get(Config).databaseUrl = undefined;
  return app;
}

const chosen = 'chosen-by-somebody-1234';

test('BOOTSTRAP_API_KEY exists after the first start, with all scopes', async () => {
  const app = await start(chosen);
  expect((await app.submit(chosen)).status).toBe(202);
  const [key] = await app.keys.list();
  expect(key).toMatchObject({
    name: 'bootstrap',
    prefix: 'chose',
    scopes: ['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin'],
    models: null,
  });
});

test('the creation of the bootstrap key is audited once, in the name of the node', async () => {
  const nodes = [await start(chosen), await start(chosen)];
  const entries = await nodes[0]!.service.query(
    `SELECT action, actor_name LIKE 'node %' AS is_node, target, after FROM audit_entry`,
  );
  const [key] = await nodes[0]!.keys.list();
  expect(entries).toMatchObject([
    { action: 'key.create', is_node: true, target: key!.id, after: { name: 'bootstrap' } },
  ]);
});

test('any number of nodes and starts make one bootstrap key', async () => {
  const nodes = [await start(chosen), await start(chosen), await start(chosen)];
  await Promise.all(nodes.map(({ keys }) => keys.bootstrap()));
  await nodes[0]!.keys.bootstrap();
  expect(await nodes[0]!.keys.list()).toHaveLength(1);
});

test('a bootstrap key that was revoked stays revoked', async () => {
  const app = await start(chosen);
  await app.keys.revoke((await app.keys.list())[0]!.id);
  await app.keys.bootstrap();
  expect((await app.submit(chosen)).status).toBe(401);
});

test('a bootstrap key that was refused before its creation works soon after it', async () => {
  const app = await start();
  expect((await app.submit(chosen)).status).toBe(401);
  app.service.app.get(Config).bootstrapApiKey = chosen;
  await app.keys.bootstrap();
  await until(async () => (await app.submit(chosen)).status === 202);
});

test('an embedded database without keys gets an admin key and an application key, once', async () => {
  const app = await startEmbedded();
  const { printOnce } = await app.service.app.get(AuditedKeys).bootstrap(ownNode('node one'));
  const made = [printOnce!.admin, printOnce!.caller].map(({ secret }) => secret.reveal());
  for (const key of made) {
    expect(key).toMatch(/^ns_[\w-]{43}$/);
    expect((await app.submit(key)).status).toBe(202);
  }
  const admits = (key: string): Promise<Response> =>
    fetch(`${app.service.url}/v1/admin/keys`, { headers: { authorization: `Key ${key}` } });
  expect((await Promise.all(made.map(admits))).map(({ status }) => status)).toEqual([200, 403]);
  expect(await app.keys.bootstrap()).toEqual({});
  expect(await app.keys.list()).toMatchObject([
    { name: 'bootstrap', scopes: ['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin'] },
    { name: 'applications', scopes: ['submit', 'read', 'cancel'] },
  ]);
  const entries = await app.service.query(`SELECT after ->> 'name' AS name FROM audit_entry
    WHERE action = 'key.create' ORDER BY id`);
  expect(entries).toEqual([{ name: 'bootstrap' }, { name: 'applications' }]);
});

test('an external database gets no key unless one is configured', async () => {
  const app = await start();
  expect(await app.service.app.get(KeysService).bootstrap()).toEqual({ isMissing: true });
  expect(await app.keys.list()).toEqual([]);
});

test('the hash of a secret is its SHA-256', () => {
  expect(new KeySecret('abc').hash().toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
