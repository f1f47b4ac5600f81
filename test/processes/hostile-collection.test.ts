import fc from 'fast-check';
import {
  expectNoInternals,
  expectRefusal,
  expectWholeRequests,
  type RawAnswer,
  send,
  words,
} from '../support/hostile-client.js';
import { QueueCalls, unknownId } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

const seed = 19;
const root = '/v1/queue/requests';

let service: TestService;
let calls: QueueCalls;
let accepted = 1;

beforeAll(async () => {
  service = await startTestService({ limits: '100000/s', config: { maxBodyBytes: 200_000 } });
  calls = new QueueCalls(service);
  await calls.run('demo/text/echo');
});
afterAll(() => service.stop());
afterEach(() => expectWholeRequests(calls, accepted));

function ask(method: string, target: string, body: string | Buffer = ''): Promise<RawAnswer> {
  const bytes = Buffer.from(body as string);
  const fields = [
    'Host: a',
    'Connection: close',
    `Authorization: Key ${service.key}`,
    `Content-Length: ${bytes.length}`,
  ];
  return send(service, `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, bytes);
}

const refusedQueries = [
  words`
    limit=0 limit=-1 limit=1.5 limit=1e2 limit=0x10 limit=NaN limit=%31%00 limit=1&limit=2 limit[]=1 limit=%20 Limit=1
    cursor=x cursor=%00 cursor=AAAAAAAAAAAAAAAAWzFd cursor=a&cursor=b cursor=../../etc/passwd cursor={} offset=1 page=2
    status=done status=in_queue status=IN_QUEUE%00 status[]=IN_QUEUE outcome=null outcome=success
    model_id=%00 model_id=requests/x model_id=a//b model_id=%ff model_id=' model_id=a&model_id=b model_id=*
    tag=a tag=a: tag=:b tag=a:b:c tag=a%00:b tag=a:b%0a tag=a:%27 tag[]=a:b tag=%F0%9F%98%80:a
    created_after=0 created_after=now created_after=2026-13-01T00:00:00Z created_after=2026-01-01 created_before=%00
    created_before=-1 created_before=2026-01-01T00:00:00 __proto__=1 __proto__[tag]=a:b constructor=1 %00=1
    id=1;DROP%20TABLE%20request order=id`,
  [Array.from({ length: 9 }, (_, i) => `tag=a:${i}`).join('&'), `cursor=${'A'.repeat(7_000)}`],
  [`tag=${'a'.repeat(65)}:b`, 'a=b&'.repeat(2_000)],
].flat();

test.each(refusedQueries)('a list with %.60s is refused', async (query) =>
  expectRefusal(await ask('GET', `${root}?${query}`), 400, 'invalid_query', query),
);

test.each(
  words`limit=100 limit=99999999999999999999999999 limit= tag=&status=&cursor= tag=.:- created_after=0000-01-01T00:00:00Z
  created_before=9999-12-31T23:59:59.999999999%2B23:59 ?limit=1 &&&`.filter((query) => query !== '?limit=1'),
)('a list with %s is served', async (query) => {
  const answer = await ask('GET', `${root}?${query}`);
  expect(answer.status).toBe(200);
  expectNoInternals(answer);
});

const routes = ['', '/status', '/cancel'];
const notObjects = [
  ...words`{ [] null 1 "x" {"requests" {"request_ids":[} {"requests":[{]} [{"requests":[]}] {"a":1}} {'requests':[]}`,
  ['', ' ', '\0', '\u00a0', '{} {}', `{"requests":[{"model_id":"demo/text/echo","input":{}}]}x`],
].flat();

test.each(notObjects)('the body %j is refused by submit, status and cancel', async (body) => {
  for (const route of routes)
    expectRefusal(await ask('POST', root + route, body), 400, ['invalid_json', 'bad_request']);
});

test.each<[string, Buffer]>([
  ['is no UTF-8', Buffer.from('{"requests":["\xff"]}', 'latin1')],
  ['opens brackets without end', Buffer.from(`{"requests":${'['.repeat(150_000)}`)],
  ['opens objects without end', Buffer.from(`{"request_ids":[${'{"a":'.repeat(30_000)}`)],
  ['is too large', Buffer.alloc(200_001, 0x20)],
])('a body that %s is refused', async (_name, body) => {
  for (const route of routes) {
    const answer = await ask('POST', root + route, body);
    expectRefusal(answer, [400, 413, 422], ['invalid_json', 'body_too_large', 'invalid_input']);
  }
});

const oddIds = words`x null __proto__ * ' 1;DROP {} [] <script> constructor requests`;

test.each([...oddIds, unknownId(), unknownId().toUpperCase(), 'a'.repeat(5_000)])(
  'the id %.40s is unknown to retry and erase, and in lists of ids',
  async (text) => {
    for (const [method, target] of [
      ['POST', `${root}/${text}/retry`],
      ['DELETE', `${root}/${text}`],
    ] as const)
      expectRefusal(
        await ask(method, target),
        [400, 404],
        ['unknown_request', 'bad_request', 'not_found'],
        text,
      );
    const body = JSON.stringify({ request_ids: [text, decodeURIComponent(text)] });
    expect(JSON.parse((await ask('POST', `${root}/status`, body)).body)).toEqual({ results: [null, null] });
    expect(JSON.parse((await ask('POST', `${root}/cancel`, body)).body)).toMatchObject({
      cancelled: 0,
      already_completed: 0,
    });
  },
);

/** Values of every kind that JSON has, with the words that mean something here among them. */
const names = [
  'model_id',
  'input',
  'idempotency_key',
  'tag',
  'delay',
  'timeout',
  'webhook',
  'priority',
  '__proto__',
  'logs',
];
const odd = fc.oneof(
  fc.constantFrom(
    '',
    'demo/text/echo',
    'a:b',
    '1h',
    'high',
    'https://a.example/',
    '\0',
    '\ud800',
    'IN_QUEUE',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const entry = fc.oneof(odd, fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 5 }));
const body = fc.oneof(
  fc.record({ requests: fc.oneof(odd, fc.array(entry, { maxLength: 6 })) }),
  fc.record({ request_ids: fc.oneof(odd, fc.array(odd, { maxLength: 6 })) }),
  fc.record({
    filter: fc.oneof(
      odd,
      fc.dictionary(
        fc.constantFrom('tag', 'status', 'outcome', 'model_id', 'created_after', 'limit', 'x'),
        odd,
      ),
    ),
  }),
  odd,
);

test('random bodies cause no 5xx, and every request stays intact', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), body, async (route, value) => {
      const answer = await ask('POST', root + route, JSON.stringify(value));
      expect({ value, answer }).toMatchObject({ answer: { status: expect.any(Number) } });
      expect([200, 400, 422]).toContain(answer.status);
      const { results } = JSON.parse(answer.body) as { results?: ({ status: number } | null)[] };
      for (const one of results ?? []) expect(one?.status ?? 404).not.toBeGreaterThanOrEqual(500);
    }),
    { seed, numRuns: 150 },
  );
  accepted = await calls.count('request');
});
