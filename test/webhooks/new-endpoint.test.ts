import pg from 'pg';
import { until } from '../support/index.js';
import { keyHeader } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, receiver, hooks, model } = testWebhooks({}, { 'test/two': { concurrency: 2 } });

test('a run that starts while its node reads the endpoints sends its start', async () => {
  const path = hooks.newPath();
  const added = await fetch(`${service.url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { ...keyHeader(service.key), 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url(path), events: ['request.started'] }),
  });
  expect(added.status).toBe(201);
  const sql = new pg.Client({ connectionString: service.databaseUrl });
  await sql.connect();
  const isRead = `SELECT FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_endpoint%'`;
  try {
    await sql.query('BEGIN; LOCK TABLE webhook_endpoint IN ACCESS EXCLUSIVE MODE');
    await calls.submit('test/two', { hold: true });
    await until(async () => (await sql.query(isRead)).rows.length > 0, { message: 'endpoints are read' });
    await calls.submit('test/two', { hold: true });
    await until(() => model.calls.length === 2);
    await sql.query('COMMIT');
    await receiver.arrived(path, 2);
  } finally {
    await sql.end();
    model.release();
  }
});
