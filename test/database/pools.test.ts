import { DataSource } from 'typeorm';
import { Connections } from '../../src/database/connections.js';
import { Database } from '../../src/database/database.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

const text = `SELECT current_setting('enable_sort') AS sort, current_setting('enable_seqscan') AS scan,
  current_setting('plan_cache_mode') AS plans, current_setting('statement_timeout') AS timeout`;

test('what goes through TypeORM is planned as usual, and cut off after 5 s', async () => {
  expect(await service.app.get(DataSource).query(text)).toEqual([
    { sort: 'on', scan: 'on', plans: 'auto', timeout: '5s' },
  ]);
});

test('the prepared statements are planned once, by key, without sorts and scans', async () => {
  expect(await service.app.get(Database).query({ name: 'settings', text })).toEqual([
    { sort: 'off', scan: 'off', plans: 'force_generic_plan', timeout: '0' },
  ]);
});

test('what goes through TypeORM has a pool that is counted', async () => {
  await service.app.get(DataSource).query('SELECT 1');
  const { idle, busy } = service.app.get(Connections).pools().plain!;
  expect(idle + busy).toBeGreaterThan(0);
});
