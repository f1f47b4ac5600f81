import { Webhook } from 'standardwebhooks';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { until } from '../support/index.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, model, receiver, hooks } = testWebhooks();
const root = '/v1/webhook-endpoints';

interface Endpoint {
  id: string;
  url: string;
  events: string[];
  disabled_at: string | null;
  secret?: string;
}

function call(method: string, path = '', body?: object, key = service.key): Promise<Response> {
  return fetch(`${service.url}${root}${path}`, {
    method,
    headers: { ...keyHeader(key), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function added(body: object, key = service.key): Promise<Endpoint> {
  const answer = await call('POST', '', body, key);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Endpoint;
}

const bodiesAt = (path: string): Record<string, unknown>[] =>
  receiver.at(path).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe('the endpoints of a key over HTTP', () => {
  test('are added and changed by concurrent calls as if the calls were sequential', async () => {
    const key = await calls.newKey({ name: 'hasty' });
    const url = receiver.url(hooks.newPath());
    const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', '', { url }, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201));
    const made = (await Promise.all(answers.map((answer) => answer.json()))) as Endpoint[];
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);

    const others = await Promise.all(
      Array.from({ length: 4 }, () => added({ url: receiver.url(hooks.newPath()) }, key)),
    );
    const wanted = receiver.url(hooks.newPath());
    const changes = others.map(({ id }) => call('PATCH', `/${id}`, { url: wanted }, key));
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.sort((one, other) => one - other)).toEqual([200, 409, 409, 409]);
  });

  test('are added, listed in pages, changed and deleted, and each change is audited', async () => {
    const key = await calls.newKey({ name: 'owner' });
    const [first, second] = [hooks.newPath(), hooks.newPath()].map((path) => receiver.url(path));
    const made = await added({ url: first }, key);
    expect(made).toMatchObject({ url: first, events: ['request.completed'], disabled_at: null });
    expect(made.secret).toMatch(/^whsec_/);
    const other = await added({ url: second, events: ['request.progress', 'batch.completed'] }, key);
    const page = (await (await call('GET', '?limit=1', undefined, key)).json()) as {
      data: Endpoint[];
      next_cursor: string;
    };
    expect(page.data).toMatchObject([{ id: other.id, events: ['request.progress', 'batch.completed'] }]);
    expect(page.data[0]).not.toHaveProperty('secret');
    const next = await (await call('GET', `?cursor=${page.next_cursor}`, undefined, key)).json();
    expect(next).toMatchObject({ data: [{ id: made.id }], next_cursor: null });

    const changed = await call('PATCH', `/${made.id}`, { events: ['request.started'], disabled: true }, key);
    expect(await changed.json()).toMatchObject({
      events: ['request.started'],
      disabled_at: expect.any(String) as string,
    });
    expect(await verdict(call('PATCH', `/${made.id}`, { url: second }, key))).toEqual([409, 'conflict']);
    // Adding it again enables it, and keeps its events.
    expect(await added({ url: first }, key)).toMatchObject({
      id: made.id,
      events: ['request.started'],
      disabled_at: null,
    });
    expect((await call('DELETE', `/${made.id}`, undefined, key)).status).toBe(204);
    expect(await verdict(call('GET', `/${made.id}`, undefined, key))).toEqual([404, 'unknown_id']);
    const audited = await service.query<{ action: string }>(
      `SELECT action FROM audit_entry WHERE target = $1 AND actor_name = 'owner' ORDER BY id`,
      [made.id],
    );
    expect(audited.map(({ action }) => action)).toEqual([
      'endpoint.create',
      'endpoint.disable',
      'endpoint.enable',
      'endpoint.remove',
    ]);
  });

  test('are accessible only to their own key, and need the scope submit', async () => {
    const { id } = await added({ url: receiver.url(hooks.newPath()) });
    const stranger = await calls.newKey({ name: 'stranger' });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { disabled: true }],
      ['DELETE', undefined],
    ] as const)
      expect(await verdict(call(method, `/${id}`, body, stranger))).toEqual([404, 'unknown_id']);
    const reader = await calls.newKey({ scopes: ['read'] });
    expect(await verdict(call('GET', '', undefined, reader))).toEqual([403, 'forbidden']);
    expect(await verdict(fetch(`${service.url}${root}`))).toEqual([401, 'missing_key']);
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
  });

  test('refuse an invalid URL or event, and the error for a private address names WEBHOOK_ALLOW', async () => {
    for (const body of [
      { url: 'http://10.0.0.1/' },
      { url: 'no url' },
      { url: receiver.url(), events: ['no.event'] },
      { events: ['request.completed'] },
    ])
      expect((await verdict(call('POST', '', body)))[0]).toBe(400);
    const answer = await call('POST', '', { url: 'http://10.0.0.1/' });
    expect(await answer.text()).toContain('WEBHOOK_ALLOW');
  });

  test('rotate the secret of the key, and deliveries are signed with both secrets', async () => {
    const key = await calls.newKey({ name: 'rotating' });
    const path = hooks.newPath();
    const { secret } = await added({ url: receiver.url(path) }, key);
    const answer = await call('POST', '/rotate-secret', undefined, key);
    const { secrets } = (await answer.json()) as { secrets: string[] };
    expect(secrets).toEqual([expect.stringMatching(/^whsec_/) as string, secret]);
    const id = await calls.submit('test/hook', {}, keyHeader(key));
    await calls.reached(id, 'COMPLETED');
    const [hook] = await receiver.arrived(path);
    const headers = hook!.headers as unknown as Record<string, string>;
    for (const one of secrets) expect(() => new Webhook(one).verify(hook!.body, headers)).not.toThrow();
  });

  test('are limited to 50 for each key', async () => {
    const key = await calls.newKey({ name: 'many' });
    for (let i = 0; i < 50; i++) await added({ url: receiver.url(`/many/${i}`) }, key);
    expect(await verdict(call('POST', '', { url: receiver.url('/many/more') }, key))).toEqual([
      409,
      'conflict',
    ]);
  });
});

test('an endpoint receives the start of an attempt and the progress of its run, including the newest', async () => {
  const key = await calls.newKey({ name: 'watching' });
  const path = hooks.newPath();
  await added({ url: receiver.url(path), events: ['request.started', 'request.progress'] }, key);
  const id = await calls.submit('test/hook?tag=job:17', { hold: true }, keyHeader(key));
  const progress = (value: number): object => ({ type: 'progress', value, message: `at ${value}` });
  await until(() => bodiesAt(path).some(({ type }) => type === 'request.started'));
  expect(bodiesAt(path)).toEqual([
    {
      type: 'request.started',
      request_id: id,
      model_id: 'test/hook',
      attempt: 1,
      tags: ['job:17'],
      timestamp: expect.stringMatching(/Z$/) as string,
      status_url: `${service.url}/v1/queue/requests/${id}/status`,
      metrics: { queue_time: expect.any(Number) as number },
    },
  ]);
  for (const value of [0.1, 0.2, 0.3, 0.4]) {
    await model.say(id, [progress(value)]);
    await until(async () => {
      const { progress: known } = (await calls.status(id)) as { progress?: { value: number } };
      return known !== undefined && Math.abs(known.value - value) < 0.01;
    });
  }
  const last = await until(() =>
    bodiesAt(path).find((body) => JSON.stringify(body['progress'])?.includes('at 0.4')),
  );
  expect(last).toMatchObject({
    type: 'request.progress',
    request_id: id,
    attempt: 1,
    tags: ['job:17'],
    progress: { value: expect.closeTo(0.4, 5) as number, message: 'at 0.4' },
  });
  const ids = receiver.at(path).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
  await model.answer(id);
  await calls.reached(id, 'COMPLETED');
  expect(bodiesAt(path).map(({ type }) => type)).not.toContain('request.completed');
  const listed = await service.query<{ event: string }>(
    'SELECT event FROM webhook_delivery WHERE request_id = $1',
    [id],
  );
  // A receiver has one row for the progress, or two while one is being sent.
  expect(listed.filter(({ event }) => event === 'request.progress').length).toBeLessThanOrEqual(2);
});

test('an endpoint receives the start of each attempt', async () => {
  const key = await calls.newKey({ name: 'counting' });
  const path = hooks.newPath();
  await added({ url: receiver.url(path), events: ['request.started'] }, key);
  const id = await calls.submit('test/twice', { status: 500 }, keyHeader(key));
  await calls.reached(id, 'COMPLETED');
  const attempts = await until(() => {
    const bodies = bodiesAt(path);
    return bodies.length === 2 && bodies.map(({ request_id, attempt }) => [request_id, attempt]);
  });
  expect(new Set(attempts)).toEqual(
    new Set([
      [id, 1],
      [id, 2],
    ]),
  );
});

test('progress that cannot be delivered is one delivery with the newest content', async () => {
  const key = await calls.newKey({ name: 'unlucky' });
  const path = hooks.newPath();
  await added({ url: receiver.url(path), events: ['request.progress'] }, key);
  receiver.answer = ({ response }) => void response.writeHead(503).end();
  const id = await calls.submit('test/hook', { hold: true }, keyHeader(key));
  await model.say(id, [{ type: 'progress', value: 0.1 }]);
  await receiver.arrived(path);
  const pending = async (): Promise<{ content: { progress: { value: number } } }[]> =>
    service.query(`SELECT content FROM webhook_delivery WHERE request_id = $1 AND claimed_by IS NULL`, [id]);
  await until(async () => (await pending()).length === 1);
  await model.say(id, [{ type: 'progress', value: 0.2 }]);
  const [only, ...others] = await until(async () => {
    const rows = await pending();
    return rows.some(({ content }) => content.progress.value > 0.15) && rows;
  });
  expect([only!.content.progress.value, others]).toEqual([expect.closeTo(0.2, 5), []]);
  await model.answer(id);
});

test('a pending delivery shows the time of its next try, and a delivered one does not', async () => {
  receiver.answer = ({ response }) => void response.writeHead(503).end();
  const { id } = await hooks.submit();
  const pending = await hooks.only(id, 'pending');
  expect(Date.parse(pending.next_try_at!)).toBeGreaterThan(Date.parse(pending.tries[0]!.at));
  receiver.answer = ({ response }) => void response.writeHead(204).end();
  const redelivered = await fetch(`${service.url}${calls.path(id)}/deliveries/${pending.id}/redeliver`, {
    method: 'POST',
    headers: keyHeader(service.key),
  });
  expect(redelivered.status).toBe(202);
  expect((await hooks.only(id, 'delivered', 2)).next_try_at).toBeNull();
});

test('a start that is written after its attempt has failed names that attempt', async () => {
  const key = await calls.newKey({ name: 'late' });
  const id = await calls.submit('test/twice', { status: 500 }, keyHeader(key));
  await calls.reached(id, 'COMPLETED');
  const path = hooks.newPath();
  await added({ url: receiver.url(path), events: ['request.started'] }, key);
  const start = (attempt: number) => ({ id, modelId: 'test/twice', attempt });
  service.app.get(QueueEvents).emit('request.started', () => [start(1), start(2)]);
  await until(() => bodiesAt(path).length >= 2);
  expect(new Set(bodiesAt(path).map(({ attempt }) => attempt))).toEqual(new Set([1, 2]));
});
