import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { problemCodes } from '../../src/errors/problem-codes.js';
import { inlined } from '../support/api-document.js';
import { startTestService, type TestService } from '../support/index.js';

const models = `models:
  - { id: acme/text/shout, runner: { kind: demo, demo: echo } }
  - { id: acme/text/whisper, description: Says it *quietly*., runner: { kind: demo, demo: echo } }
`;

interface Parameter {
  name: string;
  schema: Record<string, unknown>;
  examples?: Record<string, { value: string }>;
}

interface Served {
  info: { description: string };
  servers: { url: string }[];
  paths: Record<string, { post?: { parameters: Parameter[] } }>;
}

/** A service with the shipped settings and the demos. */
let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

async function servedWith(options: Parameters<typeof startTestService>[0]): Promise<Served> {
  const other = await startTestService(options);
  const document = await served(other);
  await other.stop();
  return document;
}

async function served(service: TestService): Promise<Served> {
  const document = (await (await service.get('/openapi.json')).json()) as Served;
  return inlined(document, document);
}

const modelId = ({ paths }: Served) =>
  paths['/v1/queue/{model_id}']!.post!.parameters.find(({ name }) => name === 'model_id');

test('the served description offers the configured models, and no demos unless they are configured', async () => {
  const document = await servedWith({ models });
  expect(modelId(document)).toMatchObject({
    schema: { type: 'string', example: 'acme/text/shout' },
    examples: { 'acme/text/shout': { value: 'acme/text/shout' }, 'acme/text/whisper': {} },
  });
  // A model that appears later needs no other client.
  expect(modelId(document)!.schema).not.toHaveProperty('enum');
  expect(document.info.description).toContain('/v1/queue/acme/text/shout');
  expect(document.info.description).toContain('- `acme/text/whisper` Says it \\*quietly\\*.\n');
  expect(document.info.description).not.toContain('demo/');
  expect(JSON.stringify(document.paths['/v1/queue/{model_id}']!.post)).toContain(
    'An input of acme/text/shout',
  );
});

test('every route with a model in its path offers the same models', async () => {
  const { paths } = await servedWith({ models });
  const offered = Object.entries(paths)
    .filter(([path]) => path.includes('{model_id}'))
    .flatMap(([path, item]) =>
      Object.values(item).map(({ parameters }) => {
        const { examples = {} } = parameters.find(({ name }) => name === 'model_id')!;
        return [path, Object.keys(examples)];
      }),
    );
  expect(offered.length).toBeGreaterThan(4);
  for (const [path, ids] of offered)
    expect([path, ids]).toEqual([path, ['acme/text/shout', 'acme/text/whisper']]);
});

test('with the demos the fractal is shown first', async () => {
  const { schema, examples } = modelId(await served(service))!;
  expect(schema['example']).toBe('demo/image/fractal');
  expect(Object.keys(examples!)).toHaveLength(4);
});

test('examples have the address of the call', async () => {
  const text = await (await service.get('/openapi.json')).text();
  expect(text).toContain(`${service.url}/v1/queue/demo/image/fractal`);
  expect(text).not.toContain('127.0.0.1:3000');
  expect((JSON.parse(text) as Served).servers).toMatchObject([{ url: service.url }]);
});

test('examples have the address of PUBLIC_BASE_URL if it is set', async () => {
  const { info, servers } = await servedWith({ config: { publicBaseUrl: 'https://queue.example/api' } });
  expect(servers).toMatchObject([{ url: 'https://queue.example/api' }]);
  expect(info.description).toContain('https://queue.example/api/v1/queue/demo/image/fractal');
});

test('/docs and /docs/errors set the viewport to the width of the device', async () => {
  for (const path of ['/docs', '/docs/', '/docs/errors']) {
    const response = await service.get(path);
    expect(response.status).toBe(200);
    const page = await response.text();
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  }
});

test('the pages find their files with and without a trailing slash, under any path of a proxy', async () => {
  for (const path of ['/docs', '/docs/', '/docs/errors', '/docs/errors/']) {
    const page = await (await service.get(path)).text();
    const links = [...page.matchAll(/(?:src|href)="([^"#:]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).not.toMatch(/^\//);
      const { pathname } = new URL(link, `${service.url}${path}`);
      expect([pathname, (await service.get(pathname)).status]).toEqual([pathname, 200]);
    }
  }
});

test('/docs/errors states the status, the retry and the remedy for every code', async () => {
  const response = await service.get('/docs/errors');
  const page = await response.text();
  const answers = { now: 'Yes, at once', later: 'Yes, after <code>Retry-After</code>' };
  for (const [code, { status, retry }] of Object.entries(problemCodes)) {
    const row = new RegExp(`<tr id="${code}">(.*)</tr>`).exec(page)![1]!;
    const cells = [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!);
    expect(cells).toHaveLength(5);
    expect(cells[1]).toBe(String(status));
    if (retry in answers) expect(cells[3]).toBe(answers[retry as keyof typeof answers]);
    expect(cells[4]).toMatch(/^[A-Z].{20,}\.$/);
  }
});

test('/docs/errors loads no script and no style sheet, and its policy allows only its own style', async () => {
  const response = await service.get('/docs/errors');
  const page = await response.text();
  const [, style] = /<style>(.*?)<\/style>/s.exec(page)!;
  const hash = createHash('sha256').update(style!).digest('base64');
  const policy = response.headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`'sha256-${hash}'`);
  expect(policy).not.toContain('unsafe');
  expect(page).not.toMatch(/<script|<link rel="stylesheet"|@import/);
});

test('a key that is entered in /docs without its scheme is sent with one', async () => {
  const script = await (await service.get('/docs/page.js')).text();
  const [completeKey] = /^function completeKey.*?^}/ms.exec(script)!;
  type Sent = { headers: Record<string, string> };
  const complete = runInNewContext(`(${completeKey})`) as (request: Sent) => Sent;
  const sent = (headers: Record<string, string>): Record<string, string> => complete({ headers }).headers;
  expect(sent({ Authorization: 'ns_abc' })).toEqual({ Authorization: 'Key ns_abc' });
  for (const Authorization of ['Key ns_abc', 'Bearer ns_abc'])
    expect(sent({ Authorization })).toEqual({ Authorization });
  expect(sent({ accept: '*/*' })).toEqual({ accept: '*/*' });
});
