import {
  expectNoInternals,
  expectRefusal,
  expectWholeRequests,
  type RawAnswer,
  words,
} from '../support/hostile-client.js';
import { exchange, exchangesOf, expectHarmless } from '../support/hostile-exchanges.js';
import { QueueCalls, unknownId } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
let id: string;

beforeAll(async () => {
  service = await startTestService({ limits: '100000/s', config: { adapters: ['fal'] } });
  calls = new QueueCalls(service);
  id = await calls.run('demo/text/echo');
});

afterAll(() => service.stop());
afterEach(async () => expectWholeRequests(calls, await calls.count('request')));

const ask = (method: string, target: string, fields: string[] = [], body = ''): Promise<RawAnswer> =>
  exchange(service, { method, target, fields, body });

const submit = (query: string, fields: string[] = []): Promise<RawAnswer> =>
  ask('POST', `/v1/queue/demo/text/echo?${query}`, fields, '{"a":1}');

const long = 'a'.repeat(3_000);

const refusedOptions = [
  words`
    priority=urgent priority=HIGH priority=high&priority=low priority[]=high priority=%00 priority=0 Priority=high
    delay=-1s delay=31d delay=720h1ms delay=1e3s delay=1h&delay=1h delay=%00 delay=Infinity delay=0x1s
    delay=1s&not_before=2030-01-31T08:00:00Z not_before=now not_before=0 not_before=2030-02-31 not_before=%ff
    not_before=9999-12-31T23:59:59Z not_before[]=2030-01-31T08:00:00Z expires=0s expires=-1s expires=x expires[]=1h
    timeout=0 timeout=99999h timeout=%27 timeout=1s&timeout=2s tag=a tag=a:b:c tag=%00:a tag=a:%0a tag[]=a:b tag=a:%ff
    webhook=x webhook=ftp://a.example/ webhook=javascript:alert(1) webhook=http://127.0.0.1/ webhook=https://[::1]/
    webhook=https://169.254.169.254/latest/meta-data webhook=https://10.0.0.1/ webhook=http://0x7f.1/ webhook=//a.example
    webhook=https://a.example/%00 webhook=https://a.example/&fal_webhook=https://a.example/ webhook=https://localhost/
    __proto__=1 constructor=1 wait=1 %00=1 prefer=wait`,
  [`webhook=https://a.example/${long}`, `tag=${long}:a`, `${long}=1`],
  [Array.from({ length: 9 }, (_, i) => `tag=a:${i}`).join('&')],
].flat();

test.each(refusedOptions.map((text) => [text.slice(0, 60), text] as const))(
  'a submission with %s is refused',
  async (_name, query) => {
    const before = await calls.count('request');
    expectRefusal(await submit(query), [400, 403], ['invalid_query', 'forbidden'], decodeURI(long));
    expect(await calls.count('request')).toBe(before);
  },
);

const oddPreferences = [
  words`
    wait=-1 wait=x wait= wait=0x10 wait=1.5 wait=1e9 wait="1 wait=١ ,,,; = ;wait=1 wait="\\ \xff wait=99999999999999999999
    respond-async return=minimal;foo handling=strict __proto__=1`,
  [`wait=${'9'.repeat(5_000)}`, 'wait=1, '.repeat(500), `a="${'\\"'.repeat(1_000)}`],
].flat();

test.each(oddPreferences.map((text) => [text.slice(0, 40), text] as const))(
  'Prefer: %s does not break a submission, a status or a response',
  async (_name, text) => {
    const field = `Prefer: ${text}`;
    expect([200, 202]).toContain((await submit('', [field])).status);
    for (const target of [`${calls.path(id)}/status`, calls.path(id)])
      expect((await ask('GET', target, [field])).status).toBe(200);
  },
);

const oddModels = words`x % %zz %00 %ff demo demo/text demo/text/ech demo%252Ftext/echo ../key demo/../key requests
  requests/x __proto__ constructor/prototype * ' 1;DROP %E2%80%AE {} demo/text/echo/openapi openapi.json x/openapi.json`;

test.each(
  [...oddModels, 'a'.repeat(5_000), 'a/'.repeat(300)].map((text) => [text.slice(0, 40), text] as const),
)('the model id %s is refused', async (_name, text) => {
  for (const target of [`/v1/models/${text}`, `/v1/models/${text}/openapi.json`]) {
    const codes = ['unknown_model', 'not_found', 'bad_request'];
    expectRefusal(await ask('GET', target), [400, 404], codes, text);
  }
});

test.each(['/v1/models', '/v1/models/demo/text/echo', '/v1/models/demo/text/echo/openapi.json', '/v1/key'])(
  '%s needs a key, refuses methods that write, and ignores a query or a body',
  async (target) => {
    for (const key of ['', 'Key', 'Key x', 'Basic Og==', `Key ${long}`, "Key ' OR 1=1"])
      expectRefusal(await ask('GET', target, [`Authorization: ${key}`]), 401, 'invalid_key');
    for (const method of words`POST PUT DELETE PATCH`)
      expectRefusal(await ask(method, target), 405, 'method_not_allowed');
    for (const query of ['a=b', '__proto__=1', '%00', '%', long, 'limit=-1', 'a&'.repeat(2_000)])
      expect((await ask('GET', `${target}?${query}`, [], '{"x":')).status).toBe(200);
  },
);

const oddIds = words`x %00 null __proto__ ' * {} 1;DROP %ff 00000000-0000-0000-0000-000000000000`;

test.each([...oddIds, long, unknownId()].map((text) => [text.slice(0, 40), text] as const))(
  '%s is refused as the id of a delivery and of its request',
  async (_name, text) => {
    const root = '/v1/queue/requests';
    for (const [method, target] of [
      ['GET', `${root}/${text}/deliveries`],
      ['POST', `${root}/${text}/deliveries/${unknownId()}/redeliver`],
      ['POST', `${root}/${id}/deliveries/${text}/redeliver`],
    ] as const) {
      const codes = ['unknown_request', 'bad_request', 'not_found'];
      expectRefusal(await ask(method, target, [], '\0'), [400, 404], codes, text);
    }
  },
);

test.each(['GET', 'PUT', 'DELETE'])('the route of a redelivery refuses %s', async (method) => {
  const target = `${calls.path(id)}/deliveries/${unknownId()}/redeliver`;
  expectRefusal(await ask(method, target), 405, 'method_not_allowed');
});

/** Expects a refusal in fal's form. */
function expectFalRefusal(answer: RawAnswer, status: number | number[], sent: string): void {
  expect({ ...answer, ok: [status].flat().includes(answer.status) }).toMatchObject({ ok: true });
  expect(answer.fields).toMatch(/^content-type: application\/json; charset=utf-8\r?$/im);
  expect(JSON.parse(answer.body)).toMatchObject({ detail: expect.anything() });
  expect(JSON.parse(answer.body)).not.toHaveProperty('type');
  expectNoInternals(answer, sent);
}

const falTargets = words`
  /fal /fal/ /fal/x /FAL/x /fal/demo/text/echo /fal/demo/text/echo/requests /fal/demo/text/echo/requests/x
  /fal/demo/text/echo/requests/x/status /fal/x/requests/%00/status /fal/x/requests/{}/status/stream /fal/x/requests/%zz
  /fal/% /fal/%ff/requests/x /fal/__proto__ /fal/x/requests/x/status/stream/more /fal/requests/x /fal/x/requests/x/y`;

test.each(falTargets)('GET %s is refused in the form of fal', async (target) =>
  expectFalRefusal(await ask('GET', target), [400, 404, 405], target),
);

test('a method that a fal route does not allow is refused in the form of fal, with Allow', async () => {
  const requests = `/fal/demo/text/echo/requests/${id}`;
  for (const [method, target, allowed] of [
    ['GET', '/fal/demo/text/echo', 'POST'],
    ['DELETE', requests, 'GET, HEAD'],
    ['PATCH', `${requests}/status`, 'GET, HEAD'],
  ] as const) {
    const answer = await ask(method, target);
    expectFalRefusal(answer, 405, target);
    expect(JSON.parse(answer.body)).toMatchObject({ error_type: 'method_not_allowed' });
    expect(answer.fields).toMatch(new RegExp(`^allow: ${allowed}\r?$`, 'im'));
  }
});

const falFields = [
  words`0 -1 x 1e9 1,5 \xff`.map((value) => `X-Fal-Request-Timeout: ${value}`),
  words`0 NaN 1s`.map((value) => `X-Fal-Request-Start-Timeout: ${value}`),
  words`high 0 \xff`.map((value) => `X-Fal-Queue-Priority: ${value}`),
  ['Idempotency-Key: a b', 'Authorization: Key x', 'Authorization: '],
].flat();

test.each(falFields)('a submission to fal with the field %j is refused in the form of fal', async (field) =>
  expectFalRefusal(await ask('POST', '/fal/demo/text/echo', [field], '{}'), [400, 401], field),
);

test.each(['{', '[]', 'null', '\0', '{"a":"\\u0000"}', '{"a":1}x', '[' + '['.repeat(5_000)])(
  'a submission to fal with the body %.20j is refused in the form of fal',
  async (body) => expectFalRefusal(await ask('POST', '/fal/demo/text/echo', [], body), [400, 422], body),
);

test.each(
  words`fal_max_queue_length=-1 fal_max_queue_length=x priority=urgent fal_webhook=x tag=a unknown=1`,
)('a submission to fal with the query %s is refused in the form of fal', async (query) =>
  expectFalRefusal(await ask('POST', `/fal/demo/text/echo?${query}`, [], '{}'), 400, query),
);

test('random calls to all routes get no 5xx', async () => {
  await expectHarmless(service, exchangesOf(18, 400, [id, await calls.run('demo/text/echo')]));
});
