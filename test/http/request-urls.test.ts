import type { Config } from '../../src/config/config.js';
import { expectRefusal, send } from '../support/hostile-client.js';
import { startTestService, type TestService } from '../support/index.js';
import { QueueCalls } from '../support/queue-calls.js';

const submission = '/v1/queue/demo/text/echo';

function submit(
  service: TestService,
  fields: string[],
  target = submission,
  version = '1.1',
): ReturnType<typeof send> {
  const all = [...fields, `Authorization: Key ${service.key}`, 'Content-Length: 2', 'Connection: close'];
  return send(service, `POST ${target} HTTP/${version}\r\n${all.join('\r\n')}\r\n\r\n{}`);
}

/** Returns the `status_url` in the answer to a submission with these header fields. */
async function statusUrl(...call: Parameters<typeof submit>): Promise<string> {
  const answer = await submit(...call);
  expect(answer.status).toBe(202);
  const body = JSON.parse(answer.body) as Record<string, string>;
  expect(/^location: (.*)\r$/im.exec(answer.fields)?.[1]).toBe(body['status_url']);
  return body['status_url']!.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID');
}

async function withService(
  config: Partial<Config>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService({ limits: '1000/s', config });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

const path = '/v1/queue/requests/ID/status';
const forwarded = ['X-Forwarded-Proto: https', 'X-Forwarded-Host: api.example.org'];

test('URLs have the scheme of the call and its host, if that is valid', () =>
  withService({}, async (service) => {
    for (const host of ['queue.example:8080', '[::1]:3000', '..']) {
      expect(await statusUrl(service, [`Host: ${host}`])).toBe(`http://${host}${path}`);
    }
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`http://a${path}`);
    const absolute = 'http://b.example/v1/queue/demo/text/echo';
    expect(await statusUrl(service, ['Host: b.example'], absolute)).toBe(`http://b.example${path}`);
  }));

test('only HTTP/1.0 may leave the host out', () =>
  withService({}, async (service) => {
    expect(await statusUrl(service, [], submission, '1.0')).toBe(`${service.url}${path}`);
    expect((await submit(service, [])).status).toBe(400);
  }));

const noHosts = [
  ['', 'a b', 'a@b', 'ho/st', 'evil.example/path', 'x:99999999', 'a:b', 'a:1:2', 'ä', '\xff', '[::1'],
  ['"', 'a"b', "a'b", '<script>', "x'<script>", 'h'.repeat(300)],
  // These look like hosts, but no URL can have them.
  [
    'a:65536',
    'a:99999',
    '[::::]',
    '[1.2.3.4]',
    '1.2.3.4.5',
    '256.1.1.1',
    'a\\b',
    'a#b',
    'a?b',
    '.'.repeat(254),
  ],
].flat();

test('every call that answers with URLs refuses an invalid host, and submits nothing', () =>
  withService({ trustProxy: ['loopback'], adapters: ['fal'] }, async (service) => {
    const id = await new QueueCalls(service).submit('demo/text/echo');
    const ask = (method: string, target: string, host: string, fields: string[] = []) => {
      const all = [
        `Host: ${host}`,
        'Connection: close',
        'Content-Type: application/json',
        ...(fields.length > 0 ? fields : [`Authorization: Key ${service.key}`]),
      ];
      const body = method === 'GET' ? '' : '{}';
      return send(
        service,
        `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    };
    const calls: [method: string, target: string][] = [
      ['POST', submission],
      ['POST', `${submission}?logs=1#x`],
      ['POST', `/fal/demo/text/echo`],
      ['POST', '/v1/queue/requests'],
      ['GET', '/v1/queue/requests'],
      ['GET', `/v1/queue/requests/${id}/status`],
      ['GET', `/v1/queue/requests/${id}/status?logs=1&a=b`],
      ['GET', `/v1/queue/requests/${id}/status/stream`],
      ['GET', `/fal/demo/requests/${id}/status`],
      ['GET', '/v1/admin/keys'],
      ['GET', '/openapi.json'],
      ['POST', '/v1/admin/session'],
    ];
    for (const host of noHosts) {
      for (const answer of [
        await submit(service, [`Host: ${host}`]),
        ...(host === '' ? [] : [await submit(service, ['Host: a', `X-Forwarded-Host: ${host}`])]),
      ])
        expectRefusal(answer, 400, 'bad_request', host);
    }
    for (const [method, target] of calls) {
      const answer = await ask(method, target, 'a:99999');
      expect([method, target, answer.status]).toEqual([method, target, 400]);
      expect(answer.body).toMatch(/The header \\?"Host\\?" must be a host/);
    }
    // A browser with a session. The host is asked for before the session is.
    const cookie = ['Cookie: nowserving_session=x', 'Origin: http://a'];
    expectRefusal(await ask('POST', '/v1/queue/requests/cancel', 'a:99999', cookie), 400, 'bad_request');
    // What has no URL in its answer is served whatever the host.
    expect((await ask('GET', '/health/live', 'a:99999')).status).toBe(200);
    expect(await service.query('SELECT id FROM request')).toEqual([{ id }]);
  }));

test('forwarded fields count if TRUST_PROXY trusts the proxy', () =>
  withService({ trustProxy: ['loopback'] }, async (service) => {
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`https://api.example.org${path}`);
    expect(await statusUrl(service, ['Host: a'])).toBe(`http://a${path}`);
    expect(await statusUrl(service, ['Host: a', 'X-Forwarded-Proto: javascript'])).toBe(`http://a${path}`);
    const several = ['Host: a/b', 'X-Forwarded-Host: api.example.org, proxy.internal'];
    expect(await statusUrl(service, several)).toBe(`http://api.example.org${path}`);
  }));

test('forwarded fields of an untrusted proxy are ignored', () =>
  withService({ trustProxy: ['10.0.0.0/8'] }, async (service) => {
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`http://a${path}`);
  }));

test('PUBLIC_BASE_URL takes precedence over all others', () =>
  withService({ publicBaseUrl: 'https://example.org/queue', trustProxy: true }, async (service) => {
    const url = `https://example.org/queue${path}`;
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(url);
    const id = ((await (await service.submit('demo/text/echo', {})).json()) as { request_id: string })
      .request_id;
    const status = await service.get(`/v1/queue/requests/${id}/status`);
    expect(((await status.json()) as { status_url: string }).status_url).toBe(url.replace('ID', id));
  }));
