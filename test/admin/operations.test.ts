import { setImmediate as nextTurn } from 'node:timers/promises';
import { Handles } from '../../src/auth/handles.js';
import { Database } from '../../src/database/database.js';
import { OperationCollector } from '../../src/operations/operation-collector.js';
import { OperationRunner } from '../../src/operations/duties/operation-runner.js';
import { claimOperation } from '../../src/operations/queries/steps.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { Cancels } from '../../src/queue/completion/cancels.js';
import { OperatorRequests } from '../../src/queue/reads/operator-requests.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/one': { concurrency: 1 }, 'test/wide': { concurrency: 50 } },
  limits: '10000/s',
});

interface Operation {
  id: string;
  last_error: string | null;
  state: string;
  total: number;
  done: number;
  skipped: number;
  failed: number;
}

const send = (path: string, body: object = {}, key = service.key): Promise<Response> =>
  fetch(`${service.url}/v1/admin/operations${path}`, {
    method: 'POST',
    headers: keyHeader(key),
    body: JSON.stringify(body),
  });
const start = async (body: object): Promise<Operation> => {
  const answer = await send('', body);
  expect(answer.status).toBe(202);
  return (await answer.json()) as Operation;
};
const read = async (id: string): Promise<Operation> =>
  (
    await service.get(`/v1/admin/operations/${id}`, { headers: keyHeader(service.key) })
  ).json() as Promise<Operation>;
const ended = (id: string): Promise<Operation> =>
  until(async () => {
    const operation = await read(id);
    return (operation.state === 'done' || operation.state === 'stopped') && operation;
  });

/** The error of a statement that has exceeded its time. */
const tooLong = new DatabaseUnavailable('busy', undefined);
/** Runs the stopped runner until the operation has ended. A round finds nothing while a failed step is rolled back. */
const workedOff = (id: string): Promise<boolean> =>
  until(async () => {
    await service.app
      .get(OperationRunner)
      .runOnce()
      .catch((error: unknown) => expect(error).toBe(tooLong));
    return (await read(id)).state === 'done';
  });

test('an operation cancels and counts every request that matches its filter, and no other', async () => {
  const blocker = await calls.submit('test/one', { hold: true });
  await calls.reached(blocker, 'IN_PROGRESS');
  const requests = Array.from({ length: 1_000 }, () => ({ model_id: 'test/one', input: {}, tag: 'job:1' }));
  const batch = await fetch(`${service.url}/v1/queue/requests`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: JSON.stringify({ requests }),
  });
  expect(batch.status).toBe(200);
  await batch.text();
  const kept = await calls.submit('test/one?tag=job:2', {});
  const body = { action: 'cancel', filter: { tag: 'job:1' } };
  const preview = await send('', { ...body, validate_only: true });
  expect(preview.status).toBe(200);
  expect(await preview.json()).toMatchObject({
    count: { value: 1_000, is_exact: true },
    sample: [{ tags: ['job:1'] }, {}, {}],
  });
  const { id, ...started } = await start({ ...body, reason: 'a mistake' });
  expect(started).toMatchObject({ state: 'collecting', total: 0 });
  expect(await ended(id)).toMatchObject({ state: 'done', total: 1_000, done: 1_000, skipped: 0, failed: 0 });
  const [row] = await service.query(`SELECT count(*)::integer AS left FROM queue_entry`);
  expect(row).toEqual({ left: 1 });
  expect((await calls.status(kept)).queue_position).toBe(0);
  expect(await service.query(`SELECT FROM operation_member`)).toEqual([]);
  const audits = await service.query(
    `SELECT reason FROM audit_entry WHERE action = 'operation.start' AND target = $1`,
    [id],
  );
  expect(audits).toEqual([{ reason: 'a mistake' }]);
  await model.answer(blocker);
  await calls.reached(kept, 'COMPLETED');
});

test('operations retry each request once, for its own key, and erase requests', async () => {
  const owner = await calls.newKey({ name: 'owner' });
  for (let i = 0; i < 3; i++) {
    const id = await calls.submit('test/wide?tag=again:1', { status: 418 }, keyHeader(owner));
    await calls.reached(id, 'COMPLETED');
  }
  const retried = await start({ action: 'retry', filter: { tag: 'again:1', outcome: 'failed' } });
  expect(await ended(retried.id)).toMatchObject({ state: 'done', total: 3, done: 3 });
  const rows = await service.query<{ id: string }>(
    `SELECT request.id FROM request JOIN api_key ON api_key.id = api_key_id WHERE name = 'owner' AND retry_of IS NOT NULL`,
  );
  expect(rows).toHaveLength(3);
  for (const { id } of rows) await calls.reached(id, 'COMPLETED');
  const ids = rows.map(({ id }) => id);
  const erased = await start({ action: 'erase', filter: { ids } });
  expect(await ended(erased.id)).toMatchObject({ total: 3, done: 3 });
  const again = await start({ action: 'erase', filter: { ids } });
  expect(await ended(again.id)).toMatchObject({ state: 'done', total: 0 });
});

describe('while the members of an operation are collected', () => {
  const [collector, runner] = [
    () => service.app.get(OperationCollector),
    () => service.app.get(OperationRunner),
  ];
  const step = (id: string, nodeId = service.app.get(Cluster).nodeId): Promise<string | null> =>
    collector().step(id, nodeId);
  const claim = (): Promise<unknown> =>
    claimOperation(service.app.get(Database), service.app.get(Cluster).nodeId);
  const submitAll = (tag: string, count: number): Promise<string[]> =>
    calls.submitAll(count, `test/wide?tag=${tag}&delay=1h`);
  let maxLooks: number;

  beforeEach(async () => {
    ({ maxLooks } = collector());
    await runner().stop();
  });
  afterEach(() => {
    collector().maxLooks = maxLooks;
    runner().start();
  });

  test('requests that are submitted or complete after its start are left out', async () => {
    const tag = 'frozen:1';
    const before = await submitAll(tag, 2);
    const { id } = await start({ action: 'cancel', filter: { tag } });
    const late = await submitAll(tag, 2);
    await runner().runOnce();
    expect(await read(id)).toMatchObject({ state: 'done', total: 2, done: 2 });
    for (const one of before) expect((await calls.status(one)).status).toBe('COMPLETED');
    for (const one of late) expect((await calls.status(one)).status).toBe('IN_QUEUE');
    const erasing = await start({ action: 'erase', filter: { tag } });
    for (const one of late) await calls.cancel(one);
    await runner().runOnce();
    expect(await read(erasing.id)).toMatchObject({ state: 'done', total: 2, done: 2 });
  });

  test('the collection continues from the last slice, finds each request once, and belongs to one node at a time', async () => {
    const ids = await submitAll('slices:1', 7);
    const { id } = await start({ action: 'cancel', filter: { tag: 'slices:1' } });
    collector().maxLooks = 3;
    expect(await step(id)).toBeNull();
    await claim();
    expect([await step(id), await step(id, ids[0])]).toEqual(['collecting', null]);
    expect(await read(id)).toMatchObject({ state: 'collecting', total: 3, done: 0 });
    await runner().runOnce();
    expect(await read(id)).toMatchObject({ state: 'done', total: 7, done: 7 });
  });

  test('a request that has started meanwhile is skipped by a filter for waiting requests, and continues', async () => {
    const blocker = await calls.submit('test/one', { hold: true });
    await calls.reached(blocker, 'IN_PROGRESS');
    const [first, second] = await calls.submitAll(2, 'test/one?tag=waits:1', { hold: true });
    const { id } = await start({ action: 'cancel', filter: { tag: 'waits:1', status: 'IN_QUEUE' } });
    await claim();
    expect(await step(id)).toBe('running');
    await model.answer(blocker);
    await calls.reached(first!, 'IN_PROGRESS');
    await runner().runOnce();
    expect(await read(id)).toMatchObject({ state: 'done', total: 2, done: 1, skipped: 1 });
    expect((await calls.status(second!)).status).toBe('COMPLETED');
    await model.answer(first!);
    expect(await calls.reached(first!, 'COMPLETED')).toMatchObject({ success: true });
  });

  test('a stopped operation changes no request', async () => {
    const ids = await submitAll('unwanted:1', 4);
    const { id } = await start({ action: 'cancel', filter: { tag: 'unwanted:1' } });
    collector().maxLooks = 3;
    await claim();
    await step(id);
    expect(await (await send(`/${id}/stop`)).json()).toMatchObject({ state: 'stopping', total: 3 });
    await runner().runOnce();
    expect(await read(id)).toMatchObject({ state: 'stopped', total: 3, done: 0 });
    expect((await calls.status(ids[0]!)).status).toBe('IN_QUEUE');
    expect(await service.query(`SELECT FROM operation_member`)).toEqual([]);
  });

  test('a slice that takes too long is read again in smaller ones', async () => {
    await submitAll('heavy:1', 7);
    const { id } = await start({ action: 'cancel', filter: { tag: 'heavy:1' } });
    const all = service.app.get(OperatorRequests);
    const slice = all.slice.bind(all);
    const looks: number[] = [];
    all.slice = (filter, part, ...rest) => {
      looks.push(part.looks);
      return looks.length <= 3 ? Promise.reject(tooLong) : slice(filter, part, ...rest);
    };
    try {
      await workedOff(id);
    } finally {
      all.slice = slice;
    }
    expect(looks).toEqual([20_000, 2_500, 313, 40]);
    expect(await read(id)).toMatchObject({ state: 'done', total: 7, done: 7 });
  });
});

test('a step that takes too long is repeated with fewer members, none of which fails for it', async () => {
  const runner = service.app.get(OperationRunner);
  await runner.stop();
  const cancels = service.app.get(Cancels);
  const among = cancels.among.bind(cancels);
  const tried: number[] = [];
  cancels.among = (queries, meant, ids) => {
    tried.push(ids.length);
    return tried.length <= 5 ? Promise.reject(tooLong) : among(queries, meant, ids);
  };
  try {
    await calls.submitAll(100, 'test/wide?tag=heavy:2&delay=1h');
    const { id } = await start({ action: 'cancel', filter: { tag: 'heavy:2' } });
    await workedOff(id);
    expect(tried).toEqual([100, 63, 8, 1, 1, 1, 2, 4, 8, 16, 32, 37]);
    expect(await read(id)).toMatchObject({ state: 'done', total: 100, done: 100, failed: 0 });
  } finally {
    cancels.among = among;
    runner.start();
  }
});

test('an operation cancels running and waiting requests, and leaves out completed ones', async () => {
  const running = await calls.submit('test/one?tag=late:1', { hold: true });
  await calls.reached(running, 'IN_PROGRESS');
  const waiting = await calls.submit('test/one?tag=late:1', {});
  // As if the node had learned of an operation that ends before its turn.
  const { id } = await start({ action: 'cancel', filter: { tag: 'late:1' } });
  expect(await ended(id)).toMatchObject({ total: 2, done: 2 });
  const late = await start({ action: 'cancel', filter: { ids: [waiting] } });
  expect(await ended(late.id)).toMatchObject({ total: 0 });
  await calls.reached(running, 'COMPLETED');
});

test('an operation continues by itself after a failure of the database', async () => {
  const ids = await calls.submitAll(2, 'test/wide?tag=failing:1&delay=1h');
  const runner = service.app.get(OperationRunner);
  const { failures } = runner;
  await service.query(`ALTER TABLE operation_member RENAME TO away`);
  const { id } = await start({ action: 'cancel', filter: { tag: 'failing:1' } });
  await until(() => runner.failures > failures);
  await service.query(`ALTER TABLE away RENAME TO operation_member`);
  expect(await ended(id)).toMatchObject({ state: 'done', total: 2, done: 2 });
  for (const one of ids) expect((await calls.status(one)).status).toBe('COMPLETED');
});

test('a filter with ids and a prefix finds the requests that match both', async () => {
  const ids = await calls.submitAll(3, 'test/wide?tag=both:1&delay=1h');
  const count = async (filter: object): Promise<number> => {
    const answer = await send('', { action: 'cancel', filter, validate_only: true });
    return ((await answer.json()) as { count: { value: number } }).count.value;
  };
  const [first, second, third] = ids as [string, string, string];
  expect(await count({ ids, id_prefix: second })).toBe(1);
  expect(await count({ ids, id_prefix: service.app.get(Handles).handleOf(third) })).toBe(1);
  expect(await count({ ids: [first, second], id_prefix: third.slice(0, 35) })).toBe(0);
  expect(await count({ ids, id_prefix: first.slice(0, 3) })).toBe(3);
  expect(await count({ ids: [first], id_prefix: third })).toBe(0);
});

test('only keys that may see payloads see an id prefix, and the audit stores eight digits of it', async () => {
  const observer = await calls.newKey({ scopes: ['observe'] });
  const waiting = await calls.submit('test/wide?delay=1h', {});
  const prefix = waiting.slice(0, 30);
  const { id } = await start({ action: 'cancel', filter: { id_prefix: prefix } });
  expect(await ended(id)).toMatchObject({ total: 1, done: 1, filter: { id_prefix: prefix } });
  for (const path of [`/${id}`, '?limit=1']) {
    const answer = await service.get(`/v1/admin/operations${path}`, { headers: keyHeader(observer) });
    const text = await answer.text();
    expect(text).toContain(id);
    expect(text).not.toContain('id_prefix');
  }
  const [audit] = await service.query<{ after: { filter: object } }>(
    `SELECT after FROM audit_entry WHERE action = 'operation.start' AND target = $1`,
    [id],
  );
  expect(audit!.after.filter).toEqual({ idPrefix: waiting.slice(0, 8) });
});

test.each([
  [{ action: 'cancel' }, 'bad_request'],
  [{ action: 'cancel', filter: {} }, 'bad_request'],
  [{ action: 'explode', all: true }, 'bad_request'],
  [{ action: 'cancel', filter: { colour: 'red' } }, 'invalid_query'],
  [{ action: 'cancel', filter: { ids: [] } }, 'bad_request'],
  [{ action: 'cancel', filter: { ids: [1] } }, 'invalid_query'],
  [{ action: 'cancel', everything: true }, 'invalid_query'],
  [{ action: 'cancel', all: 'true' }, 'bad_request'],
  [{ action: 'cancel', all: true, filter: [] }, 'bad_request'],
  [{ action: 'cancel', all: true, filter: 'tag=job:1' }, 'bad_request'],
  [{ action: 'cancel', filter: { tag: 'none:2' }, validate_only: 1 }, 'bad_request'],
  [{ action: 'cancel', filter: { tag: 'none:2' }, validate_only: 'false' }, 'bad_request'],
])('refuses %j', async (body, code) => expect(await verdict(send('', body))).toEqual([400, code]));

test('starting an operation needs the scope admin; operations are listed in pages, and an unknown one cannot be stopped', async () => {
  const observer = await calls.newKey({ scopes: ['payloads'] });
  expect(await verdict(send('', { action: 'cancel', all: true }, observer))).toEqual([403, 'forbidden']);
  const { id } = await start({ action: 'cancel', filter: { tag: 'none:1' } });
  await ended(id);
  const list = await service.get('/v1/admin/operations?limit=1', { headers: keyHeader(observer) });
  const page = (await list.json()) as { data: object[]; next_cursor: string };
  expect(page.data).toMatchObject([{ id, by: 'bootstrap' }]);
  expect(list.headers.get('link')).toContain(`cursor=${page.next_cursor}>; rel="next"`);
  const next = await service.get(`/v1/admin/operations?cursor=${page.next_cursor}`, {
    headers: keyHeader(observer),
  });
  expect(JSON.stringify(await next.json())).not.toContain(id);
  expect((await send(`/${id}/stop`)).status).toBe(200);
  expect(await verdict(send('/nothing/stop'))).toEqual([404, 'unknown_operation']);
});

describe('when the database refuses to change some requests', () => {
  beforeAll(() =>
    service.query(`
      CREATE TABLE refused (id uuid PRIMARY KEY);
      CREATE FUNCTION refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS (SELECT FROM refused WHERE refused.id = NEW.id) THEN RAISE EXCEPTION 'not this one'; END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER refuses_some BEFORE UPDATE ON request FOR EACH ROW EXECUTE FUNCTION refuse_some()`),
  );
  // The trigger stays: DROP TRIGGER locks the days before their table, and the statements of the service lock them after it.
  afterAll(() => service.query('DELETE FROM refused'));

  const refuse = async (...ids: (string | undefined)[]): Promise<void> => {
    await service.query('INSERT INTO refused SELECT unnest($1::uuid[])', [ids]);
  };
  const completed = (tag: string, count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => calls.run(`test/wide?tag=${tag}`)));

  test.each(['erase', 'retry', 'cancel'])(
    'an operation to %s counts them as failed and changes all others',
    async (action) => {
      const tag = `${action}:beside`;
      const ids =
        action === 'cancel'
          ? await calls.submitAll(40, `test/wide?tag=${tag}&delay=1h`)
          : await completed(tag, 40);
      await refuse(ids[0], ids[17], ids[18], ids.at(-1));
      const { id } = await start({ action, filter: { tag } });
      expect(await ended(id)).toMatchObject({
        state: 'done',
        total: 40,
        done: 36,
        skipped: 0,
        failed: 4,
        last_error: 'The database refused the change (SQLSTATE P0001).',
      });
      const changed = { erase: 'erased_at', retry: 'retried_as', cancel: 'completed_at' }[action]!;
      const left = await service.query<{ id: string }>(
        `SELECT id FROM request WHERE tags @> ARRAY[$1] AND ${changed} IS NULL AND retry_of IS NULL`,
        [tag],
      );
      expect(new Set(left.map((row) => row.id))).toEqual(new Set([ids[0], ids[17], ids[18], ids.at(-1)]));
      expect(await service.query('SELECT FROM operation_member')).toEqual([]);
    },
  );
});

test('an operation that takes long does not hold up one that begins later', async () => {
  const collector = service.app.get(OperationCollector);
  const step = collector.step.bind(collector);
  const ids = await calls.submitAll(2, 'test/wide?tag=short:1&delay=1h');
  let longId = '';
  collector.step = async (id, nodeId) => {
    longId ||= id;
    return id === longId ? nextTurn('collecting') : step(id, nodeId);
  };
  try {
    const first = await start({ action: 'cancel', filter: { tag: 'long:1' } });
    await until(() => longId === first.id);
    const second = await start({ action: 'cancel', filter: { tag: 'short:1' } });
    expect(await ended(second.id)).toMatchObject({ state: 'done', total: 2, done: 2 });
  } finally {
    collector.step = step;
  }
  expect(await ended(longId)).toMatchObject({ state: 'done', total: 0 });
  for (const one of ids) expect((await calls.status(one)).status).toBe('COMPLETED');
});

test('an operation that cannot continue does not block the next one', async () => {
  const runner = service.app.get(OperationRunner);
  await runner.stop();
  const stuck = await start({ action: 'cancel', filter: { tag: 'stuck:1' } });
  const ids = await calls.submitAll(2, 'test/wide?tag=behind:1&delay=1h');
  const behind = await start({ action: 'cancel', filter: { tag: 'behind:1' } });
  const collector = service.app.get(OperationCollector);
  const step = collector.step.bind(collector);
  collector.step = (id, nodeId) =>
    id === stuck.id ? Promise.reject(new Error('it cannot be read')) : step(id, nodeId);
  try {
    await expect(runner.runOnce()).rejects.toThrow('it cannot be read');
    await expect(runner.runOnce()).rejects.toThrow('it cannot be read');
    expect(await read(behind.id)).toMatchObject({ state: 'done', total: 2, done: 2 });
  } finally {
    collector.step = step;
    runner.start();
  }
  runner.wake();
  expect(await ended(stuck.id)).toMatchObject({ state: 'done', total: 0 });
  for (const one of ids) expect((await calls.status(one)).status).toBe('COMPLETED');
});
