import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';
import type { Hook } from '../support/webhook-receiver.js';

const { service, calls, model, receiver, hooks } = testWebhooks();

interface Body {
  error: { code: string; details?: unknown } | null;
  payload: unknown;
  [field: string]: unknown;
}

const bodyOf = (hook: Hook | undefined): Body => JSON.parse(hook!.body) as Body;

async function keyId(): Promise<string> {
  return (await service.query<{ id: string }>(`SELECT id FROM api_key WHERE name = 'bootstrap'`))[0]!.id;
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

describe('a completed request is sent to the webhook of its submission', () => {
  test('with the documented body and headers, and an official library verifies the signature', async () => {
    const { id, path } = await hooks.submit(
      { body: '{"n":12345678901234567890.10, "s" : "é"}' },
      '&tag=a:b&tag=c:d',
    );
    const [hook] = await receiver.arrived(path);
    const delivery = await hooks.only(id, 'delivered');
    const { completed_at, metrics } = (await calls.status(id)) as unknown as Record<string, unknown>;
    const fields =
      'type timestamp request_id model_id status payload error metrics tags attempt response_url';
    expect(Object.keys(bodyOf(hook))).toEqual(fields.split(' '));
    expect(hook!.body).toContain('"payload":{"n":12345678901234567890.10, "s" : "é"},"error":null');
    expect(bodyOf(hook)).toMatchObject({
      type: 'request.completed',
      timestamp: completed_at,
      request_id: id,
      model_id: 'test/hook',
      status: 'OK',
      metrics,
      tags: ['a:b', 'c:d'],
      attempt: 1,
      response_url: `${service.url}/v1/queue/requests/${id}`,
    });
    expect(hook!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'nowserving',
      'webhook-id': delivery.id,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/) as string,
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/) as string,
    });
    const secret = await service.app.get(WebhookSecrets).secretOf(await keyId());
    expect(secret).toMatch(/^whsec_/);
    const signed = hook!.headers as unknown as Record<string, string>;
    expect(new Webhook(secret).verify(hook!.body, signed)).toEqual(bodyOf(hook));
    expect(() => new Webhook(secret).verify(`${hook!.body} `, signed)).toThrow();
  });

  test('with the error that the status has, when it failed', async () => {
    const { id, path } = await hooks.submit({ status: 422, body: '{"reason":"no"}' });
    const body = bodyOf((await receiver.arrived(path))[0]);
    const { error } = await calls.status(id);
    expect(error).toMatchObject({ code: 'model_error', details: { reason: 'no' } });
    expect(body).toMatchObject({ status: 'ERROR', payload: null, error });
    expect(body).not.toHaveProperty('payload_error');
  });

  test('when it was cancelled while it waited', async () => {
    const running = await calls.submit('test/one', { hold: true });
    const { id, path } = await hooks.submit({}, '', 'test/one');
    await calls.cancel(id);
    expect(bodyOf((await receiver.arrived(path))[0])).toMatchObject({
      status: 'ERROR',
      error: { code: 'cancelled' },
      metrics: { inference_time: null },
      attempt: 1,
    });
    await model.answer(running);
  });

  test('with an output of exactly 256 KiB, and without a larger output', async () => {
    const output = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
    const fits = await hooks.submit({ body: output(256 * 1024) });
    const large = await hooks.submit({ body: output(256 * 1024 + 1) });
    const [fitting] = await receiver.arrived(fits.path);
    expect(bodyOf(fitting).payload).toHaveLength(256 * 1024 - 2);
    const [tooLarge] = await receiver.arrived(large.path);
    expect(tooLarge!.body).toContain('"payload":null,"payload_error":"too_large","error":null');
    expect(bodyOf(tooLarge)).toMatchObject({ status: 'OK' });
  });

  test('with an output of exactly 256 KiB that the database compresses, and without a larger one', async () => {
    const texts = Array.from(
      { length: 4_096 },
      (_, i) => `${randomUUID()}${'x'.repeat(i < 2_048 ? 64 : 128)}`,
    );
    const output = (bytes: number): string => JSON.stringify(texts.join('').slice(0, bytes - 2));
    const fits = await hooks.submit({ body: output(256 * 1024) });
    const large = await hooks.submit({ body: output(256 * 1024 + 1) });
    const [fitting] = await receiver.arrived(fits.path);
    expect(bodyOf(fitting).payload).toHaveLength(256 * 1024 - 2);
    const [tooLarge] = await receiver.arrived(large.path);
    expect(bodyOf(tooLarge)).toMatchObject({ payload: null, payload_error: 'too_large' });
    const sizes = await service.query(
      `SELECT pg_column_size(output) BETWEEN 20000 AND 260000 AS fits FROM request WHERE id = ANY ($1)`,
      [[fits.id, large.id]],
    );
    expect(sizes).toEqual([{ fits: true }, { fits: true }]);
  });

  test('once for its completion, whatever its earlier attempts', async () => {
    const { id, path } = await hooks.submit(
      { attempts: [{ status: 500, headers: { 'retry-after': '0' } }, {}] },
      '',
      'test/twice',
    );
    const [hook] = await receiver.arrived(path);
    await hooks.only(id, 'delivered');
    expect(bodyOf(hook)).toMatchObject({ status: 'OK', attempt: 2 });
    expect(receiver.at(path)).toHaveLength(1);
  });

  test('as gone, after retention has deleted the output', async () => {
    const { id, path } = await hooks.submit();
    const { id: delivery } = await hooks.only(id, 'delivered');
    await service.query(`UPDATE request SET output = NULL WHERE id = $1`, [id]);
    await redeliver(id, delivery);
    const [, again] = await receiver.arrived(path, 2);
    expect(bodyOf(again)).toMatchObject({ status: 'OK', payload: null, payload_error: 'gone' });
  });

  test('not at all if the submission names no webhook', async () => {
    const id = await calls.run('test/hook');
    expect(await hooks.list(id)).toEqual([]);
  });
});

describe('the deliveries of a request', () => {
  test('show each try with its time, status, duration, and the first KiB of the answer', async () => {
    receiver.answer = ({ response }) => void response.writeHead(200).end('a\0é'.repeat(1_000));
    const { id, path } = await hooks.submit();
    const { tries, ...delivery } = await hooks.only(id, 'delivered');
    expect(delivery).toEqual({
      id: expect.any(String) as string,
      event: 'request.completed',
      url: receiver.url(path),
      state: 'delivered',
      next_try_at: null,
    });
    const [{ body, ...only }, ...others] = tries as [(typeof tries)[0]];
    expect(others).toEqual([]);
    expect(only).toEqual({ at: time, status: 200, duration_ms: expect.any(Number) as number, error: null });
    expect(Buffer.from(body!.replaceAll('\uFFFD', '\0')).subarray(0, 1_020)).toEqual(
      Buffer.from('a\0é'.repeat(300)).subarray(0, 1_020),
    );
  });

  test('are visible only to their own key, and need the scope read', async () => {
    const { id } = await hooks.submit();
    const { id: delivery } = await hooks.only(id, 'delivered');
    const path = `${calls.path(id)}/deliveries`;
    const other = keyHeader(await calls.newKey());
    const submitter = keyHeader(await calls.newKey({ scopes: ['submit'] }));
    expect(await verdict(service.get(path))).toEqual([401, 'missing_key']);
    expect(await verdict(service.get(path, { headers: other }))).toEqual([404, 'unknown_request']);
    expect(await verdict(service.get(path, { headers: submitter }))).toEqual([403, 'forbidden']);
    const again = `${path}/${delivery}/redeliver`;
    expect(await verdict(post(again))).toEqual([401, 'missing_key']);
    expect(await verdict(post(again, other))).toEqual([404, 'unknown_request']);
  });

  test('answer 405 to other methods', async () => {
    const { id } = await hooks.submit();
    const { id: delivery } = await hooks.only(id, 'delivered');
    const path = `${calls.path(id)}/deliveries`;
    for (const [wrong, allowed] of [
      [post(path, keyHeader(service.key)), 'GET, HEAD'],
      [service.get(`${path}/${delivery}/redeliver`), 'POST'],
    ] as const) {
      const answer = await wrong;
      expect(answer.headers.get('allow')).toBe(allowed);
      expect(await verdict(answer)).toEqual([405, 'method_not_allowed']);
    }
    expect(await verdict(post(`${path}/${delivery}`))).toEqual([404, 'not_found']);
  });

  test('can be delivered again, under the same id', async () => {
    const { id, path } = await hooks.submit();
    const { id: delivery } = await hooks.only(id, 'delivered');
    const answer = await redeliver(id, delivery);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ id: delivery, url: receiver.url(path) });
    const [first, second] = await receiver.arrived(path, 2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    await hooks.only(id, 'delivered', 2);
  });

  test('of an event of a later release are left to a node that knows it', async () => {
    const { id, path } = await hooks.submit();
    const { id: delivery } = await hooks.only(id, 'delivered');
    await service.query(`UPDATE webhook_delivery SET event = 'later.event' WHERE id = $1`, [delivery]);
    await redeliver(id, delivery);
    const { event, tries } = await hooks.only(id, 'pending', 2);
    expect([event, tries[1]]).toMatchObject([
      'later.event',
      { status: null, error: 'Only a node of a later release can send later.event.' },
    ]);
    expect(receiver.at(path)).toHaveLength(1);
  });

  test('that do not exist are unknown', async () => {
    const [one, other] = [await hooks.submit(), await hooks.submit()];
    const { id: delivery } = await hooks.only(one.id, 'delivered');
    for (const unknown of [one.id, 'no-uuid']) {
      expect(await verdict(redeliver(one.id, unknown))).toEqual([404, 'unknown_request']);
    }
    expect(await verdict(redeliver(other.id, delivery))).toEqual([404, 'unknown_request']);
  });
});

describe('an endpoint of a key', () => {
  const add = async (path: string, key: string): Promise<void> => {
    await service.query(
      `INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, $2)`,
      [key, receiver.url(path)],
    );
  };
  afterEach(() => service.query('DELETE FROM webhook_endpoint'));

  test('is notified of all requests of the key, in addition to the webhook of each request', async () => {
    await add('/all', await keyId());
    const { id, path } = await hooks.submit();
    const plain = await calls.run('test/hook');
    await receiver.arrived(path);
    const notified = (await receiver.arrived('/all', 2)).map((hook) => bodyOf(hook)['request_id']);
    expect(new Set(notified)).toEqual(new Set([id, plain]));
    const ids = (await hooks.list(id)).map((delivery) => delivery.id);
    expect(new Set(ids).size).toBe(2);
  });

  test('that is also the webhook of a request is notified once', async () => {
    await add('/same', await keyId());
    const id = await calls.run(`test/hook?webhook=${encodeURIComponent(receiver.url('/same'))}`);
    await hooks.only(id, 'delivered');
  });

  test('is not notified of the requests of other keys', async () => {
    await add('/others', await keyId());
    const key = keyHeader(await calls.newKey());
    await calls.reached(await calls.submit('test/hook', {}, key), 'COMPLETED');
    expect(await service.query(`SELECT FROM webhook_delivery WHERE url LIKE '%/others'`)).toEqual([]);
  });

  test('is disabled by a 410, which ends the delivery', async () => {
    receiver.answer = ({ response }) => void response.writeHead(410).end();
    await add('/gone', await keyId());
    const id = await calls.run('test/hook');
    await hooks.only(id, 'ended');
    await hooks.list(await calls.run('test/hook')).then((list) => expect(list).toEqual([]));
  });

  test('is not disabled by a 410 of a URL that it no longer has', async () => {
    let answer = (): void => undefined;
    receiver.answer = ({ response }) => (answer = () => void response.writeHead(410).end());
    await add('/before', await keyId());
    const id = await calls.run('test/hook');
    await receiver.arrived('/before');
    await service.query('UPDATE webhook_endpoint SET url = $1', [receiver.url('/now')]);
    answer();
    await hooks.only(id, 'ended');
    receiver.answer = ({ response }) => void response.writeHead(204).end();
    await calls.run('test/hook');
    await receiver.arrived('/now');
  });
});

function post(path: string, headers?: Record<string, string>): Promise<Response> {
  return fetch(service.url + path, { method: 'POST', headers });
}

function redeliver(id: string, delivery: string): Promise<Response> {
  return post(`${calls.path(id)}/deliveries/${delivery}/redeliver`, keyHeader(service.key));
}
