import { runInNewContext } from 'node:vm';
import { problemCodes } from '../../src/errors/problem-codes.js';
import { startTestService, type TestService } from '../support/index.js';

const models = `models:
  - { id: acme/text/shout, runner: { kind: demo, demo: echo } }
  - { id: acme/text/whisper, runner: { kind: demo, demo: echo } }
`;

interface Served {
  info: { description: string };
  paths: Record<string, { post?: { parameters: { name: string; schema: Record<string, unknown> }[] } }>;
}

/** With the shipped settings and the demos. */
let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

async function servedWith(options: Parameters<typeof startTestService>[0]): Promise<Served> {
  const other = await startTestService(options);
  const document = await served(other);
  await other.stop();
  return document;
}

const served = async (service: TestService): Promise<Served> =>
  (await (await service.get('/openapi.json')).json()) as Served;

const modelId = ({ paths }: Served): Record<string, unknown> | undefined =>
  paths['/v1/queue/{model_id}']!.post!.parameters.find(({ name }) => name === 'model_id')?.schema;

test('the served description offers the models that there are, and none of the demos if there are none', async () => {
  const document = await servedWith({ models });
  expect(modelId(document)).toEqual({
    type: 'string',
    enum: ['acme/text/shout', 'acme/text/whisper'],
    example: 'acme/text/shout',
  });
  expect(document.info.description).toContain('/v1/queue/acme/text/shout');
  expect(document.info.description).not.toContain('demo/');
  expect(JSON.stringify(document.paths['/v1/queue/{model_id}']!.post)).toContain(
    'An input of acme/text/shout',
  );
});

test('with the demos the fractal is shown first', async () => {
  const schema = modelId(await served(service));
  expect(schema!['example']).toBe('demo/image/fractal');
  expect(schema!['enum']).toHaveLength(3);
});

test('its examples have the address that it was asked at', async () => {
  const text = await (await service.get('/openapi.json')).text();
  expect(text).toContain(`${service.url}/v1/queue/demo/image/fractal`);
  expect(text).not.toContain('127.0.0.1:3000');
  const page = await (await service.get('/docs/swagger-ui-init.js')).text();
  expect(page).toContain(`${service.url}/v1/queue/requests/`);
  expect(page).not.toContain('127.0.0.1:3000');
});

test('or PUBLIC_BASE_URL', async () => {
  const { info } = await servedWith({ config: { publicBaseUrl: 'https://queue.example/api' } });
  expect(info.description).toContain('https://queue.example/api/v1/queue/demo/image/fractal');
});

test('a phone is told to draw /docs and /docs/errors at its own width', async () => {
  for (const path of ['/docs', '/docs/', '/docs/errors']) {
    const response = await service.get(path);
    expect(response.status).toBe(200);
    const page = await response.text();
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  }
});

test('/docs/errors says for every code whether to try again, and what to do', async () => {
  const page = await (await service.get('/docs/errors')).text();
  for (const [code, { retry }] of Object.entries(problemCodes)) {
    const row = new RegExp(`<tr id="${code}">(.*)</tr>`).exec(page)![1]!;
    const cells = [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!);
    expect(cells).toHaveLength(5);
    expect(cells[3]).toBe(retry);
    expect(cells[4]).toMatch(/^[A-Z].{20,}\.$/);
  }
});

test('a key that is entered in /docs without its scheme is sent with one', async () => {
  const script = await (await service.get('/docs/swagger-ui-init.js')).text();
  type Sent = { headers: Record<string, string> };
  let options: { requestInterceptor(request: Sent): Sent } | undefined;
  const window: { onload?: () => void; location: object } = { location: { search: '' } };
  const bundle = (given: typeof options): object => {
    options = given;
    return { initOAuth: () => undefined };
  };
  const SwaggerUIBundle = Object.assign(bundle, { presets: {}, plugins: {} });
  runInNewContext(script, { window, SwaggerUIBundle, SwaggerUIStandalonePreset: {} });
  window.onload!();
  const sent = (headers: Record<string, string>): Record<string, string> =>
    options!.requestInterceptor({ headers }).headers;
  expect(sent({ Authorization: 'ns_abc' })).toEqual({ Authorization: 'Key ns_abc' });
  for (const Authorization of ['Key ns_abc', 'Bearer ns_abc'])
    expect(sent({ Authorization })).toEqual({ Authorization });
  expect(sent({ accept: '*/*' })).toEqual({ accept: '*/*' });
});
