import { send } from '../support/hostile-client.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ limits: 'off', config: { adapters: ['fal'] } });
});
afterAll(() => service.stop());

/** Returns the status and, of a refusal, the code. */
async function post(target: string, fields: string[] = []): Promise<string> {
  const all = [
    'Host: a',
    'Connection: close',
    'Content-Length: 2',
    `Authorization: Key ${service.key}`,
    ...fields,
  ];
  const { status, body } = await send(service, `POST ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n{}`);
  const { code } = JSON.parse(body) as { code?: string };
  return [status, ...(code === undefined ? [] : [code])].join(' ');
}

/** The second is not a call for the fast path. */
const doors: Record<string, (target: string) => Promise<string>> = {
  'the fast path': (target) => post(target),
  Express: (target) => post(target, ['Expect: nothing']),
};

const model = '/v1/queue/demo/text/echo';
const targets: [target: string, answer: string][] = [
  [`${model}?delay=1h`, '202'],
  [`${model}?delay=1h#x`, '202'],
  [`${model}?delay=1h#?delay=x`, '202'],
  [`${model}#?delay=x`, '202'],
  [`${model}/#x`, '202'],
  [`${model}?#delay=x`, '202'],
  [`${model}?delay=x#`, '400 invalid_query'],
  [`${model}?delay=1h%23x`, '400 invalid_query'],
  [`${model}?delay=1h\\`, '400 invalid_query'],
  [`${model}?delay=1h\\#`, '400 invalid_query'],
  [`${model}?delay=1h%5C`, '400 invalid_query'],
  [`${model}?delay=+1h`, '400 invalid_query'],
  [`${model}?delay=1h%20`, '400 invalid_query'],
  ['/v1/queue/demo\\text\\echo', '404 unknown_model'],
  ['/v1/queue/demo\\text\\echo#x', '404 unknown_model'],
  ['/v1/queue/demo/text%23echo', '404 unknown_model'],
  ['/v1/queue\\demo/text/echo#x', '404 not_found'],
  [`http://host.example${model}?delay=1h#x`, '202'],
  [`HTTPS://host.example:8443${model}`, '202'],
  [`http://host.example${model}?delay=x`, '400 invalid_query'],
  ['/', '405 method_not_allowed'],
  ['http://host.example', '405 method_not_allowed'],
  ['http://host.example?delay=1h', '405 method_not_allowed'],
  [`//host.example${model}`, '404 not_found'],
  [`//host.example${model}#x`, '404 not_found'],
];

describe.each(Object.keys(doors))('by %s', (door) => {
  test.each(targets)('POST %s is answered %s', async (target, answer) =>
    expect(await doors[door]!(target)).toBe(answer),
  );
});

test.each([
  ['/fal/demo/text/echo?delay=1h', '/fal/demo/text/echo?delay=1h#x'],
  ['/fal/demo/text/echo?delay=x', '/fal/demo/text/echo?delay=x#x'],
  ['/fal/demo/text/echo', 'http://host.example/fal/demo/text/echo#x'],
  ['/v1/worker/claims', '/v1/worker/claims#x'],
  ['/v1/worker/claims', 'http://host.example/v1/worker/claims?#x'],
  ['/v1/queue/requests/status', '/v1/queue/requests/status#x'],
  ['/v1/admin/keys', '/v1/admin/keys#/x'],
  ['/health/live', '/health/live#x'],
  ['/v1/queue/requests/x/cancel', '/v1/queue/requests/x/cancel#/y'],
])('%s and %s get the same answer', async (plain, odd) => expect(await post(odd)).toBe(await post(plain)));
