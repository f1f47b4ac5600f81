import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../support/data-directory.js';
import { sha256, FileCalls, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { QueueCalls } from '../support/queue-calls.js';
import { until } from '../support/until.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';

// Files that were written for RunPod and Cog run as workers of a real service. clients/python/tests has the rest.

const predictor = `
import hashlib
from cog import BaseModel, BasePredictor, Input, Path

class Output(BaseModel):
    sha256: str
    half: Path

class Predictor(BasePredictor):
    def setup(self):
        print("set up", flush=True)

    def predict(self, sound: Path, part: float = Input(default=0.5, ge=0, le=1)) -> Output:
        data = sound.read_bytes()
        print("read", sound.name)
        self.record_metric("bytes", len(data))
        half = Path("half.wav")
        half.write_bytes(data[: int(len(data) * part)])
        return Output(sha256=hashlib.sha256(data).hexdigest(), half=half)
`;

const handler = `
import time
import runpod

def handler(job):
    print("run", job["id"], flush=True)
    if job["input"].get("fresh"):
        return {"refresh_worker": True, "fresh": True}
    return tell(job["input"]["words"])

def tell(words):
    for word in words.split():
        yield word + " "
    while "for ever" in words:
        time.sleep(0.05)
        yield "more "

runpod.serverless.start({"handler": handler})
`;

let service: TestService;
let calls: QueueCalls;
let folder: string;

beforeAll(async () => {
  service = await startTestService({
    limits: 'off',
    models: workerModels({ 'me/cog': {}, 'me/runpod': {} }),
  });
  calls = new QueueCalls(service);
  folder = await temporaryDirectory();
  await writeFile(join(folder, 'predict.py'), predictor);
  await writeFile(join(folder, 'handler.py'), handler);
});
afterAll(() => service.stop());

/** Starts a worker with the Python package alone: -S ignores installed ones. */
function start(module: string, file: string): Promise<WorkerProcess> {
  const environment = {
    NOWSERVING_URL: service.url,
    NOWSERVING_KEY: service.key,
    PYTHONPATH: resolve('clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const args = ['-S', '-m', `nowserving.${module}`, file, '--model', `me/${module}`];
  return new WorkerProcess('python3', args, folder, environment).says('Serving');
}

test('a Cog predictor gets an uploaded sound, and returns a file, a log and usage', async () => {
  const worker = await start('cog', 'predict.py:Predictor');
  const sound = someBytes(300_000);
  const url = await new FileCalls(service).store(sound, 'audio/wav', 'a voice.wav');
  const id = await calls.run('me/cog', { sound: url });
  const output = (await (await calls.response(id)).json()) as { sha256: string; half: string };
  expect(output.sha256).toBe(sha256(sound));
  const half = Buffer.from(await (await fetch(output.half)).arrayBuffer());
  expect(half.equals(sound.subarray(0, 150_000))).toBe(true);
  const { logs = [], metrics } = await calls.status(id, '?logs=1');
  expect(logs.map(({ message }) => message)).toContain('read a voice.wav');
  expect(metrics).toMatchObject({ usage: { bytes: 300_000 } });
  const invalid = await calls.response(await calls.submit('me/cog', { sound: url, part: 1.5 }));
  expect([invalid.status, await invalid.json()]).toEqual([
    422,
    expect.objectContaining({ detail: 'The input is invalid: "part" must be at most 1, not 1.5.' }),
  ]);
  await worker.stop();
});

test('a RunPod handler yields its output, is cancelled, and stops for a fresh worker', async () => {
  const worker = await start('runpod', 'handler.py');
  const told = await calls.run('me/runpod', { words: 'once upon' });
  expect(await (await calls.response(told)).json()).toBe('once upon ');

  const endless = await calls.submit('me/runpod', { words: 'for ever' });
  await worker.says(`run ${endless}`);
  await calls.cancel(endless);
  await calls.reached(endless, 'COMPLETED');

  const fresh = await calls.run('me/runpod', { fresh: true });
  expect(await (await calls.response(fresh)).json()).toEqual({ fresh: true });
  expect(await worker.exited).toEqual({ code: 0, signal: null });

  const waiting = await calls.submit('me/runpod', { words: 'next' });
  const next = await start('runpod', 'handler.py');
  await calls.reached(waiting, 'COMPLETED');
  expect(await calls.status(waiting)).toMatchObject({ success: true, attempt: 1 });
  await until(() => next.output.includes(`run ${waiting}`));
  await next.stop();
});
