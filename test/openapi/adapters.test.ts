import { adapters } from '../../src/config/adapter.js';
import { inlined } from '../support/api-document.js';
import { startTestService, type TestService } from '../support/index.js';

interface Served {
  tags: { name: string; description: string }[];
  paths: Record<
    string,
    Record<string, { operationId: string; tags: string[]; responses: Record<string, unknown> }>
  >;
}

let service: TestService;
beforeAll(async () => (service = await startTestService({ config: { adapters: [...adapters] } })));
afterAll(() => service.stop());

test('the description of an installation has the routes of its adapters, each under the tag of its adapter', async () => {
  const document = (await (await service.get('/openapi.json')).json()) as Served;
  const operations = Object.entries(inlined(document, document.paths)).flatMap(([path, item]) =>
    Object.values(item).map((operation) => ({ path, ...operation })),
  );
  for (const [root, tag] of [
    ['/fal/', 'fal'],
    ['/openai/v1/', 'OpenAI'],
    ['/replicate/v1/', 'Replicate'],
    ['/runpod/v2/', 'Runpod'],
  ] as const) {
    const own = operations.filter(({ path }) => path.startsWith(root));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter(({ tags }) => tags.join() !== tag)).toEqual([]);
    // Their errors are no problem+json.
    expect(JSON.stringify(own)).not.toContain('problem+json');
    expect(document.tags.filter(({ name }) => name === tag)).toHaveLength(1);
  }
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});
