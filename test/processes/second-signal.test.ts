import pg from 'pg';
import { createTestDatabase, spawnService, submitTo, until } from '../support/index.js';

const key = 'test_hurry_key_0123456789';

test('a second signal requeues runs without waiting for the rest of the grace period', async () => {
  const database = await createTestDatabase();
  const service = await spawnService({
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    SHUTDOWN_GRACE: '1h',
  });
  const input = { delay_ms: 50_000, fail_attempts: 0 };
  const { status_url } = await submitTo(service.url, key, 'demo/text/flaky', input);
  await until(async () => (await (await fetch(status_url)).text()).includes('IN_PROGRESS'));

  let exited = false;
  const exit = service.exited.finally(() => (exited = true));
  service.kill('SIGTERM');
  await until(() => service.output.includes('a second signal hands them back now'));
  await until(() => {
    service.kill('SIGTERM');
    return exited;
  });
  expect(await exit).toEqual({ code: 0, signal: null });

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query('SELECT state, attempt FROM request');
  await client.end();
  expect(rows).toEqual([{ state: 'IN_QUEUE', attempt: 1 }]);
  await database.drop();
});
