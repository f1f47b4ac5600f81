import type { AdminModel, AdminRequest, RequestEvent } from '../api/types';
import { sentenceOf } from './sentence';

const now = Date.parse('2026-03-01T14:10:00Z');
const at = (secondsAgo: number): string => new Date(now - secondsAgo * 1_000).toISOString();
const local = (secondsAgo: number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(
    now - secondsAgo * 1_000,
  );

type Shown = AdminRequest & { held_at?: number };
const request = (more: Partial<Shown>): Shown => ({
  request_id: '01a1fbb3-65ba-773b-adc1-5340bcb23902',
  handle: 'rh_Zm9vYmFyYmF6cXV4LTAxMg',
  model_id: 'acme/image/upscale',
  key: { id: 'k1', name: 'web shop' },
  status: 'IN_QUEUE',
  outcome: null,
  node: null,
  priority: 'normal',
  attempt: 1,
  tags: [],
  created_at: at(100),
  started_at: null,
  completed_at: null,
  metrics: {},
  ...more,
});
const event = (
  secondsAgo: number,
  kind: RequestEvent['kind'],
  more: Partial<RequestEvent> = {},
): RequestEvent => ({
  id: 1,
  at: at(secondsAgo),
  kind,
  attempt: 1,
  node: null,
  outcome: null,
  code: null,
  message: null,
  ended_at: null,
  until: null,
  ...more,
});
const model = (more: Partial<AdminModel>): AdminModel =>
  ({
    id: 'acme/image/upscale',
    concurrency: { current: 4, base: 4, override: null, overridden_at: null, overridden_by: null },
    paused: { current: false, base: false, override: null, overridden_at: null, overridden_by: null },
    running: 4,
    unavailable_since: null,
    unavailable_reason: null,
    ...more,
  }) as AdminModel;

const submitted = event(100, 'submitted');
const failedOnBeta = {
  node: 'beta',
  outcome: 'failed',
  code: 'model_error',
  message: 'CUDA out of memory.',
} as const;

type Case = [
  what: string,
  given: Partial<Shown>,
  events: RequestEvent[],
  about: Partial<AdminModel> | undefined,
  said: string,
];

const cases: Case[] = [
  [
    'waits for its own key',
    { reason: 'busy', queue_position: 5, held_at: 2 },
    [submitted],
    { running: 2 },
    'It waits because its key web shop already has 2 runs of acme/image/upscale, its maximum. 5 requests are ahead of it.',
  ],
  [
    'waits for busy slots',
    { reason: 'busy', queue_position: 37 },
    [submitted],
    {},
    'It waits for one of the 4 slots of acme/image/upscale, which are all busy. 37 requests are ahead of it.',
  ],
  [
    'waits as the first, with an estimate',
    { reason: 'busy', queue_position: 0, estimated_start: { from: at(-120), to: at(-300) } },
    [submitted],
    { running: 3 },
    'It waits for a free slot of acme/image/upscale. It is first in the queue. It should start in 2 min to 5 min.',
  ],
  [
    'waits with nothing known of its model',
    { reason: 'busy', queue_position: 1, estimated_start: { from: at(0), to: at(-30) } },
    [],
    undefined,
    'It waits for a free slot of acme/image/upscale. 1 request is ahead of it. It should start within 30 s.',
  ],
  [
    'waits for a model that is away',
    { reason: 'unavailable', queue_position: 2 },
    [submitted],
    { unavailable_since: at(480), unavailable_reason: 'GPU-3 refused the connection.' },
    `It waits for acme/image/upscale, which has been unreachable since ${local(480)} (GPU-3 refused the connection). 2 requests are ahead of it; nothing is lost.`,
  ],
  [
    'waits for a model that no worker asks for',
    { reason: 'unavailable', queue_position: 0 },
    [submitted],
    { kind: 'worker', unavailable_since: null },
    'It waits for a worker: none is available for acme/image/upscale. It is first in the queue; nothing is lost.',
  ],
  [
    'waits for the only slot',
    { reason: 'busy', queue_position: 1 },
    [submitted],
    {
      concurrency: { current: 1, base: 1, override: null, overridden_at: null, overridden_by: null },
      running: 1,
    },
    'It waits for the only slot of acme/image/upscale, which is busy. 1 request is ahead of it.',
  ],
  [
    'waits while another model of its group runs',
    { reason: 'busy', queue_position: 1 },
    [submitted],
    {
      concurrency: { current: 1, base: 1, override: null, overridden_at: null, overridden_by: null },
      running: 0,
      group: {
        id: 'gpu-0',
        concurrency: 1,
        running: 1,
        stay_s: 30,
        models: ['acme/chat', 'acme/image/upscale'],
      },
    },
    'It waits for the only slot of the group gpu-0, which is busy. 1 request is ahead of it.',
  ],
  [
    'waits for a paused model',
    { reason: 'paused', queue_position: 2 },
    [submitted],
    {
      paused: { current: 'hold', base: false, override: 'hold', overridden_at: at(60), overridden_by: 'ops' },
    },
    `It waits because acme/image/upscale was paused by ops at ${local(60)}. 2 requests are ahead of it, and it keeps its place.`,
  ],
  [
    'waits for its time',
    { reason: 'scheduled', scheduled_at: at(-600) },
    [submitted],
    {},
    `It is scheduled: it joins the queue at ${local(-600)}, in 10 min.`,
  ],
  [
    'pauses between attempts',
    { reason: 'retrying', attempt: 2 },
    [
      submitted,
      event(20, 'started', { node: 'beta' }),
      event(10, 'requeued', { ...failedOnBeta, until: at(-8) }),
    ],
    {},
    `It waits until ${local(-8)} before attempt 2: the model failed with model_error on beta: “CUDA out of memory”.`,
  ],
  [
    'runs',
    { status: 'IN_PROGRESS', started_at: at(41), estimated_end: { from: at(-2), to: at(-9) } },
    [submitted, event(41, 'started', { node: 'beta' })],
    {},
    'It has been running on beta for 41 s. It should end in 2.0 s to 9.0 s.',
  ],
  [
    'runs again after its node was lost',
    { status: 'IN_PROGRESS', started_at: at(5), attempt: 2 },
    [
      submitted,
      event(41, 'started', { node: 'alpha' }),
      event(10, 'requeued', { node: 'alpha', outcome: 'lost' }),
      event(5, 'started', { node: 'beta', attempt: 2 }),
    ],
    {},
    'It has been running on beta for 5.0 s (attempt 2). Before that, its node alpha was lost.',
  ],
  [
    'runs and was asked to stop',
    { status: 'IN_PROGRESS', started_at: at(41), node: 'beta' },
    [event(41, 'started', { node: 'beta' }), event(1, 'cancel_requested')],
    {},
    'It has been running on beta for 41 s. It was asked to stop, but its run may still complete.',
  ],
  [
    'succeeded',
    {
      status: 'COMPLETED',
      outcome: 'succeeded',
      started_at: at(59),
      completed_at: at(56),
      metrics: { inference_time: 2.5 },
    },
    [
      submitted,
      event(59, 'started', { node: 'beta' }),
      event(56, 'completed', { node: 'beta', outcome: 'succeeded' }),
    ],
    {},
    'Waited 41 s, ran 2.5 s on beta and succeeded.',
  ],
  [
    'succeeded at the second start',
    {
      status: 'COMPLETED',
      outcome: 'succeeded',
      started_at: at(30),
      completed_at: at(20),
      metrics: { inference_time: 10 },
    },
    [
      submitted,
      event(59, 'started', { node: 'alpha' }),
      event(40, 'requeued', { node: 'alpha', outcome: 'returned' }),
      event(30, 'started', { node: 'beta' }),
      event(20, 'completed', { node: 'beta', outcome: 'succeeded' }),
    ],
    {},
    'Waited 41 s, ran 10 s on beta and succeeded at the second start. Before that, alpha returned it to the queue.',
  ],
  [
    'failed for good',
    {
      status: 'COMPLETED',
      outcome: 'failed',
      completed_at: at(10),
      error: { code: 'model_error', message: 'CUDA out of memory.', timestamp: at(10) },
    },
    [
      submitted,
      event(59, 'started', { node: 'beta' }),
      event(40, 'requeued', failedOnBeta),
      event(20, 'started', { node: 'beta' }),
      event(10, 'completed', failedOnBeta),
    ],
    {},
    'Waited 41 s, ran twice, gave up: the model failed with model_error on beta: “CUDA out of memory”.',
  ],
  [
    'failed after a start that does not count',
    {
      status: 'COMPLETED',
      outcome: 'failed',
      completed_at: at(90),
      error: { code: 'model_error', message: 'x', timestamp: at(90) },
    },
    [
      submitted,
      event(100, 'started', { node: 'a' }),
      event(99, 'requeued', { node: 'a', outcome: 'returned' }),
      event(98, 'started', { node: 'b' }),
      event(90, 'completed', { ...failedOnBeta }),
    ],
    {},
    'Started at once, ran once and failed: the model failed with model_error on b: “CUDA out of memory”.',
  ],
  [
    'took too long',
    {
      status: 'COMPLETED',
      outcome: 'failed',
      completed_at: at(10),
      error: {
        code: 'timed_out',
        message: 'The run took longer than the 40 s that it may take.',
        timestamp: at(10),
      },
    },
    [
      submitted,
      event(50, 'started', { node: 'beta' }),
      event(10, 'completed', { node: 'beta', outcome: 'timed_out' }),
    ],
    {},
    'Waited 50 s, ran once and failed: the run timed out on beta.',
  ],
  [
    'was lost twice',
    {
      status: 'COMPLETED',
      outcome: 'failed',
      completed_at: at(10),
      error: { code: 'node_lost', message: 'x', timestamp: at(10) },
    },
    [
      submitted,
      event(90, 'started', { node: 'a' }),
      event(80, 'requeued', { outcome: 'lost' }),
      event(70, 'started', { node: 'b' }),
      event(10, 'completed', { outcome: 'lost' }),
    ],
    {},
    'Waited 10 s, ran twice, gave up: its node b was lost.',
  ],
  [
    'was cancelled while it waited',
    { status: 'COMPLETED', outcome: 'cancelled', completed_at: at(40) },
    [submitted, event(40, 'completed', { outcome: 'cancelled' })],
    {},
    'Cancelled after waiting 1 min; it never ran.',
  ],
  [
    'was cancelled while it ran, and erased',
    { status: 'COMPLETED', outcome: 'cancelled', completed_at: at(40), erased_at: at(5) },
    [
      submitted,
      event(90, 'started', { node: 'beta' }),
      event(40, 'completed', { node: 'beta', outcome: 'cancelled' }),
    ],
    {},
    `Waited 10 s, ran once and was cancelled on beta. Its content was erased at ${local(5)}.`,
  ],
  [
    'expired',
    { status: 'COMPLETED', outcome: 'expired', completed_at: at(40) },
    [submitted, event(40, 'completed', { outcome: 'expired' })],
    {},
    'Expired after waiting 1 min, the longest time allowed; it never ran.',
  ],
];

test.each(cases)('a request that %s says so', (_what, given, events, about, said) => {
  const sentence = sentenceOf({ request: request(given), events, model: about && model(about), now });
  expect(sentence.replaceAll(/[\u00a0\u202f]/g, ' ')).toBe(said);
});

test('a request whose model has left models.yaml says so, and what can be done', () => {
  const waiting = request({ reason: 'unavailable', queue_position: 0 });
  expect(sentenceOf({ request: waiting, events: [], isModelGone: true, now })).toBe(
    'It waits for acme/image/upscale, which is no longer in models.yaml. It starts when the model is added again. You can also cancel it.',
  );
});
