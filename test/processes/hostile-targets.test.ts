import {
  expectNoInternals,
  expectRefusal,
  expectWholeRequests,
  send,
  words,
} from '../support/hostile-client.js';
import { QueueCalls, unknownId } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let calls: QueueCalls;
let id: string;

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  calls = new QueueCalls(service);
  id = await calls.run('demo/text/echo');
});

afterAll(() => service.stop());
afterEach(() => expectWholeRequests(calls, 1));

function ask(method: string, target: string, fields: string[] = [], body = ''): ReturnType<typeof send> {
  const all = ['Host: a', 'Connection: close', `Content-Length: ${body.length}`, ...fields];
  return send(service, `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`);
}

/** The arguments of `ask` for a route of a request, such as `PUT /cancel`. */
function routeOf(text: string, route: string): [string, string] {
  const [method, rest] = route.split(' ') as [string, string];
  return [method, `/v1/queue/requests/${text}${rest}`];
}

const post = (target: string): ReturnType<typeof send> =>
  ask('POST', target, [`Authorization: Key ${service.key}`], '{"a":1}');

/** Texts in place of a request's id. */
const ids = [
  words`
    0 -1 null undefined NaN true * . ... ~ $ %20 %00 %0a %0d%0aX-Evil:%201 %2e%2e %2F %252F %5c a%00b
    %F0%9F%98%80 %C3%A9 ' " ; -- '%20OR%20'1'='1 1;DROP%20TABLE%20request %27)%3B-- $1 {} [] %7B%7D __proto__
    constructor toString hasOwnProperty <script> %3Cscript%3E {{7*7}} %25s%25n |id $(id) requests
    00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff
    {00000000-0000-7000-8000-000000000000}`,
  ['${7*7}', '`id`', 'a'.repeat(5_000), '%41'.repeat(2_000)],
  [unknownId().replaceAll('-', ''), unknownId().toUpperCase(), unknownId().slice(0, -1)],
  [unknownId().replace('-7', '-1'), unknownId().replace('-8', '-c'), unknownId().replace('0', 'g')],
  [
    `urn:uuid:${unknownId()}`,
    `${unknownId()}0`,
    `%20${unknownId()}`,
    `${unknownId()}%00`,
    `${unknownId()}%0a`,
  ],
].flat();

test.each(ids.map((text) => [text.slice(0, 60), text] as const))(
  'the id %s is answered 404',
  async (_name, text) => {
    for (const route of ['GET /status', 'GET ', 'GET /status/stream?logs=1', 'PUT /cancel']) {
      const answer = await ask(...routeOf(text, route));
      // Proxies may disagree about an encoded slash or dots; here they only lead nowhere.
      expectRefusal(answer, 404, ['unknown_request', 'not_found'], text);
    }
  },
);

test.each(['\u00e9', '%', '%f', '%zz', '%c3', '%ff', '%c0%af', '%e0%80%af', '%ed%a0%80', '%u0041'])(
  'the id %s, with invalid percent-encoding, is refused',
  async (text) => {
    for (const route of ['GET /status', 'PUT /cancel']) {
      const answer = await ask(...routeOf(text, route));
      // Bytes that are no ASCII are no HTTP; other texts name nothing.
      const [status, code] = text === '\u00e9' ? [400, 'bad_request'] : [404, 'unknown_request'];
      expectRefusal(answer, status, [code], text);
    }
  },
);

/** Texts in place of a model's id. */
const models = [
  words`
    % %zz %ff %00 demo/%00 demo/text/echo%00 demo/text/%65cho%20 demo%252Ftext/echo demo\text\echo
    demo%5Ctext%5Cecho ./demo/text/echo demo/./text/echo demo/x/../text/echo ../queue/demo/text/echo %2e%2e/demo
    demo/text/..;/echo demo/text/echo;v=1 demo/text/echo%3F demo/text/echo%23 /demo/text/echo demo//echo
    demo/text/echo// Demo/Text/Echo DEMO/TEXT/ECHO demo/text/%E2%80%AEecho %EF%BC%8Fdemo __proto__
    constructor/prototype toString requests requests/x * ** . ..%2f -demo _demo .demo demo/- %20 ';-- demo'/text`,
  ['', '/status', '/cancel'].map((route) => `requests/${unknownId()}${route}`),
  ['demo/text/\u00e9cho', '${demo}', 'a'.repeat(65), 'a'.repeat(5_000), '%61'.repeat(2_000)],
  [`${'a/'.repeat(8)}a`, `${'a/'.repeat(100)}a`],
].flat();

test.each(models.map((text) => [text.slice(0, 60), text] as const))(
  'the model id %s is refused',
  async (_name, text) =>
    expectRefusal(
      await post(`/v1/queue/${text}`),
      [400, 404, 405],
      ['unknown_model', 'not_found', 'bad_request', 'method_not_allowed', 'invalid_query'],
      text,
    ),
);

const nowhere = words`
  /v1 /v1/ /v1/queue /v1/queue/ /v2/queue/demo/text/echo
  /v1/queue/requests//status /.env /.git/config /admin /metrics/x /../../etc/passwd /..%2f..%2fetc%2fpasswd
  /docs/../../package.json /docs/%2e%2e/package.json /docs/..%5cpackage.json /docs/nothing.js /docs/% /docs/%00
  /openapi.json/x /health /health/ /health/live/x /favicon.ico /% /%00 /; /api-docs /docs-json
  /v1/queue/requests/x/status/stream/more /v1/queue/requests/x/nothing`;

test.each(['/', '//', '/?', '/#'])('GET %s redirects to the documentation', async (target) => {
  const answer = await ask('GET', target);
  expect([answer.status, /^location: (.*)\r?$/im.exec(answer.fields)?.[1]]).toEqual([302, 'docs']);
});

test.each(nowhere)('nothing is served at GET %s', async (target) => {
  const answer = await ask('GET', target);
  expectRefusal(
    answer,
    [400, 404, 405],
    ['not_found', 'bad_request', 'method_not_allowed', 'unknown_request'],
    target,
  );
});

const statusAndResponse = (query: string): ReturnType<typeof send>[] =>
  ['/status', ''].map((route) => ask('GET', `${calls.path(id)}${route}?${query}`));

test.each(
  words`logs= logs=2 logs=-1 logs=TRUE logs=1&logs=0 logs=%31%00 logs=%ff logs=% logs=1%27 logs=1;logs=2`,
)('the query %s is refused', async (query) => {
  for (const answer of await Promise.all(statusAndResponse(query)))
    expectRefusal(answer, 400, ['invalid_query', 'bad_request'], query);
});

test.each([
  ...words`
    logs[]=1 logs[x]=1 logs.x=1 __proto__=1 __proto__[logs]=1 constructor=1 % %00=%00 = &&& ?logs=x Logs=x
    logs=1#logs=2`,
  'a'.repeat(8_000),
  'a&'.repeat(3_000),
  `logs=1&${'a=b&'.repeat(2_000)}`,
])('the query %s is accepted', async (query) => {
  for (const answer of await Promise.all(statusAndResponse(query))) {
    expect(answer.status).toBe(200);
    expectNoInternals(answer);
  }
});

const noMethods = words`PATCH TRACE PROPFIND MKCOL LOCK SEARCH PURGE REPORT M-SEARCH QUERY`;

test.each(noMethods)(
  'the routes of submissions and requests refuse %s, and it changes nothing',
  async (method) => {
    const requests = ['', '/status', '/cancel'].map((route) => calls.path(id) + route);
    for (const target of ['/v1/queue/demo/text/echo', ...requests]) {
      const answer = await ask(method, target, [`Authorization: Key ${service.key}`]);
      expectRefusal(answer, [400, 404, 405], ['method_not_allowed', 'bad_request', 'not_found']);
    }
  },
);

test('DELETE is refused for a submission, a status and a cancel', async () => {
  for (const target of ['/v1/queue/demo/text/echo', `${calls.path(id)}/status`, `${calls.path(id)}/cancel`]) {
    const answer = await ask('DELETE', target, [`Authorization: Key ${service.key}`]);
    expectRefusal(answer, 405, 'method_not_allowed');
  }
});

test.each(['get', 'Get', 'FOO', 'GETT', 'G E T', 'GET/', '<GET>', ''])(
  'the unknown method %j is refused',
  async (method) =>
    expectRefusal(
      await ask(method, `${calls.path(id)}/status`),
      [400, 404, 405],
      ['bad_request', 'method_not_allowed'],
    ),
);

test.each(['GET', 'HEAD'])('a %s of a stream honors Connection: close', async (method) => {
  const answer = await ask(method, `${calls.path(id)}/status/stream`);
  expect(answer.status).toBe(200);
  expect(answer.fields).toMatch(/^connection: close\r?$/im);
});

test.each(['PUT', 'POST', 'DELETE'])('a %s in an override field does not change a GET', async (method) => {
  for (const field of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    const answer = await ask('GET', `${calls.path(id)}/status`, [`${field}: ${method}`]);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ request_id: id });
  }
});
