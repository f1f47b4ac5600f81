import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AdminCalls } from '../support/admin-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
const section = page.split('### After a restore')[1]!.split('\n### ')[0]!;
const [undone, skipAhead] = [...section.matchAll(/```sql\n(.*?);?\n```/gs)].map(([, sql]) => sql!) as [
  string,
  string,
];

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

test('the query of the page finds what a restore brings back', async () => {
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

test('after its statement, ids of events are greater than those that were handed out', async () => {
  const handedOut = 1_000_000;
  await service.query(skipAhead);
  const [row] = await service.query<{ next: string }>(`SELECT nextval('request_event_id') AS next`);
  expect(Number(row!.next)).toBeGreaterThan(handedOut);
});
