import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packClient, UserProject } from '../support/client-package.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { startTestService, type TestService } from '../support/index.js';
import { isRunning } from '../support/is-running.js';
import { ModelServer } from '../support/model-server.js';
import { blocksOf, examplesPage } from '../support/page-examples.js';
import { QueueCalls } from '../support/queue-calls.js';
import { llamaCpp } from '../support/servers/llama-cpp.js';
import { until } from '../support/until.js';
import { WorkerProcess, workerModels } from '../support/worker-process.js';

// The examples with real models, as the page has them. Stand-ins take the places of llama-server, transformers and
// llama-cli. A prompt says how they break: `cut`, `break`, `fail` or `crash`. `hold` goes on until it is stopped.

const programs = blocksOf(examplesPage).filter(({ language }) => language === 'python');
const programWith = (text: string): string => programs.find(({ code }) => code.includes(text))!.code;
const command = blocksOf(examplesPage).find(({ code }) => code.includes('llama-cli'))!.code;

/** Stands in for transformers: `generate` puts the words of the prompt into the streamer, with some time between. */
const transformers = `
import queue, time


class Asked(dict):
    def to(self, device):
        return self


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name):
        return lambda prompt, return_tensors: Asked(input_ids=prompt.split())


class TextIteratorStreamer:
    def __init__(self, tokenizer, skip_prompt=False):
        self.texts = queue.Queue()

    def end(self):
        self.texts.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        text = self.texts.get()
        if text is None:
            raise StopIteration
        return text


class StoppingCriteria:
    pass


class StoppingCriteriaList(list):
    pass


class Model:
    device = "cuda"

    def generate(self, input_ids, streamer, max_new_tokens, stopping_criteria):
        print("generate begins", flush=True)
        try:
            for word in input_ids:
                streamer.texts.put(word + " ")
                if word == "crash":
                    raise RuntimeError("CUDA out of memory")
                while word == "hold" and not any(stop(input_ids, None) for stop in stopping_criteria):
                    streamer.texts.put("more ")
                    time.sleep(0.05)
            streamer.end()
        finally:
            print("generate ends", flush=True)


class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name, device_map):
        return Model()
`;

/** Stands in for llama-cli: prints its prompt, which is its last argument. */
const llamaCli = `#!/bin/sh
for prompt; do :; done
printf '%s' "$prompt"
case "$prompt" in
  crash*) kill -SEGV $$ ;;
  fail*) echo 'out of memory' >&2; exit 1 ;;
  hold*) echo "holds $$" >&2; exec sleep 600 ;;
esac
`;

const server = new ModelServer();
let service: TestService;
let calls: QueueCalls;
let folder: string;

beforeAll(async () => {
  server.respond = llamaCpp;
  await server.start();
  const options = { attempts: 2, retry: { base: '1ms' } };
  service = await startTestService({
    limits: 'off',
    models: workerModels({ 'story/llama': options, 'story/transformers': options, 'story/command': options }),
  });
  calls = new QueueCalls(service);
  folder = await temporaryDirectory();
  await copyFile('clients/python/nowserving/worker.py', join(folder, 'nowserving_worker.py'));
  await writeFile(join(folder, 'transformers.py'), transformers);
});
afterAll(async () => {
  await service.stop();
  await server.stop();
});

const environment = (): Record<string, string> => ({
  NOWSERVING_URL: service.url,
  NOWSERVING_KEY: service.key,
  PYTHONDONTWRITEBYTECODE: '1',
});

async function start(name: string, text: string): Promise<WorkerProcess> {
  const code = programWith(text)
    .replace('story/worker', `story/${name}`)
    .replace('http://127.0.0.1:8080', new URL(server.url).origin);
  // Not `transformers.py`, which is the stand-in.
  const file = `${name}_worker.py`;
  await writeFile(join(folder, file), code);
  return new WorkerProcess('python3', [file], folder, environment()).says('Serving');
}

async function end(model: string, prompt: string) {
  const id = await calls.submit(model, { prompt });
  await calls.reached(id, 'COMPLETED');
  const { success, error, attempt } = await calls.status(id);
  return success === true ? await (await calls.response(id)).json() : { message: error?.message, attempt };
}

describe('llama-server', () => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await start('llama', '/completion');
  });
  afterAll(() => worker.stop());

  it('produces the output from its tokens', async () => {
    expect(await end('story/llama', 'once upon a time')).toBe('once upon a time');
  });

  it.each([
    ['cut the story', /broke off|IncompleteRead|Connection|RemoteDisconnected/],
    ['break the story', /^llama-server broke off\.$/],
    ['fail the story', /^Compute error\.$/],
  ])('that breaks at the prompt "%s" fails the request without an output', async (prompt, message) => {
    expect(await end('story/llama', prompt)).toEqual({
      message: expect.stringMatching(message) as string,
      attempt: 2,
    });
  });

  it('is disconnected when the run is cancelled', async () => {
    server.respond = (call) => {
      if (call.url === '/health') return llamaCpp(call);
      call.response.writeHead(200, { 'content-type': 'text/event-stream' });
      const say = (): void => {
        call.response.write(`data: ${JSON.stringify({ content: 'more ', stop: false })}\n\n`);
        if (!call.closed) setTimeout(say, 50);
      };
      say();
    };
    const id = await calls.submit('story/llama', { prompt: 'on and on' });
    const call = await until(() => server.calls.find(({ body }) => body.includes('on and on')));
    await calls.cancel(id);
    await calls.reached(id, 'COMPLETED');
    await until(() => call.closed, { message: 'the connection to llama-server closes' });
    server.respond = llamaCpp;
    expect(await end('story/llama', 'next one')).toBe('next one');
  });
});

describe('transformers', () => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await start('transformers', 'transformers');
  });
  afterAll(() => worker.stop());
  const count = (text: string): number => worker.output.split(text).length - 1;

  it('produces the output from its tokens', async () => {
    expect(await end('story/transformers', 'once upon a time')).toBe('once upon a time ');
  });

  it('that crashes half-way fails the attempt, and the next run succeeds', async () => {
    expect(await end('story/transformers', 'once crash upon')).toEqual({
      message: 'RuntimeError: CUDA out of memory',
      attempt: 2,
    });
    expect(await end('story/transformers', 'next one')).toBe('next one ');
  });

  it('stops after a cancel before the next run begins', async () => {
    const before = count('generate begins');
    const id = await calls.submit('story/transformers', { prompt: 'once hold' });
    await until(() => count('generate begins') > before);
    await calls.cancel(id);
    await calls.reached(id, 'COMPLETED');
    expect(await end('story/transformers', 'next one')).toBe('next one ');
    // Never two at once.
    const said = worker.output.match(/generate (begins|ends)/g)!;
    expect(said).toEqual(said.map((_, at) => (at % 2 === 0 ? 'generate begins' : 'generate ends')));
  });
});

describe('llama-cli', () => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    const project = await UserProject.with(await packClient(), {});
    const programsFolder = join(project.directory, 'programs');
    await mkdir(programsFolder);
    await writeFile(join(programsFolder, 'llama-cli'), llamaCli);
    await chmod(join(programsFolder, 'llama-cli'), 0o755);
    const path = `${programsFolder}:${project.directory}/node_modules/.bin:${process.env['PATH']}`;
    const line = command.replace('npx nowserving', 'exec nowserving');
    worker = await new WorkerProcess('sh', ['-c', line], project.directory, {
      ...environment(),
      PATH: path,
    }).says('Serving');
  });
  afterAll(() => worker.stop());

  it('prints the output', async () => {
    expect(await end('story/command', 'once upon a time')).toBe('once upon a time');
  });

  it.each(['crash half-way', 'fail half-way'])(
    'that breaks at the prompt "%s" fails the request without an output',
    async (prompt) => {
      expect(await end('story/command', prompt)).toEqual({
        message: expect.stringMatching(/^The command /) as string,
        attempt: 2,
      });
    },
  );

  it('fails a request without a prompt', async () => {
    const id = await calls.submit('story/command', { text: 'no prompt' });
    await calls.reached(id, 'COMPLETED');
    expect(await calls.status(id)).toMatchObject({ success: false });
  });

  it('is ended when the run is cancelled', async () => {
    const id = await calls.submit('story/command', { prompt: 'hold on' });
    const pid = await until(async () => {
      const { logs = [] } = await calls.status(id, '?logs=1');
      return /holds (\d+)/.exec(logs.map(({ message }) => message).join('\n'))?.[1];
    });
    await calls.cancel(id);
    await calls.reached(id, 'COMPLETED');
    await until(async () => !(await isRunning(pid)), { message: 'llama-cli ends' });
  });
});
