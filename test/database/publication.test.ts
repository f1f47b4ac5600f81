import { createDataSource, migrations } from '../../src/database/data-source.js';
import { Expirer } from '../../src/queue/completion/duties/expirer.js';
import { PartitionKeeper } from '../../src/queue/retention/duties/partition-keeper.js';
import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { AdminCalls } from '../support/admin-calls.js';
import { FileCalls } from '../support/file-calls.js';
import { keyHeader } from '../support/queue-calls.js';
import { createEmptyDatabase } from '../support/test-database.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, receiver, hooks } = testWebhooks();

// Independent of wal_level: a published table accepts no update unless its rows have a replica identity.
beforeAll(() => service.query('CREATE PUBLICATION everything FOR ALL TABLES'));

const withoutIdentity = `
  SELECT relname FROM pg_class
  WHERE relkind IN ('r', 'p')
    AND relnamespace = 'public'::regnamespace
    AND relreplident = 'd'
    AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`;

test('every table has a replica identity, also partitions that are created later', async () => {
  await service.query(`SELECT ensure_partitions('2001-01-01', 1), ensure_output_partitions('2001-01-01')`);
  expect(await service.query(withoutIdentity)).toEqual([]);
  const { published } = (
    await service.query<{ published: number }>(`SELECT count(*)::int AS published FROM pg_publication_tables`)
  )[0]!;
  expect(published).toBeGreaterThan(30);
});

test('keys are created, changed and revoked while all tables are published', async () => {
  const admin = new AdminCalls(service);
  const { id, key } = await admin.json<{ id: string; key: string }>('POST', '/keys', {
    body: { name: 'published', limits: { submit: '5/s' } },
  });
  await admin.json('PATCH', `/keys/${id}`, { body: { name: 'renamed', max_running: 1 } });
  expect((await service.submit('test/hook', { body: '1' }, keyHeader(key))).status).toBe(202);
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBeLessThan(300);
  expect((await service.submit('test/hook', { body: '1' }, keyHeader(key))).status).toBe(401);
});

test('requests are run, cancelled and erased, and webhooks are sent, while all tables are published', async () => {
  const { path } = await hooks.submit({ body: '1' });
  await receiver.arrived(path);
  const headers = keyHeader(service.key);
  const cancelled = await calls.submit('test/hook', { hold: true });
  expect((await calls.cancel(cancelled, { headers })).status).toBeLessThan(300);
  await calls.reached(cancelled, 'COMPLETED');
  const erased = await calls.run('test/hook', { body: '1' });
  expect((await service.get(calls.path(erased), { method: 'DELETE', headers })).status).toBeLessThan(300);
  const files = new FileCalls(service);
  const { upload_url } = await files.initiate();
  expect((await files.put(upload_url, 'bytes')).ok).toBe(true);
});

test('models are paused and resumed, and nodes are drained, while all tables are published', async () => {
  const admin = new AdminCalls(service);
  const model = encodeURIComponent('test/hook');
  await admin.json('PATCH', `/models/${model}`, { body: { paused: 'hold', concurrency: 2 } });
  await admin.json('PATCH', `/models/${model}`, { body: { paused: false, concurrency: null } });
  const [node] = await service.query<{ id: string }>('SELECT id FROM node');
  expect((await admin.call('POST', `/nodes/${node!.id}/drain`)).status).toBeLessThan(300);
  expect((await admin.call('DELETE', `/nodes/${node!.id}/drain`)).status).toBeLessThan(300);
});

test('the duties prune, expire and keep partitions while all tables are published', async () => {
  for (const duty of [Pruner, Expirer, PartitionKeeper]) await service.app.get(duty).runOnce();
  const published = await service.query(
    `SELECT FROM pg_publication_tables WHERE tablename = 'request_20010101'`,
  );
  expect(published).toEqual([]);
});

test('all migrations can be undone while all tables are published', async () => {
  const database = await createEmptyDatabase();
  const dataSource = await createDataSource({ url: database.url, poolSize: 1 }).initialize();
  await dataSource.query('CREATE PUBLICATION everything FOR ALL TABLES');
  await dataSource.runMigrations();
  for (let left = migrations.length; left > 0; left--) await dataSource.undoLastMigration();
  expect(await dataSource.query(withoutIdentity)).toEqual([]);
  await dataSource.destroy();
  await database.drop();
});
