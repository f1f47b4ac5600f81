import { createClient, type Status } from '../../clients/typescript/src/index.js';
import { passing, useFakeTimers } from '../support/passing-time.js';

interface Seen {
  method: string;
  path: string;
  key: string | null;
}

type Reply = (seen: Seen, signal: AbortSignal) => Response | Promise<Response>;

const lost = (): never => {
  throw new TypeError('fetch failed');
};
const problem = (status: number, code: string): Response =>
  Response.json({ code, detail: `It is ${code}.` }, { status });

/** A client of a service that answers with `reply`, and the calls that it got. */
function clientOf(reply: Reply) {
  const seen: Seen[] = [];
  const fetch = async (url: string, { method = 'GET', headers, signal }: RequestInit = {}) => {
    const path = url.replace('http://service.test/v1/', '').split('?')[0]!;
    seen.push({ method, path, key: new Headers(headers).get('idempotency-key') });
    return reply(seen.at(-1)!, signal!);
  };
  return { seen, queue: createClient({ url: 'http://service.test', fetch: fetch as never }) };
}

useFakeTimers();

test.each<[string, number, string, (queue: ReturnType<typeof createClient>) => Promise<void>]>([
  ['a request', 410, 'gone', (queue) => queue.delete('r')],
  ['a batch', 404, 'batch_not_found', (queue) => queue.batches.delete('b')],
  ['an endpoint', 404, 'unknown_id', (queue) => queue.webhookEndpoints.delete('e')],
])('the deletion of %s whose answer was lost has succeeded', async (_name, status, code, deleted) => {
  const { queue, seen } = clientOf(() => (seen.length === 1 ? lost() : problem(status, code)));
  await passing(deleted(queue));
  expect(seen.map(({ method }) => method)).toEqual(['DELETE', 'DELETE']);
});

test('the deletion of an unknown batch fails, also if something else answers that it is not there', async () => {
  const unknown = clientOf(() => problem(404, 'batch_not_found'));
  await expect(unknown.queue.batches.delete('b')).rejects.toMatchObject({ code: 'batch_not_found' });
  const proxy = clientOf(() => (proxy.seen.length === 1 ? lost() : new Response('?', { status: 404 })));
  await expect(passing(proxy.queue.batches.delete('b'))).rejects.toMatchObject({ code: 'http_404' });
});

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error)));

describe.each<[string, Reply]>([
  ['between two tries', lost],
  ['during a try', (_seen, signal) => untilAborted(signal)],
])('a submission that is aborted %s', (_name, first) => {
  const started = async (cancelOnAbort: boolean, call: 'run' | 'subscribe') => {
    const client = clientOf((one, signal) => {
      if (client.seen.length === 1) return first(one, signal);
      return Response.json(one.method === 'PUT' ? { status: 'CANCELLED' } : { request_id: 'r' });
    });
    const controller = new AbortController();
    const options = { input: {}, signal: controller.signal, cancelOnAbort };
    const { queue } = client;
    const running: Promise<unknown> =
      call === 'run' ? queue.run('a/b', options) : queue.subscribe('a/b', options).next();
    running.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(50);
    controller.abort();
    await expect(passing(running)).rejects.toMatchObject({ code: 'aborted' });
    return client.seen;
  };

  test.each(['run', 'subscribe'] as const)('is found and cancelled with cancelOnAbort: %s', async (call) => {
    const seen = await started(true, call);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST queue/a/b',
      'POST queue/a/b',
      'PUT queue/requests/r/cancel',
    ]);
    expect(seen[1]!.key).toBe(seen[0]!.key);
  });

  test('is not sent again without cancelOnAbort', async () => {
    expect(await started(false, 'run')).toHaveLength(1);
  });
});

const status = (value: string): Response => {
  const completed = value === 'COMPLETED' && { success: true, attempt: 1 };
  return Response.json({ status: value, request_id: 'r', ...completed });
};

/** Streams do not get through. The service answers once streams are first given up, then is away for long. */
function awayForLong() {
  let streams = 0;
  let polls = 0;
  return clientOf(({ path }) => {
    if (path.endsWith('/stream')) {
      streams += 1;
      return lost();
    }
    if (!path.endsWith('/status')) return Response.json('the output');
    if (streams <= 6) return status('IN_QUEUE');
    polls += 1;
    return polls <= 30 ? lost() : status('COMPLETED');
  });
}

test('follow outlasts an outage between two spells of polling', async () => {
  const seen: Status['status'][] = [];
  const reading = async (): Promise<void> => {
    for await (const one of awayForLong().queue.follow('r')) seen.push(one.status);
  };
  await passing(reading());
  expect(seen).toEqual(['IN_QUEUE', 'COMPLETED']);
});

test('output outlasts an outage between two spells of polling', async () => {
  const parts: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const part of awayForLong().queue.output('r')) parts.push(part);
  };
  await passing(reading());
  expect(parts).toEqual(['the output']);
});
