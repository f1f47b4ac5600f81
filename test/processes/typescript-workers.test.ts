import { packClient, UserProject } from '../support/client-package.js';
import { startTestService, type TestService } from '../support/index.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';
import {
  cancels,
  drains,
  killedAndFrozen,
  leavesHalfWay,
  movesFiles,
  outlastsItsLease,
  throughGateway,
  type Trials,
  uploadsTooMuch,
} from '../support/worker-trials.js';

let service: TestService;
let project: UserProject;

const program = `
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from 'nowserving/worker';

const [model, concurrency, graceS] = process.argv.slice(2);
await serve(model, async function* ({ n, hold = 0, upload, download, tokens, bytes }, run) {
  console.log('run', run.requestId, run.attempt);
  for (let token = 0; token < tokens; token++) {
    if (run.signal.aborted) return;
    yield 'token ';
    await delay(10);
  }
  if (tokens) return;
  if (bytes) return run.upload('a.bin', new Uint8Array(bytes));
  run.log('begin');
  yield 'a';
  yield 'b';
  if (upload) return { file: await run.upload('a.txt', new TextEncoder().encode(upload)) };
  if (download) return { text: new TextDecoder().decode(await run.download(download)) };
  try {
    await delay(hold * 1000, undefined, { signal: run.signal });
  } catch {
    console.log('stopped', run.signal.reason.reason);
    throw run.signal.reason;
  }
  return { n, attempt: run.attempt, pid: process.pid };
}, { concurrency: Number(concurrency), grace: graceS * 1000 });
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
  ].map((name) => [`me/${name}`, {}]);
  [service, project] = await Promise.all([
    startTestService({
      limits: 'off',
      config: { maxFileBytes: 3_000_000 },
      models: workerModels(Object.fromEntries(models) as object as Record<string, object>),
    }),
    packClient().then((packed) => UserProject.with(packed, {})),
  ]);
  await project.write('worker.mjs', program);
}, 180_000);
afterAll(() => service.stop());

const trials = (): Trials => ({
  service,
  start: (model, url, { concurrency = 1, graceS = 25 } = {}) => {
    const environment = { NOWSERVING_URL: url, NOWSERVING_KEY: service.key };
    const args = ['worker.mjs', model, String(concurrency), String(graceS)];
    return new WorkerProcess(process.execPath, args, project.directory, environment).says('Serving');
  },
});

test(
  '300 requests through a gateway that cuts, buffers and answers 502: none is lost, none runs twice unsaid',
  () => throughGateway(trials(), 'me/gateway'),
  200_000,
);

test('a worker that is killed, one that is frozen past its lease, and one that outlasts it', async () => {
  const long = outlastsItsLease(trials(), 'me/long');
  await Promise.all([long, killedAndFrozen(trials(), ['me/killed', 'me/frozen'])]);
}, 200_000);

test('files of runs', () => movesFiles(trials(), 'me/files'), 60_000);

test('a file that is too large fails its request', () => uploadsTooMuch(trials(), 'me/large'), 60_000);

test('SIGTERM: what runs ends, what waits is left to others', () => drains(trials(), 'me/drained'), 60_000);

test('a cancel aborts the signal of its run', () => cancels(trials(), 'me/cancelled'), 60_000);

test(
  'a run that ends early because its worker leaves is run again, at no cost',
  () => leavesHalfWay(trials(), 'me/half'),
  60_000,
);
