import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/data-directory.js';
import { startTestService, type TestService } from '../support/index.js';
import { QueueCalls } from '../support/queue-calls.js';
import { until } from '../support/until.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';
import { testWorkers, type Trials } from '../support/worker-trials.js';

let service: TestService;
let directory: string;

const program = `
import ctypes, hashlib, os, sys, tempfile, time
from worker import serve

# Not WinDLL or CDLL: these calls keep the interpreter to themselves.
libc = ctypes.PyDLL(None)

def tell(input, run):
    for _ in range(input["tokens"]):
        if run.cancelled:
            return
        yield "token "
        time.sleep(0.01)

def run_it(input, run):
    print("run", run.request_id, run.attempt, flush=True)
    if "hangs" in input:
        while True:
            time.sleep(0.1)
    if "tokens" in input:
        return tell(input, run)
    if "bytes" in input:
        return run.upload("a.bin", bytes(input["bytes"]))
    run.log("begin")
    if "holds" in input:
        libc.sleep(input["holds"])
        return {"held": input["holds"], "attempt": run.attempt}
    yield_ = run.delta
    yield_("a")
    yield_("b")
    if "upload" in input:
        return {"file": run.upload("a.txt", input["upload"].encode())}
    if "save" in input:
        with tempfile.TemporaryDirectory() as folder:
            path = run.download(input["save"], os.path.join(folder, "a.bin"))
            data = path.read_bytes()
            return {"sha256": hashlib.sha256(data).hexdigest(), "files": len(os.listdir(folder))}
    if "download" in input:
        return {"text": run.download(input["download"]).decode()}
    if run.cancelled.wait(input.get("hold", 0)):
        print("stopped", run.cancelled.reason, flush=True)
        raise RuntimeError("stopped")
    return {"n": input["n"], "attempt": run.attempt, "pid": os.getpid()}

serve({sys.argv[1]: run_it}, concurrency=int(sys.argv[2]), grace=float(sys.argv[3]), stuck=5)
`;

beforeAll(async () => {
  const names = [
    'gateway',
    'killed',
    'frozen',
    'drained',
    'cancelled',
    'files',
    'long',
    'holding',
    'stuck',
    'hanging',
    'half',
    'large',
    'whole',
  ];
  const models = Object.fromEntries(names.map((name) => [`me/${name}`, {}]));
  service = await startTestService({
    limits: 'off',
    config: { maxFileBytes: 10_000_000 },
    models: workerModels(models),
  });
  directory = await temporaryDirectory();
  await copyFile('clients/python/nowserving/worker.py', join(directory, 'worker.py'));
  await writeFile(join(directory, 'program.py'), program);
});
afterAll(() => service.stop());

/** Uses only Python and one file beside the program: -S ignores installed packages. */
const trials = (): Trials => ({
  service,
  start: (model, url, { concurrency = 1, graceS = 25 } = {}) => {
    const environment = { NOWSERVING_URL: url, NOWSERVING_KEY: service.key, PYTHONDONTWRITEBYTECODE: '1' };
    const args = ['-S', 'program.py', model, String(concurrency), String(graceS)];
    return new WorkerProcess('python3', args, directory, environment).says('Serving');
  },
});

testWorkers(trials, 'a cancel sets run.cancelled');

test('a handler that holds the interpreter for 20 s keeps its lease', async () => {
  const calls = new QueueCalls(service);
  const worker = await trials().start('me/holding', service.url);
  const id = await calls.submit('me/holding', { holds: 20 });
  const status = await until(async () => {
    const now = await calls.status(id);
    return now.status === 'COMPLETED' && now;
  });
  expect(status).toMatchObject({ success: true, attempt: 1 });
  await worker.stop();
});

test('a handler that holds the interpreter too long loses its lease, and its late output is refused', async () => {
  const calls = new QueueCalls(service);
  const worker = await trials().start('me/stuck', service.url);
  const id = await calls.submit('me/stuck', { holds: 50 });
  await worker.says(`run ${id}`);
  // The run goes back to the queue while the worker still holds the interpreter.
  await until(async () => (await calls.status(id)).status === 'IN_QUEUE');
  const other = await trials().start('me/stuck', service.url);
  await other.says(`run ${id}`);
  await until(() => /the lease is lost|the service refused its end/.test(worker.output), {
    explain: () => worker.output,
  });
  expect(await calls.status(id)).toMatchObject({ status: 'IN_PROGRESS' });
  await calls.cancel(id);
  other.kill('SIGKILL');
  await worker.stop();
});
