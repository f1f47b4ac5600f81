import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type Packed, packClient, UserProject } from '../support/client-package.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let packed: Packed;
let project: UserProject;
let examples: string[];

beforeAll(async () => {
  [service, packed] = await Promise.all([startTestService({ limits: 'off' }), packClient()]);
  project = await UserProject.with(packed, { NOWSERVING_KEY: service.key });
  const files = ['clients/typescript/README.md', 'docs/clients.md', 'docs/worker-libraries.md'];
  const pages = files.map((file) => readFileSync(file, 'utf8'));
  examples = [...pages.join('\n').matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, code]) =>
    code!.replace('http://127.0.0.1:3000', service.url),
  );
});
afterAll(() => service.stop());

const node = (file: string, ...args: string[]): Promise<string> =>
  project.run(process.execPath, file, ...args);
const tsc = (...args: string[]): Promise<string> =>
  node(resolve('node_modules/typescript/bin/tsc'), '--noEmit', '--ignoreConfig', '--strict', ...args);

test('the package holds both builds, and nothing that they do not need', () => {
  const [built, others] = [
    /^dist\/(esm|cjs)\/(worker\/(command\/)?)?[\w-]+\.(js|d\.ts)$/,
    ['LICENSE', 'README.md', 'package.json'],
  ];
  const rest = packed.files.filter((file) => !built.test(file));
  expect(rest).toEqual([...others.slice(0, 2), 'dist/cjs/package.json', 'package.json']);
  for (const file of ['esm/index.js', 'esm/index.d.ts', 'cjs/index.js', 'cjs/index.d.ts']) {
    expect(packed.files).toContain(`dist/${file}`);
  }
});

test.each([
  ['imported', 'use.mjs', `import { createClient, NowServingError, verifyWebhook } from 'nowserving';`],
  ['required', 'use.cjs', `const { createClient, NowServingError, verifyWebhook } = require('nowserving');`],
])('it can be %s', async (_name, file, line) => {
  await project.write(
    file,
    `${line}
    const queue = createClient({ url: '${service.url}', key: process.env.NOWSERVING_KEY });
    queue.run('demo/text/echo', { input: { text: 'hello' } }).then(async ({ output }) => {
      const failures = [queue.status('none'), verifyWebhook('', {}, 'whsec_AAAA')].map((call) => call.catch((error) => error));
      const codes = (await Promise.all(failures)).map((error) => error instanceof NowServingError && error.code);
      console.log(JSON.stringify([output, codes]));
    });`,
  );
  expect(JSON.parse(await node(file))).toEqual([{ text: 'hello' }, ['unknown_request', 'invalid_signature']]);
});

/** Prints how many runs of its own each process and thread had, all at the same time. */
const inParallel = `
import cluster from 'node:cluster';
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { createClient } from 'nowserving';

const queue = createClient({ url: process.env.URL, key: process.env.NOWSERVING_KEY });
const name = isMainThread ? \`process \${process.pid}\` : \`thread \${workerData}\`;

async function runs() {
  let own = 0;
  const one = async (n) => {
    const { output } = await queue.run('demo/text/echo', { input: { name, n } });
    if (output.name === name && output.n === n) own++;
  };
  await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)));
  return own;
}

if (cluster.isPrimary && isMainThread) {
  await queue.models(); // its connection is open when the others begin
  const processes = [1, 2].map(() => once(cluster.fork(), 'message').then(([own]) => own));
  const threads = [1, 2].map((data) => once(new Worker(new URL(import.meta.url), { workerData: data }), 'message').then(([own]) => own));
  console.log(JSON.stringify(await Promise.all([runs(), ...processes, ...threads])));
} else if (isMainThread) {
  process.send(await runs(), () => process.exit());
} else {
  const { parentPort } = await import('node:worker_threads');
  parentPort.postMessage(await runs());
}
`;

test('processes of a cluster and threads have clients of their own', async () => {
  await project.write('parallel.mjs', inParallel.replace('process.env.URL', JSON.stringify(service.url)));
  expect(JSON.parse(await node('parallel.mjs'))).toEqual([20, 20, 20, 20, 20]);
});

/** Code as a caller writes it, and code that must not compile. */
const usage = `
const queue = createClient({ url: 'http://127.0.0.1:1' });
export async function use(): Promise<number | undefined> {
  const { output, requestId, status } = await queue.run<{ text: string }>('a/b', { input: {}, priority: 'high' });
  for await (const update of queue.follow(requestId, { logs: true })) {
    if (update.status === 'IN_QUEUE') return update.queue_position;
    // @ts-expect-error no position once it runs
    update.queue_position;
  }
  // @ts-expect-error no such priority
  await queue.submit('a/b', { input: {}, priority: 'urgent' });
  const error = new NowServingError('expired', output.text);
  return error.status ?? status.metrics.inference_time ?? undefined;
}
`;
const imported = `import { createClient, NowServingError } from 'nowserving';
import { Fail, type Run, serve } from 'nowserving/worker';
export const work = () =>
  serve('me/x', async function* (input: { prompt: string }, run: Run) {
    if (input.prompt === '') throw new Fail('The prompt is empty.', { status: 422 });
    yield input.prompt;
    const bytes: Uint8Array = await run.download('/v1/files/a/b');
    // @ts-expect-error progress is a number
    run.progress('half');
    return { file: await run.upload('b.png', bytes), late: run.signal.aborted };
  }, { concurrency: 2, labels: { gpu: 'a100' } });
`;

test.each([
  ['an ES module under node16', 'use.mts', '--module node16 --moduleResolution node16'],
  ['CommonJS under node16', 'use.cts', '--module node16 --moduleResolution node16'],
  ['a module under bundler', 'use.ts', '--module esnext --moduleResolution bundler'],
])('its types resolve for %s', async (_name, file, options) => {
  await project.write(file, `${imported}${usage}`);
  await tsc(file, ...options.split(' '), '--target', 'es2022', '--lib', 'es2022,dom');
});

test.each([
  ['imported', 'worker.mjs', `import { serve } from 'nowserving/worker';`],
  ['required', 'worker.cjs', `const { serve } = require('nowserving/worker');`],
])('a worker can be %s', async (_name, file, line) => {
  await project.write(
    file,
    `${line}\nserve('me/x', (input, run) => (run.log('hi'), { ...input, model: run.model }));`,
  );
  expect((await node(file, '--try', '{"a":1}')).trim().split('\n')).toEqual([
    '{"type":"log","level":"INFO","message":"hi"}',
    '{"type":"output","output":{"a":1,"model":"me/x"}}',
  ]);
  await expect(node(file, '--try', 'a')).rejects.toThrow('The value of --try must be JSON');
});

test('no call of a client or worker goes through a proxy that the environment names', async () => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(request.url!);
    response.end('{}');
  }).on('connect', ({ url }, socket) => {
    seen.push(url!);
    socket.destroy();
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const environment = [...names.map((name) => `${name}=${address}`), 'NO_PROXY=', 'no_proxy='];
  await project.write(
    'proxied.mjs',
    `import { createClient } from 'nowserving';
    import { serve } from 'nowserving/worker';
    const queue = createClient({ url: '${service.url}', key: process.env.NOWSERVING_KEY });
    const file = await queue.upload(new Blob(['123']));
    await queue.run('demo/text/echo', { input: { file } });
    await serve('me/x', async (input, run) => String(Buffer.from(await run.download(file))));`,
  );
  const printed = await project.run('env', ...environment, process.execPath, 'proxied.mjs', '--try', '{}');
  expect(JSON.parse(printed)).toEqual({ type: 'output', output: '123' });
  expect(seen).toEqual([]);
  await new Promise((done) => proxy.close(done));
});

test('the example of its README runs', async () => {
  await project.write('readme.mjs', examples[0]!);
  const printed = (await node('readme.mjs')).trim().split('\n');
  expect(printed[0]).toBe("{ text: 'hello' }");
  expect(printed.at(-1)).toMatch(/^COMPLETED/);
  expect(printed.join('\n')).toMatch(/^IN_PROGRESS .*drawn/m);
});

test('all examples in its docs compile with only the types of Node, and those that end also run', async () => {
  const files = await Promise.all(
    examples.map(async (example, i) => {
      await project.write(`example-${i}.mts`, example);
      await project.write(`example-${i}.mjs`, example);
      return `example-${i}.mts`;
    }),
  );
  const types = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node', '--skipLibCheck'];
  await tsc(...files, '--module', 'node16', '--target', 'es2022', '--lib', 'es2023', ...types);
  const tried = JSON.stringify({ prompt: 'hello there', size: 3 });
  for (const [i, example] of examples.entries()) {
    const isWorker = example.includes('serve(');
    if (isWorker) expect(await node(`example-${i}.mjs`, '--try', tried)).toMatch(/^{"type":"output"/m);
    else if (!example.includes('listen(')) await node(`example-${i}.mjs`);
  }
});
