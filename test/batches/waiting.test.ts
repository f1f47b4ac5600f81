import { BatchInput } from '../../src/batches/batch-input.js';
import { BatchValidation } from '../../src/batches/batch-validation.js';
import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { DomainError } from '../../src/errors/domain-error.js';
import { AdminCalls } from '../support/admin-calls.js';
import { BatchCalls, type BatchView, inputLines } from '../support/batch-calls.js';
import { ModelAdminCalls } from '../support/model-admin-calls.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, model } = testQueue({
  models: {
    'test/wide': { concurrency: 20 },
    'test/full': { concurrency: 1, max_waiting: 2 },
    'test/paused': {},
  },
  limits: '100000/s',
});
const admin = new AdminCalls(service);

/** Calls of a new key with these limits of lines. */
async function callsWith(rateLimitBatch: string): Promise<BatchCalls & { keyId: string }> {
  const { id, key } = await admin.newKey({ name: 'batches', rateLimitBatch });
  return Object.assign(new BatchCalls({ url: service.url, key }), { keyId: id });
}

/** Lets a batch that waits look again now. */
async function lookAgain(id: string): Promise<void> {
  await service.query('UPDATE batch SET due_at = now() WHERE id = $1 AND ended_at IS NULL', [id]);
  service.app.get(BatchDriver).wake();
}

/** Waits for the end of a batch, without the time after which it looks again. */
function endedSoon(batches: BatchCalls, id: string): Promise<BatchView> {
  return until(async () => {
    await lookAgain(id);
    const batch = await batches.read(id);
    return batch.ended_at !== null && batch;
  });
}

/** Waits until the batch has looked again this many times without a change. */
async function looksInVain(id: string, times: number): Promise<void> {
  const dueAt = async (): Promise<string> => {
    const [row] = await service.query<{ due: string }>(
      `SELECT due_at::text AS due FROM batch WHERE id = $1 AND lease_token IS NULL AND due_at > now()`,
      [id],
    );
    return row?.due ?? '';
  };
  for (let time = 0; time < times; time++) {
    await until(dueAt, { message: 'the batch waits' });
    await lookAgain(id);
  }
  await until(dueAt, { message: 'the batch waits again' });
}

describe('lines beyond the limit of the key', () => {
  test('continue when the window of the limit has passed, and none becomes an error', async () => {
    const batches = await callsWith('4/s');
    const { batch_id: id } = await batches.send(inputLines(11), '?model_id=test/wide');
    const batch = await batches.ended(id);
    expect(batch).toMatchObject({ status: 'completed', counts: { total: 11, completed: 11, failed: 0 } });
    await batches.results(batch);
  });

  test('wait in the input file, and continue when the key gets a higher limit', async () => {
    const batches = await callsWith('3/h');
    const { batch_id: id } = await batches.send(inputLines(5), '?model_id=test/wide');
    await batches.until(id, ({ counts }) => counts.completed === 3);
    await looksInVain(id, 2);
    expect(await batches.read(id)).toMatchObject({
      status: 'in_progress',
      counts: { waiting: 2, failed: 0 },
    });
    const [row] = await service.query<{ is_soon: boolean }>(
      `SELECT due_at < now() + interval '1 minute' AS is_soon FROM batch WHERE id = $1`,
      [id],
    );
    // Although the window of the limit is an hour.
    expect(row).toEqual({ is_soon: true });
    await admin.json('PATCH', `/keys/${batches.keyId}`, { body: { limits: { batch: '10/h' } } });
    const batch = await endedSoon(batches, id);
    expect(batch).toMatchObject({ status: 'completed', counts: { completed: 5 } });
    expect((await batches.results(batch)).errors).toEqual([]);
  });

  test('expire with the completion window of the batch', async () => {
    const batches = await callsWith('1/h');
    const { batch_id: id } = await batches.send(inputLines(3), '?model_id=test/wide&completion_window=2s');
    const batch = await batches.ended(id);
    expect(batch).toMatchObject({ status: 'expired', counts: { completed: 1, expired: 2 } });
    await batches.results(batch);
  });
});

test('lines that find the queue full wait, and count against the limit of the key once', async () => {
  const batches = await callsWith('100/h');
  model.hold();
  const { batch_id: id } = await batches.send(inputLines(9), '?model_id=test/full');
  // One runs at a time, and two wait.
  await until(async () => {
    await lookAgain(id);
    const [row] = await service.query<{ lines: number }>(
      'SELECT read_lines AS lines FROM batch WHERE id = $1',
      [id],
    );
    return row!.lines === 3;
  });
  await looksInVain(id, 3);
  expect(await batches.read(id)).toMatchObject({
    status: 'in_progress',
    counts: { total: 9, running: 1, waiting: 8, failed: 0 },
  });
  model.release();
  const batch = await endedSoon(batches, id);
  expect(batch).toMatchObject({ status: 'completed', counts: { completed: 9, failed: 0 } });
  await batches.results(batch);
  const answer = await service.get('/v1/key', { headers: keyHeader(batches.service.key) });
  const { limits } = (await answer.json()) as { limits: { batch: { remaining: number }[] } };
  expect(limits.batch.map(({ remaining }) => remaining)).toEqual([91]);
});

describe('a paused model', () => {
  const operator = (): ModelAdminCalls => new ModelAdminCalls(service);
  const line = (name: string, of: string): string =>
    JSON.stringify({ custom_id: name, model_id: `test/${of}`, input: {} });
  const text = [line('a', 'wide'), line('b', 'wide'), line('c', 'paused'), line('d', 'wide')].join('\n');

  test('that refuses requests delays its lines and all later lines until it is resumed', async () => {
    const batches = new BatchCalls(service);
    await operator().change('test/paused', { paused: 'reject' });
    const { batch_id: id } = await batches.send(text);
    await batches.until(id, ({ counts }) => counts.completed === 2);
    await looksInVain(id, 2);
    expect(await batches.read(id)).toMatchObject({
      status: 'in_progress',
      counts: { total: 4, waiting: 2, completed: 2, failed: 0 },
    });
    await operator().change('test/paused', { paused: false });
    const batch = await endedSoon(batches, id);
    expect(batch).toMatchObject({ status: 'completed', counts: { completed: 4, failed: 0 } });
    await batches.results(batch);
  });

  test('that accepts requests delays only its own lines', async () => {
    const batches = new BatchCalls(service);
    await operator().change('test/paused', { paused: 'hold' });
    const { batch_id: id } = await batches.send(text);
    await batches.until(id, ({ counts }) => counts.completed === 3 && counts.waiting === 1);
    await operator().change('test/paused', { paused: false });
    expect(await batches.ended(id)).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  });

  test('does not keep a batch from being cancelled', async () => {
    const batches = new BatchCalls(service);
    await operator().change('test/paused', { paused: 'reject' });
    const { batch_id: id } = await batches.send(text);
    await batches.until(id, ({ counts }) => counts.completed === 2);
    await looksInVain(id, 1);
    await batches.cancel(id);
    const batch = await batches.ended(id);
    expect(batch).toMatchObject({ status: 'cancelled', counts: { completed: 2, cancelled: 2 } });
    await batches.results(batch);
    await operator().change('test/paused', { paused: false });
  });
});

describe('a line that cannot be read for the moment', () => {
  /** Until `restore` is called, the input cannot be read from this line on. `isAffected` gets the number of the read. */
  function awayFrom(customId: string, isAffected: (read: number) => boolean): { restore: () => void } {
    const input = service.app.get(BatchInput);
    const lines = input.lines.bind(input);
    let reads = 0;
    input.lines = async function* (...values) {
      const isAway = isAffected(++reads);
      for await (const read of lines(...values)) {
        if (isAway && read.bytes.includes(`"${customId}"`))
          throw new DomainError('unavailable', 'The store is away.');
        yield read;
      }
    };
    return { restore: () => void delete (input as Partial<BatchInput>).lines };
  }

  test('does not prevent the lines before it from running', async () => {
    const batches = new BatchCalls(service);
    const { restore } = awayFrom('line-3', (reads) => reads > 1);
    const { batch_id: id } = await batches.send(inputLines(6), '?model_id=test/wide');
    try {
      await batches.until(id, ({ counts }) => counts.completed === 3);
      await looksInVain(id, 1);
      expect((await batches.read(id)).counts).toMatchObject({ waiting: 3, completed: 3, failed: 0 });
    } finally {
      restore();
    }
    const batch = await endedSoon(batches, id);
    expect(batch).toMatchObject({ status: 'completed', counts: { completed: 6, failed: 0 } });
    await batches.results(batch);
  });

  test('leaves its batch in validation until the line can be read', async () => {
    const batches = new BatchCalls(service);
    const { restore } = awayFrom('line-1', () => true);
    const { batch_id: id } = await batches.send(inputLines(3), '?model_id=test/wide');
    try {
      await looksInVain(id, 1);
      expect(await batches.read(id)).toMatchObject({ status: 'validating', errors: [] });
    } finally {
      restore();
    }
    expect(await endedSoon(batches, id)).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });
});

describe('a check of an input that takes long', () => {
  /** Until `restore` is called, the checks of these batches do not end. Returns those that have begun. */
  function slowChecks(isSlow: (id: string) => boolean): { begun: string[]; restore: () => void } {
    const validation = service.app.get(BatchValidation);
    const run = validation.run.bind(validation);
    const begun: string[] = [];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    validation.run = async (...values) => {
      begun.push(values[0].id);
      if (isSlow(values[0].id)) await ended;
      return run(...values);
    };
    const restore = (): void => {
      delete (validation as Partial<BatchValidation>).run;
      end();
    };
    return { begun, restore };
  }

  test('delays no other batch, no new one and no cancel', async () => {
    const batches = new BatchCalls(service);
    const slow: string[] = [];
    const { begun, restore } = slowChecks((id) => slow.length === 0 || slow.includes(id));
    try {
      slow.push((await batches.send(inputLines(1), '?model_id=test/wide')).batch_id);
      await until(() => begun.length === 1, { message: 'the check begins' });
      model.hold();
      const text = inputLines(2, () => ({ hold: true }));
      const { batch_id: running } = await batches.send(text, '?model_id=test/wide');
      await batches.until(running, ({ counts }) => counts.running === 2);
      const { batch_id: cancelled } = await batches.send(text, '?model_id=test/full');
      await batches.until(cancelled, ({ counts }) => counts.running === 1);
      await batches.cancel(cancelled);
      model.release();
      expect((await batches.ended(running)).status).toBe('completed');
      expect((await batches.ended(cancelled)).status).toBe('cancelled');
      const { batch_id: added } = await batches.send(inputLines(1), '?model_id=test/wide');
      expect((await batches.ended(added)).status).toBe('completed');
      expect((await batches.read(slow[0]!)).status).toBe('validating');
    } finally {
      restore();
    }
    expect((await batches.ended(slow[0]!)).status).toBe('completed');
  });

  test('leaves room for batches that run, however many inputs are to be checked', async () => {
    const batches = new BatchCalls(service);
    model.hold();
    const text = inputLines(1, () => ({ hold: true }));
    const { batch_id: running } = await batches.send(text, '?model_id=test/wide');
    await batches.until(running, ({ counts }) => counts.running === 1);
    const { begun, restore } = slowChecks(() => true);
    const sent: string[] = [];
    try {
      for (let i = 0; i < 4; i++)
        sent.push((await batches.send(inputLines(1), '?model_id=test/wide')).batch_id);
      await until(() => begun.length === 2, { message: 'two checks begin' });
      model.release();
      expect((await batches.ended(running)).status).toBe('completed');
      expect(begun.length).toBe(2);
    } finally {
      restore();
    }
    for (const id of sent) expect((await batches.ended(id)).status).toBe('completed');
  });
});
