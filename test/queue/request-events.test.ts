import { EventEmitter2 } from '@nestjs/event-emitter';
import { randomUUID } from 'node:crypto';
import { Expirer } from '../../src/queue/completion/duties/expirer.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import type { RequestEvents } from '../../src/queue/request-events.js';
import { Cancels } from '../../src/queue/completion/cancels.js';
import { RunnerRegistry } from '../../src/queue/runs/runner-registry.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

type Published = { [Name in keyof RequestEvents]: [name: Name, event: RequestEvents[Name][number]] };

const { service, calls, model } = testQueue({
  models: {
    'test/model': { attempts: 2 },
    'test/narrow': { concurrency: 1, expires: '1h' },
    'test/broken': { runner: { kind: 'demo', demo: 'echo' } },
  },
  limits: 'off',
});
let published: Published[keyof RequestEvents][] = [];

beforeAll(() => {
  service.app.get(RunnerRegistry).register('demo', { run: () => Promise.reject(new TypeError('oops')) });
  const names = ['submitted', 'started', 'requeued', 'completed'].map((verb) => `request.${verb}`);
  for (const name of [...names, 'node.lost'] as (keyof RequestEvents)[]) {
    service.app.get(EventEmitter2).on(name, (events: readonly object[]) => {
      for (const event of events) published.push([name, event] as (typeof published)[number]);
    });
  }
});

beforeEach(() => (published = []));

/** Returns the events of a request, in the order of their publication, once it has completed. */
async function lifeOf(id: string): Promise<unknown[]> {
  const life = (): typeof published => published.filter(([, event]) => 'id' in event && event.id === id);
  await until(() => life().some(([name]) => name === 'request.completed'), {
    message: `the end of ${id} is published`,
  });
  return life().map(([name, event]) => [name, { ...event, id: undefined }]);
}

/** The two events with which every request begins when it starts at once. */
async function beginning(modelId: string): Promise<unknown[]> {
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  return [
    ['request.submitted', { modelId, keyId: key!.id, inputBytes: expect.any(Number) }],
    ['request.started', { modelId, attempt: 1, queueMs: 0 }],
  ];
}

const runMs = expect.any(Number);

test('a successful request publishes its submission, its start and its completion', async () => {
  const id = await calls.run('test/model');
  const outcome = 'succeeded';
  expect(await lifeOf(id)).toEqual([
    ...(await beginning('test/model')),
    [
      'request.completed',
      {
        modelId: 'test/model',
        outcome,
        attemptOutcome: outcome,
        attempt: 1,
        runMs,
        outputBytes: expect.any(Number),
      },
    ],
  ]);
});

test('the events of a failed attempt and of a failed request contain the reason', async () => {
  const id = await calls.run('test/model', { status: 500, headers: { 'retry-after': '0' } });
  const modelId = 'test/model';
  const failure = { code: 'model_error', message: 'The model answered 500.' };
  expect(await lifeOf(id)).toEqual([
    ...(await beginning(modelId)),
    [
      'request.requeued',
      { modelId, attempt: 1, reason: 'failed', delayMs: expect.any(Number), runMs, failure },
    ],
    ['request.started', { modelId, attempt: 2 }],
    [
      'request.completed',
      {
        modelId,
        outcome: 'failed',
        attemptOutcome: 'failed',
        attempt: 2,
        runMs,
        failure: { ...failure, status: 502 },
      },
    ],
  ]);
});

test('an exception of a runner is published as the cause of the failure', async () => {
  const id = await calls.run('test/broken');
  expect((await lifeOf(id)).at(-1)).toEqual([
    'request.completed',
    expect.objectContaining({
      failure: {
        code: 'model_error',
        message: 'The runner broke.',
        status: 502,
        cause: new TypeError('oops'),
      },
    }),
  ]);
});

test('a request that is cancelled or expires while it waits publishes no attempt', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  const [cancelled, together, expired] = await calls.submitAll(3, 'test/narrow');
  // Starts that never reached the model do not count as attempts.
  await service.query(`UPDATE request SET attempt = 7 WHERE state = 'IN_QUEUE'`);
  await calls.cancel(cancelled!);
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  await service.app.get(Cancels).many(key!.id, [together!]);
  await service.query(`UPDATE queue_entry SET expires_at = now() - interval '1 s'`);
  await service.app.get(Expirer).runOnce();
  for (const [id, outcome] of [
    [cancelled, 'cancelled'],
    [together, 'cancelled'],
    [expired, 'expired'],
  ]) {
    expect((await lifeOf(id!)).slice(1)).toEqual([
      ['request.completed', { modelId: 'test/narrow', outcome, attempt: 0 }],
    ]);
  }
  await model.answer(running);
  await lifeOf(running);
});

test('a lost node and its requeued or failed runs are published; starts that never reached the model do not count', async () => {
  const ids = await calls.submitAll(2, 'test/model', { hold: true });
  await Promise.all(ids.map((id) => model.arrived(id)));
  const node = { id: randomUUID(), name: 'gone' };
  await service.query(
    `INSERT INTO node (id, name, role, heartbeat_at) VALUES ($1, $2, 'all', now() - interval '1 hour')`,
    [node.id, node.name],
  );
  await service.query(`UPDATE lease SET node_id = $1`, [node.id]);
  await service.query(`UPDATE request SET attempt = 3 WHERE id = $1`, [ids[0]]);
  await service.query(`UPDATE request SET lost_attempts = 1, attempt = 5 WHERE id = $1`, [ids[1]]);
  await service.app.get(Rescuer).rescueFromNodes();
  expect(published).toContainEqual(['node.lost', node]);
  const modelId = 'test/model';
  expect(published).toContainEqual([
    'request.requeued',
    { id: ids[0], modelId, attempt: 1, reason: 'lost', lost: 'node', delayMs: 0 },
  ]);
  expect((await lifeOf(ids[1]!)).at(-1)).toEqual([
    'request.completed',
    {
      modelId,
      outcome: 'failed',
      attemptOutcome: 'lost',
      attempt: 2,
      failure: expect.objectContaining({ code: 'node_lost' }),
    },
  ]);
  // The earlier runs go on without a lease. The second run of the requeued request has one.
  await Promise.all(ids.map((id) => model.answer(id)));
  await model.answer(ids[0]!, '{}', 2);
  await lifeOf(ids[0]!);
});

test('a list of events without listeners is not built', () => {
  let made = 0;
  const emitter = new EventEmitter2();
  const events = new QueueEvents(emitter);
  const list = () => [{ id: String(++made), name: 'node' }];
  events.emit('node.lost', list);
  expect(made).toBe(0);
  emitter.on('node.lost', () => undefined);
  events.emit('node.lost', list);
  expect(made).toBe(1);
});
