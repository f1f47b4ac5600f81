import { Database } from '../../src/database/database.js';
import { finish, type Finish } from '../../src/queue/queries/finish.js';
import { requeue } from '../../src/queue/queries/requeue.js';
import { appendLog } from '../../src/queue/queries/append-log.js';
import { expire } from '../../src/queue/queries/expire.js';
import { QueueCalls } from '../support/queue-calls.js';
import { modelsFile, ScriptedModel } from '../support/scripted-model.js';
import { startTestService, type TestService, until } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
let model: ScriptedModel;
let database: Database;

beforeAll(async () => {
  model = await new ScriptedModel().start();
  service = await startTestService({ models: modelsFile(model.entry('test/model')) });
  calls = new QueueCalls(service);
  database = service.app.get(Database);
});

afterAll(async () => {
  await service.stop();
  await model.stop();
});

const error = { code: 'model_error', status: 502, message: 'late', timestamp: '2026-01-01T00:00:00.000Z' };

function late(requestId: string, token: string): Finish {
  return {
    requestId,
    token,
    attemptOutcome: 'failed',
    output: null,
    error,
    message: 'late',
  };
}

/** All that the database knows of a request. */
function everything(id: string): Promise<object[]> {
  return service.query(
    `SELECT to_jsonb(request) AS row, state, outcome,
            (SELECT json_agg(event ORDER BY event.id) FROM request_event AS event WHERE request_id = $1) AS events,
            (SELECT json_agg(attempt) FROM attempt WHERE request_id = $1) AS attempts
     FROM (SELECT id, state, outcome, attempt, output::text, error::text, completed_at, inference_ms, failed_attempts
           FROM request WHERE id = $1) AS request`,
    [id],
  );
}

async function leaseOf(id: string): Promise<string> {
  const [lease] = await until(
    async () => {
      const rows = await service.query<{ token: string }>(`SELECT token FROM lease WHERE request_id = $1`, [
        id,
      ]);
      return rows.length > 0 && rows;
    },
    { message: 'the request has a lease' },
  );
  return lease!.token;
}

describe('COMPLETED is final', () => {
  let id: string;
  let token: string;
  let before: object[];

  beforeAll(async () => {
    id = await calls.submit('test/model', { hold: true });
    token = await leaseOf(id);
    await model.answer(id, '{"kept":true}');
    await calls.reached(id, 'COMPLETED');
    before = await everything(id);
  });

  afterEach(async () => expect(await everything(id)).toEqual(before));

  test('for a run that ends again', async () => {
    expect(await finish(database, [late(id, token)])).toEqual([false]);
  });

  test('for a run that wants back into the queue', async () => {
    const back = {
      attemptOutcome: 'failed',
      delayMs: 0,
      errorCode: null,
      errorMessage: null,
      message: 'x',
    } as const;
    expect(await requeue(database, { requestId: id, token, ...back })).toBeUndefined();
    expect(await calls.count('queue_entry')).toBe(0);
  });

  test('for a run that still writes its log', async () => {
    const line = { level: 'INFO', source: 'runner', message: 'late', atMs: Date.now() } as const;
    await appendLog(database, [{ requestId: id, token, number: 1, ...line }]);
  });

  test('for an expiry and for a cancel', async () => {
    expect(await expire(database, 'test/model', error)).toEqual([]);
    expect((await calls.cancel(id)).status).toBe(400);
  });
});

test('a log write that is sent again, because its answer was lost, is kept once', async () => {
  const id = await calls.submit('test/model', { hold: true });
  await model.arrived(id);
  const [lease] = await service.query<{ token: string }>('SELECT token FROM lease WHERE request_id = $1', [
    id,
  ]);
  const line = (number: number) => ({
    requestId: id,
    token: lease!.token,
    number,
    level: 'INFO' as const,
    source: 'runner' as const,
    message: `line ${number}`,
    atMs: Date.now(),
  });
  await Promise.all([appendLog(database, [line(1), line(2)]), appendLog(database, [line(1), line(2)])]);
  await appendLog(database, [line(2), line(3)]);
  const kept = await service.query<{ message: string }>(
    `SELECT message FROM request_event WHERE request_id = $1 AND kind = 'log' ORDER BY id`,
    [id],
  );
  expect(kept.map(({ message }) => message)).toEqual(['line 1', 'line 2', 'line 3']);
  await model.answer(id);
});

describe('a run without its lease', () => {
  const stranger = '00000000-0000-4000-8000-000000000000';

  test('can end nothing, return nothing and write nothing', async () => {
    const id = await calls.submit('test/model', { hold: true });
    await model.arrived(id);
    const before = await everything(id);
    expect(await finish(database, [late(id, stranger)])).toEqual([false]);
    const back = {
      attemptOutcome: 'returned',
      delayMs: 0,
      errorCode: null,
      errorMessage: null,
      message: null,
    } as const;
    expect(await requeue(database, { requestId: id, token: stranger, ...back })).toBeUndefined();
    const line = { level: 'INFO', source: 'runner', message: 'x', atMs: Date.now() } as const;
    await appendLog(database, [{ requestId: id, token: stranger, number: 1, ...line }]);
    expect(await everything(id)).toEqual(before);
    await model.answer(id);
    expect((await calls.reached(id, 'COMPLETED')).success).toBe(true);
  });

  test('does not spoil the others that end with it', async () => {
    const ids = await calls.submitAll(2, 'test/model', { hold: true });
    const [first, second] = ids as [string, string];
    const tokens = await Promise.all(ids.map(leaseOf));
    expect(await finish(database, [late(first, stranger), late(second, tokens[1]!)])).toEqual([false, true]);
    expect((await calls.status(first)).status).toBe('IN_PROGRESS');
    await Promise.all(ids.map((id) => model.answer(id)));
    const ends = await Promise.all(ids.map((id) => calls.reached(id, 'COMPLETED')));
    expect(ends.map(({ success }) => success)).toEqual([true, false]);
  });
});

describe('the database itself refuses', () => {
  let id: string;
  beforeAll(async () => (id = await calls.run('test/model')));

  test.each([
    [
      'a state that is none',
      `state = 'PAUSED', outcome = NULL, completed_at = NULL, output = NULL`,
      'request_state_is_known',
    ],
    ['an outcome that is none', `outcome = 'lost', error = '{}', output = NULL`, 'request_outcome_is_known'],
    ['a completed request without an outcome', `outcome = NULL`, 'request_completed_has_outcome_and_time'],
    ['a completed request without its time', `completed_at = NULL`, 'request_completed_has_outcome_and_time'],
    ['an outcome of a request that goes on', `state = 'IN_QUEUE'`, 'request_completed_has_outcome_and_time'],
    [
      'a run that never started',
      `state = 'IN_PROGRESS', outcome = NULL, completed_at = NULL, started_at = NULL`,
      'request_in_progress_has_started',
    ],
    ['a failure without an error', `outcome = 'failed', output = NULL`, 'request_error_only_without_success'],
    ['a success with an error', `error = '{}'`, 'request_error_only_without_success'],
    ['a failure with an output', `outcome = 'failed', error = '{}'`, 'request_output_only_with_success'],
    ['more failures than attempts', `failed_attempts = 9`, 'request_counts_are_sane'],
  ])('%s', async (_name, change, constraint) => {
    await expect(service.query(`UPDATE request SET ${change} WHERE id = $1`, [id])).rejects.toThrow(
      constraint,
    );
  });
});

test('a request is in the queue, has a lease, or is over: one of the three', async () => {
  const held = await calls.submitAll(6, 'test/model', { hold: true });
  const places = `SELECT state,
      (SELECT count(*)::integer FROM queue_entry WHERE request_id = id) AS waiting,
      (SELECT count(*)::integer FROM lease WHERE request_id = id) AS running
    FROM request WHERE id = ANY ($1::uuid[]) ORDER BY id`;
  await Promise.all(held.slice(0, 4).map((id) => model.arrived(id)));
  await calls.cancel(held[4]!);
  const running = { state: 'IN_PROGRESS', waiting: 0, running: 1 };
  expect(await service.query(places, [held])).toEqual([
    ...Array<object>(4).fill(running),
    { state: 'COMPLETED', waiting: 0, running: 0 },
    { state: 'IN_QUEUE', waiting: 1, running: 0 },
  ]);
  for (const id of held) if (id !== held[4]) await model.answer(id);
  for (const id of held) await calls.reached(id, 'COMPLETED');
});

test('the events of a request show its life in order', async () => {
  const id = await calls.run('test/model');
  const events = await service.query(
    `SELECT kind, attempt FROM request_event WHERE request_id = $1 ORDER BY id`,
    [id],
  );
  expect(events).toEqual([
    { kind: 'started', attempt: 1 },
    { kind: 'completed', attempt: 1 },
  ]);
});
