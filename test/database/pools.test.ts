import { DataSource } from 'typeorm';
import { Connections } from '../../src/database/connections.js';
import { ObservingDatabase } from '../../src/database/observing-database.js';
import { Database } from '../../src/database/database.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

const text = `SELECT current_setting('enable_sort') AS sort, current_setting('enable_seqscan') AS scan,
  current_setting('plan_cache_mode') AS plans, current_setting('statement_timeout') AS timeout`;

test('statements of TypeORM have the default planner settings and a timeout of 5 s', async () => {
  expect(await service.app.get(DataSource).query(text)).toEqual([
    { sort: 'on', scan: 'on', plans: 'auto', timeout: '5s' },
  ]);
});

test('prepared statements have generic plans, with sorts and sequential scans disabled', async () => {
  expect(await service.app.get(Database).query({ name: 'settings', text })).toEqual([
    { sort: 'off', scan: 'off', plans: 'force_generic_plan', timeout: '0' },
  ]);
});

test('a query for operators takes at most 2 s, by a setting of its transaction', async () => {
  const observing = service.app.get(ObservingDatabase);
  expect(await observing.query({ name: 'looks', text })).toMatchObject([{ sort: 'on', timeout: '2s' }]);
  await expect(observing.query({ name: 'sleep', text: 'SELECT pg_sleep(60)' })).rejects.toMatchObject({
    cause: { code: '57014' },
  });
  const sessions = await service.query<{ query: string }>(
    `SELECT query FROM pg_stat_activity
     WHERE application_name = 'nowserving observer' AND query LIKE '%SET statement_timeout%'`,
  );
  expect(sessions).toEqual([]);
});

test('the connection counts include the pool of TypeORM', async () => {
  await service.app.get(DataSource).query('SELECT 1');
  const { idle, busy } = service.app.get(Connections).pools().plain!;
  expect(idle + busy).toBeGreaterThan(0);
});
