import { readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from '../../src/app.module.js';
import { Config } from '../../src/config/config.js';
import { DatabaseSessions } from '../../src/database/sessions.js';
import { type ProblemCode, problemCodes } from '../../src/errors/problem-codes.js';
import { buildOpenApi } from '../../src/http/openapi/build-openapi.js';
import { webhookEventTypes } from '../../src/webhooks/webhook-events.js';
import { inlined } from '../support/api-document.js';

interface Answer {
  headers: Record<string, unknown>;
  content?: Record<string, { examples?: Record<string, { value: Record<string, unknown> }> }>;
}

interface Operation {
  operationId: string;
  description: string;
  security: unknown[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: object };
  responses: Record<string, Answer>;
}

let document: OpenAPIObject;
let operations: [string, Operation][];

beforeAll(async () => {
  const sessions = new DatabaseSessions('postgresql://localhost/none');
  const module = AppModule.register(new Config(), { pooled: sessions, direct: sessions }, []);
  const app = await NestFactory.create(module, { preview: true, logger: false });
  document = buildOpenApi(app);
  operations = Object.entries(inlined(document, document.paths)).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as Operation,
    ]),
  );
  await app.close();
});

test('the committed description is the generated one (npm run openapi)', () => {
  const committed: unknown = JSON.parse(readFileSync('openapi.json', 'utf8'));
  expect(JSON.parse(JSON.stringify(document))).toEqual(committed);
});

test('an option is never a header in one call and a query parameter in another', () => {
  const places = new Map<string, Set<string>>();
  for (const [, { parameters = [] }] of operations)
    for (const { name, in: place } of parameters.filter((one) => one.in !== 'path'))
      places.set(name.toLowerCase(), (places.get(name.toLowerCase()) ?? new Set()).add(place));
  expect(places.size).toBeGreaterThan(20);
  expect([...places].filter(([, found]) => found.size > 1)).toEqual([]);
});

/** The parameters, answers, headers and examples of the operations, as they stand in the document. */
function partsOfOperations(): object[] {
  const { components } = document;
  const whole = Object.values(document.paths).flatMap((item) =>
    Object.values(item as unknown as Record<string, Operation>),
  );
  const ofOperations = whole.flatMap(({ responses }) => Object.values(responses));
  const answers = [
    ...ofOperations,
    ...Object.values(components!.responses as unknown as Record<string, Answer>),
  ];
  const headers = answers.flatMap((answer) => Object.values(answer.headers ?? {}) as object[]);
  const examples = answers.flatMap(({ content = {} }) =>
    Object.values(content).flatMap((body) => Object.values(body.examples ?? {})),
  );
  return [...whole.flatMap(({ parameters = [] }) => parameters), ...ofOperations, ...headers, ...examples];
}

test('no parameter, answer, header or example is in the document twice', () => {
  const contents = partsOfOperations().flatMap((part) => ('$ref' in part ? [] : [JSON.stringify(part)]));
  expect(contents.filter((content, index) => contents.indexOf(content) !== index)).toEqual([]);
  const references = partsOfOperations().flatMap((part) => ('$ref' in part ? [part.$ref as string] : []));
  const { parameters, responses, headers, examples } = document.components!;
  const named = Object.entries({ parameters, responses, headers, examples }).flatMap(([kind, components]) =>
    Object.keys(components!).map((name) => `#/components/${kind}/${name}`),
  );
  expect([...new Set(references)].sort()).toEqual(named.sort());
});

test('a shared part is named after its content', () => {
  const { parameters, responses, headers, examples } = document.components!;
  expect(parameters).toMatchObject({
    'query.cursor': { in: 'query', name: 'cursor' },
    'path.request_id': { in: 'path', name: 'request_id' },
    // Another description of the same parameter.
    'path.request_id.RunInput': { in: 'path', name: 'request_id' },
  });
  expect(Object.keys(responses!)).toEqual(
    expect.arrayContaining([
      'UnknownModel',
      'InternalError',
      'ForbiddenOrRateLimited',
      'TooSlow',
      'TooSlow.Runs',
    ]),
  );
  expect(Object.keys(headers!)).toContain('ETag');
  expect(Object.keys(examples!)).toContain('unknown_request');
});

test('the committed description has less than 700 KB', () => {
  expect(readFileSync('openapi.json').length).toBeLessThan(700_000);
});

test('no two components have the same name for a generator that ignores case and punctuation', () => {
  const { schemas, parameters, responses } = document.components!;
  const names = [schemas, parameters, responses].flatMap((components) =>
    Object.keys(components!).map((name) => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()),
  );
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

/** What generators append to the name of an operation, to name its parameters, bodies and answers. */
const derived =
  'Params|QueryParams|PathParams|PathParameters|HeaderParams|Headers|Body|Data|Payload|Req|Request|Res|' +
  'Response|Responses|Result|Error|Errors|Query|QueryResult|QueryError|QueryResponse|Mutation|MutationBody|' +
  String.raw`MutationRequest|MutationResult|MutationError|MutationResponse|OK|[1-5]\d\d`;

test('no schema has a name that generators give to a part of an operation', () => {
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const pattern = new RegExp(`^(${ids.join('|')})(${derived})$`, 'i');
  expect(pattern.test('CancelRequestResult')).toBe(true);
  expect(Object.keys(document.components!.schemas!).filter((name) => pattern.test(name))).toEqual([]);
});

test('an operation has another name than any schema, with a verb and a noun', () => {
  const ids = operations.map(([, { operationId }]) => operationId);
  const schemas = new Set(Object.keys(document.components!.schemas!).map((name) => name.toLowerCase()));
  expect(ids.filter((id) => schemas.has(id.toLowerCase()))).toEqual([]);
  // A verb and a noun: in a namespace with other clients, `list` or `key` would say nothing.
  expect(ids.filter((id) => !/^[a-z]+[A-Z]/.test(id))).toEqual([]);
});

test('every webhook event is described with the schema of its body', () => {
  const { webhooks } = document as unknown as { webhooks: Record<string, { post: object }> };
  expect(Object.keys(webhooks).sort()).toEqual([...webhookEventTypes].sort());
  const { schemas } = document.components!;
  for (const [type, { post }] of Object.entries(webhooks)) {
    const [, name] = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(post))!;
    const id = type.startsWith('batch.') ? 'batch_id' : 'request_id';
    const properties = { type: { enum: [type] }, [id]: {}, timestamp: {} };
    expect(schemas![name!]).toMatchObject({ properties, required: expect.arrayContaining(['type', id]) });
  }
});

test.each([
  ['POST /v1/batches', ['application/json', 'application/x-ndjson']],
  ['POST /v1/worker/runs/{request_id}/events', ['application/x-ndjson']],
])('%s takes bodies of %j', (route, types) => {
  const [, operation] = operations.find(([one]) => one === route)!;
  expect(Object.keys(operation.requestBody!.content)).toEqual(types);
});

test('the document has the routes of the service and no others', () => {
  // The table of roles has the routes of operators.
  const routes = operations.map(([route]) => route).filter((route) => !route.includes(' /v1/admin/'));
  expect(routes.sort()).toEqual([
    'DELETE /v1/batches/{batch_id}',
    'DELETE /v1/queue/requests/{request_id}',
    'DELETE /v1/webhook-endpoints/{endpoint_id}',
    'DELETE /v1/worker/workers/{worker_id}',
    'GET /health/live',
    'GET /health/ready',
    'GET /metrics',
    'GET /v1/batches',
    'GET /v1/batches/{batch_id}',
    'GET /v1/batches/{batch_id}/errors',
    'GET /v1/batches/{batch_id}/output',
    'GET /v1/files/{file_id}/{name}',
    'GET /v1/key',
    'GET /v1/models',
    'GET /v1/models/{model_id}',
    'GET /v1/models/{model_id}/openapi.json',
    'GET /v1/queue/requests',
    'GET /v1/queue/requests/{request_id}',
    'GET /v1/queue/requests/{request_id}/deliveries',
    'GET /v1/queue/requests/{request_id}/input',
    'GET /v1/queue/requests/{request_id}/output/stream',
    'GET /v1/queue/requests/{request_id}/status',
    'GET /v1/queue/requests/{request_id}/status/stream',
    'GET /v1/webhook-endpoints',
    'GET /v1/webhook-endpoints/{endpoint_id}',
    'GET /v1/worker/runs/{request_id}/input',
    'PATCH /v1/webhook-endpoints/{endpoint_id}',
    'POST /v1/batches',
    'POST /v1/queue/requests',
    'POST /v1/queue/requests/cancel',
    'POST /v1/queue/requests/status',
    'POST /v1/queue/requests/{request_id}/deliveries/{delivery_id}/redeliver',
    'POST /v1/queue/requests/{request_id}/retry',
    'POST /v1/queue/{model_id}',
    'POST /v1/storage/upload/initiate',
    'POST /v1/webhook-endpoints',
    'POST /v1/webhook-endpoints/rotate-secret',
    'POST /v1/worker/beats',
    'POST /v1/worker/claims',
    'POST /v1/worker/runs/{request_id}/events',
    'POST /v1/worker/runs/{request_id}/files',
    'POST /v1/worker/runs/{request_id}/release',
    'PUT /v1/batches/{batch_id}/cancel',
    'PUT /v1/queue/requests/{request_id}/cancel',
    'PUT /v1/storage/uploads/{upload_id}',
    'PUT /v1/worker/runs/{request_id}/failure',
    'PUT /v1/worker/runs/{request_id}/output',
  ]);
});

test('the document does not name the server on which it was made', () => {
  expect(document.servers).toEqual([{ url: '/', description: expect.any(String) as string }]);
});

/** Routes whose URLs contain the right to call them. */
const isOpen = (route: string): boolean => /^(GET \/v1\/files|PUT \/v1\/storage)\//.test(route);

test('every answer has the request id, every limited answer has the quota, and every error is a problem', () => {
  for (const [route, { responses }] of operations) {
    // Calls of workers are not counted, but a claim has a 429 of its own.
    const limited = route.includes('/v1/') && !route.includes('/v1/worker/') && !isOpen(route);
    expect([route, '429' in responses]).toEqual([route, limited || route.endsWith('/claims')]);
    for (const [status, { headers, content }] of Object.entries(responses)) {
      expect(status).toMatch(/^[1-5]\d\d$/); // generators such as orval cannot read a range
      expect(Object.keys(headers)).toContain('X-Request-Id');
      if (limited && !/^50[03]$/.test(status)) {
        const quota = ['X-RateLimit-Remaining', 'RateLimit-Policy'];
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(quota));
      }
      if (/^[45]/.test(status)) expect(Object.keys(content!)).toEqual(['application/problem+json']);
    }
  }
});

test('the example of an error is under the status of its code, except for model_error and 429', () => {
  for (const [code, status, value] of errorExamples()) {
    const isOwn = code === 'model_error' || status === '429';
    const expected = isOwn ? value['status'] : problemCodes[code].status;
    expect([code, code, Number(status)]).toEqual([code, value['code'], expected]);
  }
});

test('every code of an error has an example or is described in the introduction', () => {
  const elsewhere: ProblemCode[] = ['not_found', 'method_not_allowed'];
  const described = new Set([...errorExamples()].map(([code]) => code));
  const expected = Object.keys(problemCodes).filter((code) => !elsewhere.includes(code as ProblemCode));
  expect([...described].sort()).toEqual(expected.sort());
  for (const code of elsewhere) expect(document.info.description).toContain(`\`${code}\``);
});

test('a bearer token is an API key, and X-RateLimit-Reset is described in seconds', () => {
  const { bearer } = document.components!.securitySchemes as Record<string, { bearerFormat?: string }>;
  expect(bearer!.bearerFormat).toBe('API key');
  const { 'X-RateLimit-Reset': reset } = document.components!.headers as Record<
    string,
    { description: string }
  >;
  expect(reset!.description).toMatch(/^Seconds until the oldest counted request leaves the tighter window/);
});

test('a key is optional to read or cancel one request, to sign in and for metrics; other /v1 calls require one', () => {
  const keys = [{ key: [] }, { bearer: [] }];
  for (const [route, { security }] of operations) {
    const isOfOne = /^(GET|PUT) \/v1\/queue\/.*\{request_id\}/.test(route) && !route.includes('deliveries');
    const welcomes = isOfOne || /^(GET|POST) (\/metrics|\/v1\/admin\/session(\/.*)?)$/.test(route);
    const expected = welcomes ? [{}, ...keys] : route.includes('/v1/') && !isOpen(route) ? keys : [];
    const ways = (security as object[]).map((one) => JSON.stringify(one));
    expect([route, ways.sort()]).toEqual([route, expected.map((one) => JSON.stringify(one)).sort()]);
  }
});

test('every schema and every property of one is described', () => {
  const silent: string[] = [];
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    if (!('description' in schema)) silent.push(name);
    const properties = 'properties' in schema ? (schema.properties ?? {}) : {};
    for (const [property, detail] of Object.entries(properties)) {
      if (!('description' in detail)) silent.push(`${name}.${property}`);
    }
  }
  expect(silent).toEqual([]);
});

function* errorExamples(): Generator<[ProblemCode, string, Record<string, unknown>]> {
  for (const [, { responses }] of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const { examples } = content?.['application/problem+json'] ?? {};
      for (const [code, { value }] of Object.entries(examples ?? {}))
        yield [code as ProblemCode, status, value];
    }
  }
}
