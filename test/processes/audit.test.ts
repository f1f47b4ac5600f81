import { AuditList } from '../../src/audit/audit-list.js';
import { AuditTrail } from '../../src/audit/audit-trail.js';
import { commandLine } from '../../src/audit/actor.js';
import { AdminCalls, type Page } from '../support/admin-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

let service: TestService;
let admin: AdminCalls;
beforeAll(async () => {
  service = await startTestService({ limits: '100000/h' });
  admin = new AdminCalls(service);
});
afterAll(() => service.stop());

interface Entry {
  id: string;
  at: string;
  action: string;
  target: string | null;
  actor: {
    key_id: string | null;
    name: string;
    session_id: string | null;
    address: string;
    user_agent: string;
  };
  http_request_id: string;
  before: object | null;
  after: object | null;
}

const find = (query: string): Promise<Entry[]> => admin.all<Entry>(`/audit${query}`);
const ids = (entries: Entry[]): string[] => entries.map(({ id }) => id);

test('an entry of a change has the actor, its address, the call, and the values before and after', async () => {
  const { key, id } = await admin.newKey({ name: 'auditor', scopes: ['admin'] });
  const cookie = await admin.cookie(key);
  const headers = { 'user-agent': 'a browser', 'x-request-id': 'call-17' };
  const body = { name: 'made by the auditor' };
  const made = await admin.json<{ id: string }>('POST', '/keys', { cookie, headers, body });
  const [entry] = await find(`?target=${made.id}`);
  expect(entry).toMatchObject({
    action: 'key.create',
    target: made.id,
    actor: {
      key_id: id,
      name: 'auditor',
      session_id: expect.any(String) as string,
      address: '127.0.0.1',
      user_agent: 'a browser',
    },
    http_request_id: 'call-17',
    before: null,
    after: { name: 'made by the auditor' },
  });
});

test('an operator call that is refused because the key lacks the scope is audited too', async () => {
  const { key, id } = await admin.newKey({ name: 'curious' });
  expect(await verdict(admin.call('GET', '/keys?state=valid', { key }))).toEqual([403, 'forbidden']);
  const [entry] = await until(async () => {
    const found = await find(`?actor=${id}`);
    return found.length > 0 && found;
  });
  expect(entry).toMatchObject({
    action: 'access.refuse',
    target: 'GET /v1/admin/keys',
    actor: { name: 'curious' },
    after: { missing_scope: 'observe' },
  });
});

test('filters select matching entries, also in combination, and pages neither skip nor repeat an entry', async () => {
  const trail = service.app.get(AuditTrail);
  for (let i = 0; i < 25; i++)
    await trail.note(commandLine, { action: 'node.drain', target: `node ${i % 5}` });
  const all = await find('?action=node.drain&limit=100');
  expect(all).toHaveLength(25);
  expect(ids(await find('?action=node.drain&limit=4'))).toEqual(ids(all));
  expect(await find('?action=node.drain&target=node%203&actor=command%20line')).toHaveLength(5);
  expect(await find('?action=node.drain&actor=nobody')).toEqual([]);
  const middle = all[10]!.at;
  const after = await find(`?action=node.drain&after=${middle}`);
  const before = await find(`?action=node.drain&before=${middle}`);
  expect(after.every(({ at }) => at >= middle)).toBe(true);
  expect(before.every(({ at }) => at < middle)).toBe(true);
  expect(ids([...after, ...before]).sort()).toEqual(ids(all).sort());
  const noAction = await admin.call('GET', '/audit?action=node.dance');
  expect(await verdict(noAction)).toEqual([400, 'invalid_query']);
});

test('arrivals do not shift the pages', async () => {
  const first = await admin.json<Page<Entry>>('GET', '/audit?action=node.drain&limit=10');
  await service.app.get(AuditTrail).note(commandLine, { action: 'node.drain' });
  const second = await admin.json<Page<Entry>>('GET', `/audit?cursor=${first.next_cursor}`);
  const all = (await find('?action=node.drain&limit=100')).slice(1);
  expect(ids([...first.data, ...second.data])).toEqual(ids(all.slice(0, 20)));
});

test('an export has one line for each entry that the filters select, and is itself audited', async () => {
  await service.query(
    `INSERT INTO audit_entry (id, action, target, actor_name)
     SELECT uuid_at(now() - interval '1 hour' + i * interval '1 ms'), 'endpoint.disable', 'bulk', 'test'
     FROM generate_series(1, 2500) AS i`,
  );
  const headers = { accept: 'application/x-ndjson' };
  const response = await admin.call('GET', '/audit?target=bulk', { headers });
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
  expect(lines).toHaveLength(2_500);
  expect(ids(lines)).toEqual([...new Set(ids(lines))].sort().reverse());
  const [entry] = await find('?action=audit.export');
  expect(entry).toMatchObject({ actor: { name: 'bootstrap' }, after: { target: 'bulk' } });
});

test('an export that fails before its first line is answered with a problem', async () => {
  const list = service.app.get(AuditList);
  Object.assign(list, { page: () => Promise.reject(new Error('the rows cannot be read')) });
  const headers = { accept: 'application/x-ndjson' };
  expect(await verdict(admin.call('GET', '/audit', { headers }))).toEqual([500, 'internal_error']);
  Reflect.deleteProperty(list, 'page');
});

test('audit entries cannot be updated, deleted or truncated', async () => {
  for (const statement of [
    `UPDATE audit_entry SET actor_name = 'somebody else'`,
    `DELETE FROM audit_entry`,
    `TRUNCATE audit_entry`,
  ])
    await expect(service.query(statement)).rejects.toThrow('audit_entry takes new rows only');
});

test('a change whose audit entry cannot be written fails, without effect and without an entry', async () => {
  const { id } = await admin.newKey({ name: 'kept' });
  await service.query(
    `ALTER TABLE audit_entry ADD CONSTRAINT no_more CHECK (action <> 'key.revoke') NOT VALID`,
  );
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(500);
  expect(await admin.json('GET', `/keys/${id}`)).toMatchObject({ state: 'valid' });
  await service.query(`ALTER TABLE audit_entry DROP CONSTRAINT no_more`);
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(204);
  expect(await find(`?target=${id}&action=key.revoke`)).toHaveLength(1);
});
