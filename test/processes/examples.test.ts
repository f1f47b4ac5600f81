import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';
import { alike, examplesOf } from '../support/page-examples.js';

const page = 'examples/README.md';
const key = 'a-key-that-is-long-enough';
const [start, ...models] = examplesOf(page, 'start').map(({ commands }) => commands);
const [told, whole, followed] = examplesOf(page);

interface Started {
  child: ChildProcess;
  said: string;
}

const started: Started[] = [];
let database: TestDatabase;
let folder: string;
let port: number;
let url = '';

/**
 * Starts a block that runs until the tests end. It is a process group of its own, to be signalled as a terminal does.
 */
function startBlock(commands: string, env: Record<string, string> = {}): Started {
  const child = spawn('bash', ['--norc', '-euc', here(commands)], {
    detached: true,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const block = { child, said: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (block.said += text.toString()));
  started.push(block);
  return block;
}

/** Returns the output of the block. */
async function runBlock(commands: string): Promise<string> {
  const args = ['--norc', '-euc', here(commands)];
  return (await promisify(execFile)('bash', args, { env: environment(), timeout: 240_000 })).stdout;
}

/** The page's commands with the ports and files of this test. */
const here = (commands: string): string =>
  commands
    .replaceAll('/tmp/', `${folder}/`)
    .replace('MODELS_FILE=examples/models.yaml', `MODELS_FILE=${folder}/models.yaml`)
    .replace('http_model.py', `http_model.py ${port}`);

const environment = (): Record<string, string> => ({
  PATH: process.env['PATH']!,
  HOME: process.env['HOME']!,
  npm_config_update_notifier: 'false',
  NOWSERVING_URL: url,
  NOWSERVING_KEY: key,
});

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await temporaryDirectory();
  port = await freePort();
  const file = await readFile(resolve('examples/models.yaml'), 'utf8');
  await writeFile(join(folder, 'models.yaml'), file.replaceAll(':9000/', `:${port}/`));
  for (const { commands } of examplesOf(page, 'once')) await runBlock(commands);
  const settings = { DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key, PORT: '0' };
  const service = startBlock(start!, settings);
  const listening = () => /listening on (\S+)/.exec(service.said)?.[1];
  const explain = () => service.said;
  url = await until(listening, { message: 'the queue listens', timeoutMs: 60_000, explain });
  const [server] = models.map((commands) => startBlock(commands));
  await until(() => server!.said.includes('listening on'), { message: 'the server listens' });
}, 300_000);

afterAll(async () => {
  // The workers stop before their queue does.
  for (const { child } of started.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    process.kill(-child.pid!, 'SIGTERM');
    await once(child, 'exit');
  }
  await database.drop();
}, 60_000);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return free;
}

const stories: string[] = [];

describe.each(['story/http', 'story/worker', 'story/command'])('%s', (model) => {
  const as = (commands: string): string => commands.replaceAll(/story\/(http|worker)/g, model);

  it('is started by one line, and tells a story token by token', async () => {
    const printed = await runBlock(`${as(told!.commands)}\necho "$ID" > /tmp/id`);
    expect(printed.trim()).toEqual(alike(told!.shown!.trim(), url));
    const deltas = [...printed.matchAll(/^data: (\{"index".*)$/gm)].map(
      ([, line]) => JSON.parse(line!) as { index: number; delta: string },
    );
    expect(deltas.length).toBeGreaterThan(3);
    const story = await runBlock(`ID=$(cat /tmp/id)\n${whole!.commands}`);
    expect(story.trim()).toEqual(alike(whole!.shown!.trim(), url));
    expect(JSON.parse(story)).toBe(deltas.map(({ delta }) => delta).join(''));
    stories.push(story);
  }, 60_000);

  it('is followed by a loop in JavaScript', async () => {
    const printed = await runBlock(as(followed!.commands));
    expect(printed.trim()).toEqual(alike(followed!.shown!.trim(), url));
    expect(printed.length).toBeGreaterThan(300);
  }, 60_000);
});

test('the three ways tell the same story', () => {
  expect(stories).toHaveLength(3);
  expect(new Set(stories).size).toBe(1);
});

test('nothing that the page starts has ended by itself', () => {
  expect(started).toHaveLength(4);
  expect(started.filter(({ child }) => child.exitCode !== null).map(({ said }) => said)).toEqual([]);
});

test('a story whose worker is stopped half-way begins anew, and the stream says so', async () => {
  const worker = started[2]!;
  const input = '{"prompt": "Anna", "max_tokens": 30, "tokens_per_second": 8}';
  await runBlock('rm -f /tmp/story.json');
  const reading = runBlock(
    told!.commands.replace('story/http', 'story/worker').replace(/\{"prompt.*\}/, input),
  );
  const runs = async (): Promise<boolean> => {
    const { status_url } = JSON.parse(await runBlock('cat /tmp/story.json')) as { status_url: string };
    return (await (await fetch(status_url)).text()).includes('IN_PROGRESS');
  };
  await until(runs, { message: 'the story is told' });
  process.kill(-worker.child.pid!, 'SIGINT');
  await until(() => worker.said.includes('finishes its runs'), { message: 'the worker drains' });
  process.kill(-worker.child.pid!, 'SIGINT');
  await until(() => worker.child.exitCode !== null, { message: 'the worker has ended' });
  started.push(startBlock(models[1]!));
  const printed = await reading;
  expect(printed).toMatch(/^event: reset\nid: \S+\ndata: \{"attempt":1\}/m);
}, 60_000);
