import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { LongPolls } from '../../src/requests/long-polls.js';
import type { QueueCalls } from '../support/queue-calls.js';
import { testNodes } from '../support/test-nodes.js';
import { until } from '../support/until.js';

const { model, start } = testNodes({ 'acme/chat': { aliases: ['chat'], attempts: 2 } });
const startNode = (config: object = {}): Promise<QueueCalls> => start({ adapters: ['openai'], ...config });

/** Calls the chat as a client of OpenAI does that has tried it `retries` times before. */
const chat = (
  { service }: QueueCalls,
  retries: number,
  signal?: AbortSignal,
  headers?: Record<string, string>,
): Promise<Response> =>
  fetch(`${service.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.key}`,
      'content-type': 'application/json',
      'x-stainless-retry-count': String(retries),
      ...headers,
    },
    body: JSON.stringify({ model: 'chat', hold: true }),
    ...(signal && { signal }),
  });

const only = async ({ service }: QueueCalls): Promise<string> => {
  const rows = await until(async () => {
    const found = await service.query<{ id: string }>('SELECT id FROM request');
    return found.length > 0 && found;
  });
  expect(rows).toHaveLength(1);
  return rows[0]!.id;
};
const abandoned = ({ service }: QueueCalls, count: number): Promise<unknown> =>
  until(async () => (await service.query('SELECT FROM abandoned_call')).length === count, {
    message: `${count} calls are abandoned`,
  });

test('a closed call that is repeated at another node continues its request', async () => {
  const [first, second] = [await startNode(), await startNode()];
  const abort = new AbortController();
  const closed = chat(first, 0, abort.signal).catch(() => 'closed');
  const id = await only(first);
  await model.arrived(id);
  abort.abort();
  expect(await closed).toBe('closed');
  await abandoned(first, 1);
  const again = chat(second, 1);
  await abandoned(first, 0);
  await model.answer(id);
  expect(await (await again).json()).toMatchObject({ done: id });
  expect(await only(first)).toBe(id);
});

test('the close of a call cancels nothing while a call with its idempotency key waits at another node', async () => {
  const [first, second] = [await startNode(), await startNode()];
  const [duty, other] = [first, second].map(({ service }) => service.app.get(AbandonedCalls));
  other!.graceMs = 200;
  const [abandon, resume] = [duty!.abandon.bind(duty), duty!.resume.bind(duty)];
  let isNoted = false;
  let resumes = 0;
  duty!.abandon = (call) => abandon(call).then(() => void (isNoted = true));
  duty!.resume = (id) => resume(id).finally(() => resumes++);
  const abort = new AbortController();
  const key = { 'idempotency-key': 'one' };
  const closed = chat(first, 0, abort.signal, key).catch(() => 'closed');
  const id = await only(first);
  await model.arrived(id);
  const again = chat(second, 0, undefined, key);
  const polls = second.service.app.get(LongPolls);
  await until(() => polls.size === 1, { message: 'the second call waits' });
  abort.abort();
  expect(await closed).toBe('closed');
  await until(() => isNoted, { message: 'the first node has noted the close' });
  await abandoned(second, 0);
  await model.answer(id);
  expect(await (await again).json()).toMatchObject({ done: id });
  expect(resumes).toBe(0);
});

test('a call that a stopping node ends can be repeated at another node for the same request', async () => {
  const [first, second] = [await startNode({ shutdownGraceMs: 0 }), await startNode()];
  const ended = chat(first, 0);
  const id = await only(first);
  await model.arrived(id);
  await first.service.stop();
  const answer = await ended;
  expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
  await abandoned(second, 1);
  const again = chat(second, 1);
  await until(() => model.times(id) === 2, { message: 'the request runs again' });
  model.release();
  expect(await (await again).json()).toMatchObject({ done: id });
  expect(await only(second)).toBe(id);
});

test('another node cancels the request of an abandoned call whose node has stopped', async () => {
  const [first, second] = [await startNode({ shutdownGraceMs: 0 }), await startNode()];
  const ended = chat(first, 0);
  const id = await only(first);
  await model.arrived(id);
  await first.service.stop();
  expect((await ended).status).toBe(503);
  await abandoned(second, 1);
  await second.service.query(`UPDATE abandoned_call SET cancel_at = now() - interval '1s'`);
  await second.service.app.get(AbandonedCalls).runOnce();
  await second.reached(id, 'COMPLETED');
  expect(await second.status(id)).toMatchObject({ error: { code: 'cancelled' } });
});
