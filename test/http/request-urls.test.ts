import type { Config } from '../../src/config/config.js';
import { send } from '../support/hostile-client.js';
import { startTestService, type TestService } from '../support/index.js';

/** Returns the `status_url` in the answer to a submission with these header fields. */
async function statusUrl(
  service: TestService,
  fields: string[],
  target = '/v1/queue/demo/text/echo',
): Promise<string> {
  const all = [...fields, `Authorization: Key ${service.key}`, 'Content-Length: 2', 'Connection: close'];
  const answer = await send(service, `POST ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n{}`);
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

test('URLs have the scheme and host of the call, as long as that is a host', () =>
  withService({}, async (service) => {
    for (const host of ['queue.example:8080', '[::1]:3000', '..']) {
      expect(await statusUrl(service, [`Host: ${host}`])).toBe(`http://${host}${path}`);
    }
    const noHosts = [
      ['', 'a b', 'a@b', 'ho/st', 'evil.example/path', 'x:99999999', 'a:b', 'a:1:2', 'ä', '\xff', '[::1'],
      ['"', 'a"b', "a'b", '<script>', "x'<script>", 'h'.repeat(300)],
    ].flat();
    for (const host of noHosts) {
      expect(await statusUrl(service, [`Host: ${host}`])).toBe(`${service.url}${path}`);
    }
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`http://a${path}`);
    const absolute = 'http://b.example/v1/queue/demo/text/echo';
    expect(await statusUrl(service, ['Host: b.example'], absolute)).toBe(`http://b.example${path}`);
  }));

test('forwarded fields count where TRUST_PROXY says so', () =>
  withService({ trustProxy: ['loopback'] }, async (service) => {
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`https://api.example.org${path}`);
    expect(await statusUrl(service, ['Host: a'])).toBe(`http://a${path}`);
    expect(await statusUrl(service, ['Host: a', 'X-Forwarded-Proto: javascript'])).toBe(`http://a${path}`);
    expect(await statusUrl(service, ['Host: a', 'X-Forwarded-Host: <b>'])).toBe(`${service.url}${path}`);
  }));

test('a proxy that is not trusted is not listened to', () =>
  withService({ trustProxy: ['10.0.0.0/8'] }, async (service) => {
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(`http://a${path}`);
  }));

test('PUBLIC_BASE_URL stands above all', () =>
  withService({ publicBaseUrl: 'https://example.org/queue', trustProxy: true }, async (service) => {
    const url = `https://example.org/queue${path}`;
    expect(await statusUrl(service, ['Host: a', ...forwarded])).toBe(url);
    const id = ((await (await service.submit('demo/text/echo', {})).json()) as { request_id: string })
      .request_id;
    const status = await service.get(`/v1/queue/requests/${id}/status`);
    expect(((await status.json()) as { status_url: string }).status_url).toBe(url.replace('ID', id));
  }));
