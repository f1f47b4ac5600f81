import { createHash } from 'node:crypto';
import type { OpenAPIObject } from '@nestjs/swagger';
import { adapters } from '../../src/config/adapter.js';
import { resolved } from '../../src/http/openapi/shared-parts.js';
import { inlined } from '../support/api-document.js';
import { expectNoInternals, send } from '../support/hostile-client.js';
import { startTestService, type TestService } from '../support/index.js';
import { QueueCalls } from '../support/queue-calls.js';

let service: TestService;
let calls: QueueCalls;
let document: OpenAPIObject;
let id: string;

beforeAll(async () => {
  service = await startTestService({ limits: 'off', config: { adapters: [...adapters] } });
  calls = new QueueCalls(service);
  id = await calls.run('demo/text/echo');
  document = (await (await service.get('/openapi.json')).json()) as OpenAPIObject;
});
afterAll(() => service.stop());

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = Extract<NonNullable<Operation['parameters']>[number], { in: string }>;
type Reference = { $ref: string };
type Content = NonNullable<Extract<Operation['requestBody'], { content: object }>>['content'];
type Schema = Exclude<NonNullable<Content[string]['schema']>, Reference>;

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Call {
  method: string;
  path: string;
  query?: string;
  body?: string;
}

/** Every operation, with its parameters. */
function operations(): {
  method: string;
  path: string;
  operation: Operation;
  parameters: Parameter[];
}[] {
  return Object.entries(inlined(document, document.paths)).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])] as Parameter[];
      return [{ method: method.toUpperCase(), path, operation, parameters }];
    }),
  );
}

const model = 'demo/text/echo';
const sane: Record<string, string> = {
  request_id: '',
  model_id: model,
  id: '',
  // The adapters' names of a model.
  endpoint: model,
  name: model,
  version: model,
};
const filled = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'request_id' ? id : sane[name] || id));

/** Returns bodies that fit the schema, with the text at every leaf in turn. */
function bodiesOf(schema: Schema | Reference, text: string, depth = 0): unknown[] {
  const { properties = {}, items, type, anyOf, allOf, oneOf } = resolved<Schema>(document, schema);
  const [first] = [...(anyOf ?? []), ...(allOf ?? []), ...(oneOf ?? [])];
  if (first !== undefined) return bodiesOf(first, text, depth);
  if (depth > 4) return [text];
  if (type === 'array' && items !== undefined) return bodiesOf(items, text, depth + 1).map((one) => [one]);
  const names = Object.keys(properties);
  if (names.length === 0) return type === 'object' ? [{ a: text }, { [text]: 1 }] : [text];
  return names.flatMap((name) => {
    const others = Object.fromEntries(
      names.flatMap((other) => {
        const { required = [] } = resolved<Schema>(document, schema);
        const { example } = resolved<Schema>(document, properties[other]!);
        return other !== name && required.includes(other) ? [[other, example ?? 'a']] : [];
      }),
    );
    return bodiesOf(properties[name]!, text, depth + 1).map((value): unknown => ({
      ...others,
      [name]: value,
    }));
  });
}

/**
 * Returns the status of the answer. A batch is answered with 200, so for a batch it is the status of its only entry.
 */
async function ask({ method, path, query = '', body = '' }: Call): Promise<{ status: number; call: string }> {
  const fields = ['Host: a', 'Connection: close', `Authorization: Key ${service.key}`];
  const bytes = Buffer.from(body);
  const head = [`${method} ${path}${query} HTTP/1.1`, ...fields, `Content-Length: ${bytes.length}`];
  const answer = await send(service, `${head.join('\r\n')}\r\n\r\n`, bytes);
  if (answer.status >= 400) expectNoInternals(answer);
  const [, entry] = /^\{"results":\[\{"status":(\d+)/.exec(answer.body) ?? [];
  const status = Number(entry ?? answer.status);
  return { status, call: `${method} ${path}${query} ${body} → ${status}` };
}

/** Expects that all calls are refused. A text in a path may also be the name of nothing. */
async function expectRefused(
  list: readonly Call[],
  isFine = (status: number) => status >= 400,
): Promise<void> {
  const answers = [];
  for (const call of list) answers.push(await ask(call));
  const wrong = answers.filter(({ status }) => status >= 500 || !isFine(status));
  expect(wrong.map(({ call }) => call)).toEqual([]);
  expect(answers.length).toBeGreaterThan(10);
}

/** As a query or a path has them. The second is no UTF-8. */
const encoded = [
  ['NUL', 'a%00b'],
  ['half a surrogate pair', 'a%ED%A0%80b'],
] as const;

test.each(encoded)('%s in a path is refused or names nothing', (_, text) =>
  expectRefused(
    operations().flatMap(({ method, path }) =>
      [...path.matchAll(/\{\w+\}/g)].map(([name]) => ({
        method,
        path: filled(path.replace(name, text)),
        body: method === 'GET' ? '' : '{}',
      })),
    ),
    // A worker that leaves may be unknown.
    (status) => status >= 400 || status === 204,
  ),
);

test('NUL in an option of a query is refused', () =>
  expectRefused(
    operations().flatMap(({ method, path, parameters }) =>
      parameters
        // It is read like the header: a value that is no event id is ignored.
        .filter((one) => one.in === 'query' && one.name !== 'Last-Event-ID')
        .map(({ name }) => ({ method, path: filled(path), query: `?${name}=a%00b` })),
    ),
  ));

test.each([
  ['NUL', '\0'],
  ['half a surrogate pair', '\ud800'],
])('%s in a body is refused, in any member', (_, text) =>
  expectRefused(
    operations().flatMap(({ method, path, operation }) => {
      const { content } = (operation.requestBody ?? { content: {} }) as { content: Content };
      const { schema } = content['application/json'] ?? {};
      if (schema === undefined) return [];
      return bodiesOf(schema, `a${text}b`).map((body) => ({
        method,
        path: filled(path),
        body: JSON.stringify(body),
      }));
    }),
  ),
);

test('half a surrogate pair in an option of a query is refused, or names nothing', () =>
  expectRefused(
    operations().flatMap(({ method, path, parameters }) =>
      parameters
        .filter((one) => one.in === 'query')
        .map(({ name }) => ({ method, path: filled(path), query: `?${name}=a%ED%A0%80b` })),
    ),
    (status) => status === 200 || status >= 400,
  ));

/** Returns a cursor of a list as a caller makes it up who knows how. */
function madeUp(list: string, position: string, query: object): string {
  const text = Buffer.from(JSON.stringify([position, query])).toString('base64url');
  return createHash('sha256').update(`${list} ${text}`).digest('base64url').slice(0, 16) + text;
}

test.each([
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
])('%s in a cursor causes no server error in any list', (_, text) =>
  expectRefused(
    operations()
      .filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'))
      .flatMap(({ method, path: pattern, parameters }) => {
        const path = filled(pattern);
        const filters = parameters.filter((one) => one.in === 'query' && one.name !== 'cursor');
        const cursors = [
          madeUp(path, text, {}),
          ...['', '0', id, `["${text}"]`, JSON.stringify([text, text])].map((position) =>
            madeUp(path, position, {}),
          ),
          ...filters.map(({ name }) => madeUp(path, id, { [name]: text })),
          madeUp(path, id, { [text]: text }),
        ];
        return cursors.map((cursor) => ({ method, path, query: `?cursor=${cursor}` }));
      }),
    // A position that is another's is one.
    (status) => status === 200 || status >= 400,
  ),
);

/** The doors that the document leaves out. */
test.each(encoded)('%s is refused by an adapter, the console, the docs and the sign-in too', (_, text) =>
  expectRefused([
    ...['status', 'status/stream', 'response', ''].map((route) => ({
      method: 'GET',
      path: `/fal/demo/text/echo/requests/${text}/${route}`,
    })),
    { method: 'PUT', path: `/fal/demo/text/echo/requests/${text}/cancel` },
    { method: 'POST', path: `/fal/demo/${text}`, body: '{}' },
    ...['delay', 'expires', 'tag', 'priority', 'fal_max_queue_length', 'fal_webhook'].map((name) => ({
      method: 'POST',
      path: '/fal/demo/text/echo',
      query: `?${name}=${text}`,
      body: '{}',
    })),
    { method: 'GET', path: `/console/assets/${text}` },
    { method: 'GET', path: `/docs/${text}` },
    {
      method: 'POST',
      path: '/v1/admin/session',
      body: JSON.stringify({ token: decodeURIComponent('a%00b') }),
    },
  ]),
);
