import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AdminCalls } from '../support/admin-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/backups.md', import.meta.url)), 'utf8');
const section = page.split('\n## After a restore')[1]!.split('\n## ')[0]!;
const undone = /```sql\n(.*?);?\n```/s.exec(section)![1]!;

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

test('the documented query lists the erasures and revocations that a restore would undo', async () => {
  const [calls, admin] = [new QueueCalls(service), new AdminCalls(service)];
  const id = await calls.submit('demo/text/echo', { text: 'mine' });
  await calls.reached(id, 'COMPLETED');
  const url = `${service.url}/v1/queue/requests/${id}`;
  expect((await fetch(url, { method: 'DELETE', headers: keyHeader(service.key) })).status).toBe(204);
  const { id: keyId } = await admin.newKey();
  expect((await admin.call('DELETE', `/keys/${keyId}`)).ok).toBe(true);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const rows = await service.query(undone.replaceAll('2026-03-01 02:00Z', since));
  expect(rows).toMatchObject([
    { action: 'erased', target: id },
    { action: 'key.revoke', target: keyId },
  ]);
});

const next = async (): Promise<number> =>
  Number((await service.query<{ id: string }>(`SELECT nextval('request_event_id') AS id`))[0]!.id);

test('a start after a restore skips the ids of events that were handed out after the backup', async () => {
  const before = await next();
  // The backup is an hour old, so its last signs are.
  await service.query(`UPDATE node SET heartbeat_at = now() - interval '1 hour';
    DELETE FROM request`);
  await Promise.all([service.query('SELECT skip_event_ids()'), service.query('SELECT skip_event_ids()')]);
  const skipped = await next();
  expect(skipped).toBeGreaterThanOrEqual(before + 3_600 * 10_000);
  expect(skipped).toBeLessThan(Date.now() / 2);
});

test('a start while other nodes run skips no event id, and a very long pause exhausts none', async () => {
  const before = await next();
  await service.query('UPDATE node SET heartbeat_at = now()');
  await service.query('SELECT skip_event_ids()');
  expect(await next()).toBe(before + 1);
  await service.query(`UPDATE node SET heartbeat_at = now() - interval '100 years'`);
  await service.query('SELECT skip_event_ids()');
  expect(await next()).toBeLessThan(Date.now() / 2);
});
