import { randomUUID } from 'node:crypto';
import { AuditPruner } from '../../src/audit/duties/audit-pruner.js';
import { Refusals } from '../../src/audit/refusals.js';
import { AdminCalls } from '../support/admin-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { problemOf } from '../support/queue-calls.js';

let service: TestService;
let admin: AdminCalls;
beforeAll(async () => {
  service = await startTestService({ limits: '100000/h' });
  admin = new AdminCalls(service);
});
afterAll(() => service.stop());

interface Row {
  action: string;
  target: string | null;
  after: { left_out?: number } | null;
}

const refusalsOf = (keyId: string): Promise<Row[]> =>
  service.query(
    `SELECT action, target, after FROM audit_entry WHERE action = 'access.refuse' AND actor_key_id = $1 ORDER BY id`,
    [keyId],
  );

test('repeated refusals of a key write at most 60 audit rows a minute, and one row counts the rest', async () => {
  const { id, key } = await admin.newKey({ scopes: ['read'] });
  const refused = 130;
  await inParallel(10, Array.from({ length: refused }), () => admin.call('GET', '/audit', { key }));
  const other = await admin.newKey({ scopes: ['read'] });
  await admin.call('GET', '/audit', { key: other.key });
  await until(async () => (await refusalsOf(other.id)).length === 1, { message: 'another key is audited' });
  const refusals = service.app.get(Refusals);
  await until(async () => (await refusalsOf(id)).length + refusals.leftOut >= refused, {
    message: 'all refusals are written or counted',
    explain: async () => ({ rows: (await refusalsOf(id)).length, leftOut: refusals.leftOut }),
  });
  await refusals.flush();
  const rows = await refusalsOf(id);
  const counted = rows.filter(({ after }) => after?.left_out !== undefined);
  // The limit of two minutes, if a new minute began meanwhile.
  expect(rows.length - counted.length).toBeLessThanOrEqual(120);
  expect(counted).toHaveLength(1);
  expect(rows.length - 1 + counted[0]!.after!.left_out!).toBe(refused);
}, 90_000);

test('the audit deletes refusals and callers’ deletions after 90 days, sign-ins and reads after 400, and changes never', async () => {
  const add = async (action: string, days: number): Promise<string> => {
    const id = randomUUID();
    await service.query(
      `INSERT INTO audit_entry (id, at, action, actor_name)
       VALUES ($1, now() - $3::integer * interval '1 day', $2, 'somebody')`,
      [id, action, days],
    );
    return id;
  };
  const old = [
    await add('access.refuse', 91),
    await add('session.refuse', 91),
    await add('request.delete', 91),
    await add('file.delete', 91),
    await add('session.begin', 401),
    await add('payload.read', 401),
  ];
  const kept = [
    await add('access.refuse', 89),
    await add('request.delete', 89),
    await add('request.erase', 5_000),
    await add('payload.read', 399),
    await add('key.create', 5_000),
    await add('model.pause', 5_000),
  ];
  await service.app.get(AuditPruner).runOnce();
  const rows = await service.query<{ id: string }>('SELECT id FROM audit_entry WHERE id = ANY ($1)', [
    [...old, ...kept],
  ]);
  expect(rows.map(({ id }) => id).sort()).toEqual([...kept].sort());
  for (const id of kept) {
    await expect(service.query('DELETE FROM audit_entry WHERE id = $1', [id])).rejects.toThrow(
      'audit_entry takes new rows only',
    );
  }
  for (const statement of ['UPDATE audit_entry SET reason = NULL', 'TRUNCATE audit_entry']) {
    await expect(service.query(statement)).rejects.toThrow('audit_entry takes new rows only');
  }
});

test('a key has at most 100 open sessions, the oldest end first, and its sign-ins are limited per minute', async () => {
  const { id, key } = await admin.newKey({ scopes: ['observe'] });
  await service.query(
    `INSERT INTO session (id, api_key_id, hash, expires_at)
     SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1::uuid, sha256(n::text::bytea),
            now() + interval '1 hour'
     FROM generate_series(1, 1100) AS n`,
    [id],
  );
  expect((await admin.signIn({ key })).status).toBe(200);
  const [counts] = await service.query<object>(
    `SELECT count(*) FILTER (WHERE ended_at IS NULL)::integer AS open, count(*)::integer AS kept,
            min(right(id::text, 12)) FILTER (WHERE ended_at IS NULL) AS "oldestOpen", min(right(id::text, 12)) AS "oldestKept"
     FROM session WHERE api_key_id = $1 AND id < '00000001-0000-7000-8000-000000000000'`,
    [id],
  );
  // The new session is the newest of each.
  expect(counts).toEqual({ open: 99, kept: 999, oldestOpen: '000000001002', oldestKept: '000000000102' });
  // 60 in each of two minutes, if a new minute begins meanwhile.
  let refused: Response | undefined;
  for (let n = 0; n < 130 && refused === undefined; n += 2) {
    const answers = await Promise.all([admin.signIn({ key }), admin.signIn({ key })]);
    refused = answers.find(({ status }) => status !== 200);
  }
  expect(await problemOf(refused!)).toMatchObject({ status: 429, code: 'caller_busy' });
}, 90_000);

test('a key that may not sign in does not count as a sign-in', async () => {
  const { key } = await admin.newKey({ scopes: ['submit'] });
  // More than a key may begin in two minutes.
  const answers = await inParallel(4, Array.from({ length: 130 }), () => admin.signIn({ key }));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
});

test('expired sessions and sign-in links are deleted after their retention', async () => {
  const { id } = await admin.newKey({ scopes: ['observe'] });
  await service.query(
    `INSERT INTO session (id, api_key_id, hash, expires_at)
     SELECT gen_random_uuid(), $1::uuid, sha256(days::text::bytea), now() - days * interval '1 day'
     FROM unnest(ARRAY[89, 91]) AS days`,
    [id],
  );
  await service.query(
    `INSERT INTO sign_in_link (hash, api_key_id, expires_at) VALUES (sha256('old'), $1, now() - interval '2 days')`,
    [id],
  );
  await service.app.get(AuditPruner).runOnce();
  const [left] = await service.query(
    `SELECT (SELECT count(*) FROM session WHERE api_key_id = $1)::integer AS sessions,
            (SELECT count(*) FROM sign_in_link WHERE api_key_id = $1)::integer AS links`,
    [id],
  );
  expect(left).toEqual({ sessions: 1, links: 0 });
});
