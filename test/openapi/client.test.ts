import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startTestService, type TestService } from '../support/index.js';

const run = promisify(execFile);
const bin = (name: string): string => resolve('node_modules', name);

/** What a user of the API would write. A wrong path, member or status value would not compile. */
const usage = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

const [, , baseUrl, key] = process.argv;
const client = createClient<paths>({
  baseUrl: baseUrl!,
  headers: { authorization: \`Key \${key}\` },
  // Model ids keep their slashes.
  pathSerializer: (path, values) => path.replace(/\\{(\\w+)\\}/g, (_match, name: string) => String(values[name])),
});

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

let service: TestService;
let directory: string;

beforeAll(async () => {
  service = await startTestService();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-client-'));
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
});

afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

test('a typed client generated from openapi.json compiles and takes a request through its life', async () => {
  await run(process.execPath, [
    bin('openapi-typescript/bin/cli.js'),
    resolve('openapi.json'),
    '--output',
    join(directory, 'api.d.ts'),
  ]);
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  await writeFile(join(directory, 'client.ts'), usage);
  const compiler = [bin('typescript/bin/tsc'), 'client.ts', '--ignoreConfig', '--strict', '--skipLibCheck'];
  await run(
    process.execPath,
    [
      ...compiler,
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
      '--noUncheckedIndexedAccess',
    ],
    { cwd: directory },
  ).catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout)));
  const { stdout } = await run(process.execPath, ['client.js', service.url, service.key], { cwd: directory });
  expect(JSON.parse(stdout)).toEqual({
    success: true,
    timed: true,
    output: { prompt: 'hello' },
    late: 400,
    code: 'unknown_request',
    ready: 'up',
  });
}, 60_000);
