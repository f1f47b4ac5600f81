import pg from 'pg';
import { Scheduler } from '../../src/queue/duties/scheduler.js';
import { Slots } from '../../src/queue/cluster/slots.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { modelsFile, ScriptedModel } from '../support/scripted-model.js';
import { startTestService, type TestService, until } from '../support/index.js';

/** A submission that comes alone is counted by the statement that writes it, whether it starts or waits. */

const concurrency = 3;

let service: TestService;
let model: ScriptedModel;
let key: string;

beforeAll(async () => {
  model = await new ScriptedModel().start();
  service = await startTestService({
    models: modelsFile(model.entry('test/roomy', { concurrency })),
    config: { shutdownGraceMs: 0, rateLimitSubmit: [{ name: 'hour', limit: 2, windowMs: 3_600_000 }] },
  });
});

beforeEach(callAsSomebodyNew);

afterEach(async () => {
  const held = `SELECT id FROM request WHERE state <> 'COMPLETED' AND input->>'hold' = 'true'`;
  for (const { id } of await service.query<{ id: string }>(held)) await model.answer(id);
  // A run that ends looks for the next one, and while it looks nothing starts in its own statement.
  const [slots, scheduler] = [service.app.get(Slots), service.app.get(Scheduler)];
  await until(() => slots.free('test/roomy') === concurrency && scheduler.hasRoomNow('test/roomy'));
});

afterAll(async () => {
  await service.stop();
  await model.stop();
});

async function callAsSomebodyNew(): Promise<void> {
  key = (await service.app.get(KeysService).create({ name: 'caller' })).reveal();
}

const submit = (body = '{"hold":true}', headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/v1/queue/test/roomy`, {
    method: 'POST',
    body,
    headers: { ...keyHeader(key), ...headers },
  });

const remaining = ({ headers }: Response): string | null => headers.get('x-ratelimit-remaining');

async function idOf(response: Response): Promise<string> {
  return ((await response.json()) as { request_id: string }).request_id;
}

async function requests(): Promise<number> {
  const [row] = await service.query<{ count: number }>(`SELECT count(*)::integer FROM request`);
  return row!.count;
}

async function writtenBy(response: Response): Promise<unknown> {
  const [row] = await service.query(
    `SELECT u.xmin = r.xmin AS together, r.state, u.counts
     FROM request r
     JOIN rate_usage u ON u.subject = 'key:' || r.api_key_id
     WHERE r.id = $1`,
    [await idOf(response.clone())],
  );
  return row;
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(service.databaseUrl);
  await client.connect();
  return client;
}

async function submitWhileCounted(): Promise<Response> {
  const other = await connect();
  await other.query('BEGIN');
  await other.query('UPDATE rate_usage SET idle_at = idle_at');
  const submitting = submit();
  const waiting = `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%rate_admit%'`;
  const [row] = await until(async () => {
    const rows = await service.query<{ query: string }>(waiting);
    return rows.length > 0 && rows;
  });
  expect(row!.query).toMatch(/FROM rate_admit\(/);
  await other.query('COMMIT');
  await other.end();
  return submitting;
}

test('where the caller is being counted already, the submission does not wait in its own statement', async () => {
  await submit();
  const response = await submitWhileCounted();
  expect([response.status, remaining(response)]).toEqual([202, '0']);
  await model.arrived(await idOf(response));
});

test('both are one commit, and the answer says what remains', async () => {
  const response = await submit();
  expect([response.status, remaining(response)]).toEqual([202, '1']);
  expect(await writtenBy(response)).toEqual({ together: true, state: 'IN_PROGRESS', counts: [1] });
});

describe('where nothing can start', () => {
  const scheduler = (): Scheduler => service.app.get(Scheduler);

  beforeEach(() => scheduler().stop());

  afterEach(() => scheduler().start());

  test('both are one commit too, and it starts when there is room', async () => {
    const response = await submit();
    expect([response.status, remaining(response)]).toEqual([202, '1']);
    expect(await writtenBy(response)).toEqual({ together: true, state: 'IN_QUEUE', counts: [1] });
    const id = await idOf(response);
    const status = await fetch(`${service.url}/v1/queue/requests/${id}/status`, { headers: keyHeader(key) });
    expect(await status.json()).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
    scheduler().start();
    await model.arrived(id);
  });

  test('the submission does not wait in its own statement where the caller is being counted already', async () => {
    await submit();
    const response = await submitWhileCounted();
    expect([response.status, remaining(response)]).toEqual([202, '0']);
    expect(await writtenBy(response)).toEqual({ together: false, state: 'IN_QUEUE', counts: [2] });
  });

  test('without room under the limit nothing is written', async () => {
    expect([(await submit()).status, (await submit()).status]).toEqual([202, 202]);
    const before = await requests();
    const refused = await submit();
    expect([remaining(refused), await verdict(refused)]).toEqual(['0', [403, 'rate_limited']]);
    expect(await requests()).toBe(before);
  });
});

describe('the next call of the same caller', () => {
  const decides = 'rate_admit_with_usage(text, text, bigint[], integer[])';
  let definition: string;

  beforeEach(async () => {
    const [row] = await service.query<{ sql: string }>(
      `SELECT pg_get_functiondef('${decides}'::regprocedure) AS sql`,
    );
    definition = row!.sql;
    expect(remaining(await submit())).toBe('1');
    await service.query(definition.replace('BEGIN', `BEGIN RAISE 'asked the function';`));
  });

  afterEach(() => service.query(definition));

  test('is counted as the process has decided, which knows what the first one left', async () => {
    const response = await submit();
    expect([response.status, remaining(response)]).toEqual([202, '0']);
    const [row] = await service.query(`SELECT counts FROM rate_usage ORDER BY idle_at DESC LIMIT 1`);
    expect(row).toEqual({ counts: [2] });
  });

  test('is decided by the database if somebody else has counted since', async () => {
    await service.query('UPDATE rate_usage SET counts = counts');
    const asked = await submit();
    expect([remaining(asked), await verdict(asked)]).toEqual(['0', [500, 'internal_error']]);
  });
});

/** Puts an entry in the line that no claim may take until the transaction ends; false: one was quicker. */
async function waitOutOfReach(client: pg.Client): Promise<boolean> {
  await client.query(
    `INSERT INTO queue_entry (model_id, priority, seq, request_id)
     VALUES ('test/roomy', 0, nextval('request_seq'), gen_random_uuid())`,
  );
  await client.query('BEGIN');
  const { rowCount } = await client.query('SELECT FROM queue_entry FOR UPDATE');
  if (rowCount !== 1) await client.query('ROLLBACK');
  return rowCount === 1;
}

test('if somebody waits of whom this process has not heard, it is counted once and goes through the line', async () => {
  const other = await connect();
  await until(() => waitOutOfReach(other));
  const response = await submit();
  expect([response.status, remaining(response)]).toEqual([202, '1']);
  const id = await idOf(response);
  await model.arrived(id);
  const [row] = await service.query(
    `SELECT r.started_at > r.created_at AS waited, u.counts
     FROM request r
     JOIN rate_usage u ON u.subject = 'key:' || r.api_key_id
     WHERE r.id = $1`,
    [id],
  );
  expect(row).toEqual({ waited: true, counts: [1] });
  await other.query('DELETE FROM queue_entry; COMMIT');
  await other.end();
});

test('without room under the limit nothing is written, and the slot is free again', async () => {
  expect([(await submit()).status, (await submit()).status]).toEqual([202, 202]);
  const before = await requests();
  const refused = await submit();
  expect([remaining(refused), await verdict(refused)]).toEqual(['0', [403, 'rate_limited']]);
  expect(await requests()).toBe(before);

  await callAsSomebodyNew();
  await model.arrived(await idOf(await submit()));
});

test('a call that something is wrong with is counted, and told so only if there is room', async () => {
  const wrong = await submit('{"hold":');
  expect([remaining(wrong), await verdict(wrong)]).toEqual(['1', [400, 'invalid_json']]);
  expect(remaining(await submit())).toBe('0');
  expect(await verdict(submit('{"hold":'))).toEqual([403, 'rate_limited']);
});

test('a submission with an Idempotency-Key is counted before it is looked for', async () => {
  const once = { 'idempotency-key': 'a' };
  const [first, second] = [await submit(undefined, once), await submit(undefined, once)];
  expect([first, second].map((response) => [response.status, remaining(response)])).toEqual([
    [202, '1'],
    [202, '0'],
  ]);
  expect(await idOf(second)).toBe(await idOf(first));
  expect(await verdict(submit(undefined, once))).toEqual([403, 'rate_limited']);
});

test('a call that the database refuses is counted, and its slot is free again', async () => {
  await service.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`);
  await service.query(`
    CREATE TRIGGER refuse BEFORE INSERT ON request
    FOR EACH ROW WHEN (NEW.input->>'refuse' IS NOT NULL) EXECUTE FUNCTION refuse()`);
  const failed = await submit('{"refuse":true}');
  await service.query('DROP TRIGGER refuse ON request');
  expect([remaining(failed), await verdict(failed)]).toEqual(['1', [500, 'internal_error']]);

  await callAsSomebodyNew();
  const ids = [await idOf(await submit()), await idOf(await submit())];
  for (const id of ids) await model.arrived(id);
});

test('of many that come at once no more are let in than there is room for', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit('{}')));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(2);
});
