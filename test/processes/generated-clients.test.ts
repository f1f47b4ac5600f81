import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/data-directory.js';
import { startTestService, type TestService } from '../support/index.js';

const run = promisify(execFile);
const bin = (name: string): string => resolve('node_modules', name);

/** Code as users of the API would write it. A wrong path, member or status value would not compile. */
const openapiFetch = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

const [, , baseUrl, key] = process.argv;
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { authorization: \`Key \${key}\` } });

const submitted = await client.POST('/v1/queue/{model_id}', {
  params: { path: { model_id: 'demo/text/echo' } },
  body: { prompt: 'hello' },
});
if (submitted.data === undefined) throw new Error(submitted.error.code);
const path = { request_id: submitted.data.request_id };

let status: components['schemas']['Status'] | undefined;
while (status?.status !== 'COMPLETED') {
  const polled = await client.GET('/v1/queue/requests/{request_id}/status', { params: { path, query: { logs: '1' } } });
  if (polled.data === undefined) throw new Error(polled.error.code);
  status = polled.data;
  if (status.status === 'IN_QUEUE') status.queue_position.toFixed();
}
const seconds: number | null = status.metrics.inference_time;
const { data: output } = await client.GET('/v1/queue/requests/{request_id}', { params: { path } });
const late = await client.PUT('/v1/queue/requests/{request_id}/cancel', { params: { path } });
const unknown = await client.GET('/v1/queue/requests/{request_id}', { params: { path: { request_id: 'nobody' } } });
const code: components['schemas']['Problem']['code'] | undefined = unknown.error?.code;
if (late.response.status === 400 && late.error !== undefined && 'cancel_status' in late.error) late.error.status.toFixed();
const ready = await client.GET('/health/ready');
console.log(
  JSON.stringify({
    success: status.success,
    timed: seconds !== null,
    output,
    late: late.response.status,
    code,
    ready: ready.data?.checks.database.status,
  }),
);
`;

const heyApi = `
import {
  cancelRequest as cancel,
  fetchResponse as response,
  readStatus as status,
  streamStatus as stream,
  submitRequest as submit,
} from './client/index.js';
import { client } from './client/client.gen.js';

const [, , baseUrl, key] = process.argv;
client.setConfig({ baseUrl: baseUrl!, auth: key! });

const submitted = await submit({ path: { model_id: 'demo/text/echo' }, body: { prompt: 'hello' }, throwOnError: true });
const path = { request_id: submitted.data.request_id };
const { stream: events } = await stream({ path, query: { logs: '1' } });
let last: string | undefined;
for await (const event of events) last = (event as unknown as { status: string }).status;
const { data } = await status({ path, throwOnError: true });
const seconds: number | null | undefined = data.status === 'COMPLETED' ? data.metrics.inference_time : undefined;
const output = await response({ path });
const late = await cancel({ path });
const unknown = await response({ path: { request_id: 'nobody' } });
console.log(
  JSON.stringify({
    last,
    success: data.status === 'COMPLETED' && data.success,
    timed: typeof seconds === 'number',
    output: output.data,
    late: late.response?.status,
    code: unknown.error?.code,
  }),
);
`;

const orval = `
import {
  cancelRequest as cancel,
  fetchResponse as response,
  listRequests,
  readStatus as status,
  submitRequest as submit,
} from './orval.js';

const init: RequestInit = { headers: { authorization: \`Key \${process.argv[3]}\` } };
const tag = ['job:17', 'team:blue'];
const submitted = await submit('demo/text/echo', { prompt: 'hello' }, { tag }, init);
if (submitted.status !== 202) throw new Error('code' in submitted.data ? submitted.data.code : 'completed at once');
const id = submitted.data.request_id;

let polled = await status(id, { logs: '1' }, init);
while (polled.status === 200 && polled.data.status !== 'COMPLETED') {
  if (polled.data.status === 'IN_QUEUE') polled.data.queue_position.toFixed();
  polled = await status(id, {}, init);
}
if (polled.status !== 200 || polled.data.status !== 'COMPLETED') throw new Error('no status');
const seconds: number | null = polled.data.metrics.inference_time;
const output = await response(id, {}, init);
const late = await cancel(id, init);
const later = await submit('demo/text/echo', {}, { delay: '1h' }, init);
if (later.status !== 202) throw new Error('not accepted');
const early = await cancel(later.data.request_id, init);
const unknown = await response('nobody', {}, init);
const page = await listRequests({ tag, limit: 10 }, init);
console.log(
  JSON.stringify({
    success: polled.data.success,
    timed: seconds !== null,
    output: output.data,
    late: late.status,
    early: (early.status === 200 || early.status === 202) && early.data.status,
    code: unknown.status === 404 && unknown.data.code,
    listed: page.status === 200 && page.data.data.map((one) => one.request_id === id),
  }),
);
`;

const orvalAxios = `
import axios from 'axios';
import { getNowServing } from './orval-axios.js';

const [, , baseUrl, key] = process.argv;
const sent = axios.create({
  baseURL: baseUrl!,
  headers: { authorization: \`Key \${key}\` },
  // Otherwise axios repeats an option as tag[]=…
  paramsSerializer: { indexes: null },
});
const { cancelRequest, fetchResponse, listRequests, readStatus, submitRequest } = getNowServing(sent);

const tag = ['job:axios', 'team:blue'];
const submitted = await submitRequest('demo/text/echo', { prompt: 'hello' }, { tag });
const id = submitted.data.request_id;
let { data: status } = await readStatus(id, { logs: '1' });
while (status.status !== 'COMPLETED') status = (await readStatus(id)).data;
const seconds: number | null = status.metrics.inference_time;
const output = await fetchResponse(id);
const failed = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => (axios.isAxiosError(error) ? error.response : undefined),
  );
const page = await listRequests({ tag, limit: 10 });
console.log(
  JSON.stringify({
    success: status.success,
    timed: seconds !== null,
    output: output.data,
    late: (await failed(cancelRequest(id)))?.status,
    code: (await failed(fetchResponse('nobody')))?.data.code,
    listed: page.data.data.map((one) => one.request_id === id),
  }),
);
`;

const typedModel = `
import createClient from 'openapi-fetch';
import type { components, paths } from './model.js';

const [, , baseUrl, key] = process.argv;
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { authorization: \`Key \${key}\` } });

type Input = components['schemas']['Input'];
const input: Input = { prompt: 'hello', width: 16, height: 16, steps: 16 };
// @ts-expect-error A prompt is a text.
const wrong: Input = { prompt: 1 };
// @ts-expect-error It is required.
const empty: Input = {};
const { data, response } = await client.POST('/v1/queue/demo/image/fractal', {
  body: input,
  params: { header: { Prefer: 'wait=30' } },
});
if (data === undefined) throw new Error(String(response.status));
const path = { request_id: data.request_id };
const { data: status } = await client.GET('/v1/queue/requests/{request_id}/status', { params: { path } });
const refused = await client.POST('/v1/queue/demo/image/fractal', { body: wrong ?? empty });
console.log(
  JSON.stringify({
    status: response.status,
    applied: response.headers.get('preference-applied'),
    output: 'response' in data,
    again: status?.status,
    refused: refused.error?.code,
  }),
);
`;

let service: TestService;
let directory: string;

beforeAll(async () => {
  service = await startTestService();
  directory = await temporaryDirectory();
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
});

afterAll(() => service.stop());

const node = (...args: string[]): Promise<{ stdout: string }> =>
  run(process.execPath, args, { cwd: directory }).catch((error: { stdout: string; stderr: string }) =>
    Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)),
  );

/** Compiles the generated code with a user's code in that folder, runs it, and returns the output. */
async function tryOut(usage: string, folder = directory): Promise<unknown> {
  await writeFile(join(folder, 'usage.ts'), usage);
  const options =
    '--ignoreConfig --strict --skipLibCheck --noUncheckedIndexedAccess --target es2022 ' +
    '--module nodenext --types node';
  await node(bin('typescript/bin/tsc'), join(folder, 'usage.ts'), ...options.split(' '));
  const { stdout } = await node(join(folder, 'usage.js'), service.url, service.key);
  return JSON.parse(stdout) as unknown;
}

/** Installs the packages that `directory` names, once. They are too large for the packages of the project. */
async function install(directory: string): Promise<void> {
  const changedAt = (file: string): number =>
    statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  await run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: directory });
}

const wholeLife = {
  success: true,
  timed: true,
  output: { prompt: 'hello' },
  late: 400,
  code: 'unknown_request',
};

test('a client of openapi-typescript and openapi-fetch takes a request through its life', async () => {
  await node(bin('openapi-typescript/bin/cli.js'), resolve('openapi.json'), '--output', 'api.d.ts');
  expect(await tryOut(openapiFetch)).toEqual({ ...wholeLife, ready: 'up' });
});

test('a client of @hey-api/openapi-ts takes a request through its life, with the stream', async () => {
  const options = ['--input', resolve('openapi.json'), '--output', 'client', '--silent'];
  await node(bin('@hey-api/openapi-ts/bin/run.js'), ...options);
  expect(await tryOut(heyApi)).toEqual({ ...wholeLife, last: 'COMPLETED' });
});

test.each([
  ['fetch', 'orval.ts', orval, { early: 'CANCELLED' }],
  ['axios', 'orval-axios.ts', orvalAxios, {}],
])(
  'a client of orval for %s takes a request through its life, with tags and the list',
  async (client, target, usage, more) => {
    const packages = resolve('test/processes/orval');
    await install(packages);
    const folder = join(directory, client);
    await mkdir(folder);
    await symlink(join(packages, 'node_modules'), join(folder, 'node_modules'));
    const output = {
      target: join(client, target),
      client,
      baseUrl: client === 'fetch' ? service.url : undefined,
    };
    const config = { queue: { input: `${service.url}/openapi.json`, output } };
    await writeFile(join(directory, 'orval.config.json'), JSON.stringify(config));
    const generator = join(packages, 'node_modules/orval/dist/bin/orval.mjs');
    await node(generator, '--config', 'orval.config.json');
    expect(await tryOut(usage, folder)).toEqual({ ...wholeLife, ...more, listed: [true] });
  },
);

test('the description of a model passes Redocly, and a client generated from it has the type of its input', async () => {
  const headers = { authorization: `Key ${service.key}` };
  const answer = await service.get('/v1/models/demo/image/fractal/openapi.json', { headers });
  await writeFile(join(directory, 'model.json'), await answer.text());
  await node(bin('@redocly/cli/bin/cli.js'), 'lint', 'model.json', '--config', resolve('redocly.yaml'));
  await node(bin('openapi-typescript/bin/cli.js'), 'model.json', '--output', 'model.d.ts');
  expect(await tryOut(typedModel)).toEqual({
    status: 200,
    applied: 'wait=30',
    output: true,
    again: 'COMPLETED',
    refused: 'invalid_input',
  });
});
