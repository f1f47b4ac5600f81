import { packClient, UserProject } from '../support/client-package.js';
import { startTestService, type TestService } from '../support/index.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';
import { testWorkers, type Trials } from '../support/worker-trials.js';

let service: TestService;
let project: UserProject;

const program = `
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from 'nowserving/worker';

const [model, concurrency, graceS] = process.argv.slice(2);
await serve(model, async function* ({ n, hold = 0, upload, download, save, tokens, bytes, hangs }, run) {
  console.log('run', run.requestId, run.attempt);
  for (let token = 0; token < tokens; token++) {
    if (run.signal.aborted) return;
    yield 'token ';
    await delay(10);
  }
  if (tokens) return;
  if (hangs) await new Promise(() => setInterval(() => undefined, 1000));
  if (bytes) return run.upload('a.bin', new Uint8Array(bytes));
  run.log('begin');
  yield 'a';
  yield 'b';
  if (upload) return { file: await run.upload('a.txt', new TextEncoder().encode(upload)) };
  if (save) {
    const folder = await mkdtemp(join(tmpdir(), 'save-'));
    const data = await readFile(await run.download(save, { to: join(folder, 'a.bin') }));
    const files = await readdir(folder);
    await rm(folder, { recursive: true });
    return { sha256: createHash('sha256').update(data).digest('hex'), files: files.length };
  }
  if (download) return { text: new TextDecoder().decode(await run.download(download)) };
  try {
    await delay(hold * 1000, undefined, { signal: run.signal });
  } catch {
    console.log('stopped', run.signal.reason.reason);
    throw run.signal.reason;
  }
  return { n, attempt: run.attempt, pid: process.pid };
}, { concurrency: Number(concurrency), grace: graceS * 1000, stuck: 5000 });
`;

beforeAll(async () => {
  const models = [
    'gateway',
    'killed',
    'frozen',
    'drained',
    'cancelled',
    'files',
    'long',
    'half',
    'large',
    'whole',
    'hanging',
  ].map((name) => [`me/${name}`, {}]);
  [service, project] = await Promise.all([
    startTestService({
      limits: 'off',
      config: { maxFileBytes: 10_000_000 },
      models: workerModels(Object.fromEntries(models) as object as Record<string, object>),
    }),
    packClient().then((packed) => UserProject.with(packed, {})),
  ]);
  await project.write('worker.mjs', program);
});
afterAll(() => service.stop());

const trials = (): Trials => ({
  service,
  start: (model, url, { concurrency = 1, graceS = 25 } = {}) => {
    const environment = { NOWSERVING_URL: url, NOWSERVING_KEY: service.key };
    const args = ['worker.mjs', model, String(concurrency), String(graceS)];
    return new WorkerProcess(process.execPath, args, project.directory, environment).says('Serving');
  },
});

testWorkers(trials, 'a cancel aborts the signal of its run');
