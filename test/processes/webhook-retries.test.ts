import { until } from '../support/index.js';
import { testWebhooks } from '../support/test-webhooks.js';
import { type Hook, WebhookReceiver } from '../support/webhook-receiver.js';

const { service, calls, receiver, hooks } = testWebhooks();

const say =
  (status: number, fields: Record<string, string> = {}) =>
  ({ response }: Hook): void =>
    void response.writeHead(status, fields).end(`status ${status}`);

/** Returns the milliseconds until the next try of the only delivery of a request. */
async function nextInMs(id: string): Promise<number> {
  const [row] = await service.query<{ ms: number }>(
    `SELECT (extract(epoch FROM next_try_at - now()) * 1000)::float8 AS ms FROM webhook_delivery WHERE request_id = $1`,
    [id],
  );
  return row!.ms;
}

describe('a delivery that fails is tried again', () => {
  test.each([400, 401, 404, 429, 500, 503])('after a %s', async (status) => {
    receiver.answer = say(status);
    const { id } = await hooks.submit();
    const { tries } = await hooks.only(id, 'pending');
    expect(tries[0]).toMatchObject({ status, body: `status ${status}`, error: null });
    expect(await nextInMs(id)).toBeGreaterThan(0);
  });

  test.each([301, 302, 307, 308])('after a %s, which is not followed', async (status) => {
    receiver.answer = say(status, { location: receiver.url('/elsewhere') });
    const { id } = await hooks.submit();
    expect((await hooks.only(id, 'pending')).tries[0]).toMatchObject({ status });
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  test('after a connection that breaks before the answer', async () => {
    receiver.answer = ({ response }) => void response.socket!.destroy();
    const { id } = await hooks.submit();
    expect((await hooks.only(id, 'pending')).tries[0]).toMatchObject({
      status: null,
      body: null,
      error: expect.stringContaining('The connection could not be made, or broke') as string,
    });
  });

  test('after a refused connection', async () => {
    const away = await new WebhookReceiver().start();
    const url = away.url();
    await away.stop();
    const id = await calls.run(`test/hook?webhook=${encodeURIComponent(url)}`);
    const { tries } = await hooks.only(id, 'pending');
    expect(tries[0]).toMatchObject({
      status: null,
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test('after an answer that does not come in time', async () => {
    hooks.terms.timeoutMs = 30;
    receiver.answer = () => undefined;
    const { id } = await hooks.submit();
    const { tries } = await hooks.only(id, 'pending');
    expect(tries[0]).toMatchObject({ status: null, error: 'No answer came within 0.03 s.' });
  });

  test('no sooner than its Retry-After says', async () => {
    receiver.answer = say(503, { 'retry-after': '3600' });
    const { id } = await hooks.submit();
    await hooks.only(id, 'pending');
    expect(await nextInMs(id)).toBeGreaterThan(3_500_000);
  });

  test('until it succeeds, always under the same id', async () => {
    hooks.terms.delaysMs = [1, 1, 1];
    let left = 3;
    receiver.answer = (hook) => say(left-- > 0 ? 500 : 200)(hook);
    const { id, path } = await hooks.submit();
    const { tries } = await hooks.only(id, 'delivered', 4);
    expect(tries.map(({ status }) => status)).toEqual([500, 500, 500, 200]);
    expect(new Set(receiver.at(path).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('until all tries are used up', async () => {
    hooks.terms.delaysMs = [1, 1];
    receiver.answer = say(500);
    const { id, path } = await hooks.submit();
    await hooks.only(id, 'failed', 3);
    expect(receiver.at(path)).toHaveLength(3);
  });
});

test('a 2xx counts though its body never ends', async () => {
  hooks.terms.timeoutMs = 100;
  receiver.answer = ({ response }) => void response.writeHead(200).write('beginning');
  const { id } = await hooks.submit();
  expect((await hooks.only(id, 'delivered')).tries[0]).toMatchObject({ status: 200, body: 'beginning' });
});

test('a 410 ends a delivery', async () => {
  receiver.answer = say(410);
  const { id } = await hooks.submit();
  expect((await hooks.only(id, 'ended')).tries).toHaveLength(1);
});

test('the delivery of a request that no longer exists ends without a call', async () => {
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  const url = receiver.url('/of-nothing');
  const [row] = await service.query<{ id: string }>(
    `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host)
     VALUES (gen_random_uuid(), gen_random_uuid(), $1, $2, 'x') RETURNING id`,
    [key!.id, url],
  );
  await calls.run('test/hook');
  await until(async () => {
    const [found] = await service.query<{ state: string }>(
      'SELECT state FROM webhook_delivery WHERE id = $1',
      [row!.id],
    );
    return found!.state === 'ended';
  });
  expect(receiver.at('/of-nothing')).toEqual([]);
});

describe('receivers do not delay each other', () => {
  test('a hundred webhooks arrive while thousands wait for a receiver that hangs', async () => {
    const hanging = await new WebhookReceiver().start();
    hanging.answer = () => undefined;
    const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
    const insert = (url: string, id: string): Promise<unknown> =>
      service.query(
        `INSERT INTO webhook_delivery (id, request_id, api_key_id, url, host, next_try_at)
         SELECT gen_random_uuid(), $3, $1, $2 || n, substring($2 FROM '//([^/]+)'), now() - interval '1 hour'
         FROM generate_series(1, CASE WHEN $2 LIKE '%hang%' THEN 5000 ELSE 100 END) AS n`,
        [key!.id, url, id],
      );
    const id = await calls.run('test/hook');
    await insert(hanging.url('/hang'), id);
    await insert(receiver.url('/good'), id);
    await calls.run('test/hook');
    await until(() => receiver.hooks.filter(({ url }) => url.startsWith('/good')).length === 100);
    expect(hanging.hooks.length).toBeLessThan(5);
    await service.query(`DELETE FROM webhook_delivery WHERE url LIKE '%/hang%'`);
    await hanging.stop();
  });
});
