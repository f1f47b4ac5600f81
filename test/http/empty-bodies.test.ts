import type { OpenAPIObject } from '@nestjs/swagger';
import { startTestService, type TestService } from '../support/index.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

let service: TestService;
let id: string;
let keyId: string;
let document: OpenAPIObject;

beforeAll(async () => {
  service = await startTestService({ limits: 'off', config: { adapters: ['fal'] } });
  id = await new QueueCalls(service).run('demo/text/echo');
  [{ id: keyId }] = (await service.query('SELECT id FROM api_key')) as [{ id: string }];
  document = (await (await service.get('/openapi.json')).json()) as OpenAPIObject;
});
afterAll(() => service.stop());

const methods = ['post', 'put', 'patch'] as const;
/** They are in no document. */
const undescribed = [
  'POST /fal/demo/text/echo',
  'POST /fal/storage/upload/initiate',
  'POST /v1/admin/session',
];

function routes(): string[] {
  const named: Record<string, string> = { '{key_id}': keyId, '{model_id}': 'demo/text/echo' };
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method] !== undefined)
      .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, (name) => named[name] ?? id)}`),
  );
  return [...described, ...undescribed];
}

test.each([
  ['an object without members', '{}'],
  ['null in place of an object', 'null'],
  ['an empty list', '[]'],
  ['an empty text', '""'],
  ['nothing', ''],
])('%s as the body of any call causes no 5xx answer', async (_, body) => {
  const failed: string[] = [];
  for (const route of routes()) {
    const [method, path] = route.split(' ') as [string, string];
    const headers = { ...keyHeader(service.key), 'content-type': 'application/json' };
    const answer = await fetch(service.url + path, { method, headers, body });
    await answer.text();
    if (answer.status >= 500) failed.push(`${route} → ${answer.status}`);
  }
  expect(failed).toEqual([]);
  expect(routes().length).toBeGreaterThan(20);
});

test('an empty change is accepted if every member is optional', async () => {
  for (const [path, body] of [
    [`keys/${keyId}`, '{}'],
    [`keys/${keyId}`, '{"limits":{}}'],
    ['models/demo/text/echo', '{}'],
  ] as const) {
    const headers = keyHeader(service.key);
    const answer = await fetch(`${service.url}/v1/admin/${path}`, { method: 'PATCH', headers, body });
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.text();
  }
});
