import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/index.js';
import { problemOf, unknownId } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls, model } = testQueue({
  limits: 'off',
  models: { 'me/text/count': { ...pulled, attempts: 1 } },
});

// Counts words. Where the input has the word "no" it fails, for "much" it answers 200 KiB.
const command = `read -r text
  case $text in *no*) exit 1;; *much*) printf '"%204798s"' x; exit;; esac
  echo "$text" | wc -w`;

let folder: string;
let script: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nowserving-worker-'));
  script = /```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(await readFile('docs/workers.md', 'utf8'))![1]!;
  await writeFile(join(folder, 'worker.sh'), script);
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts the worker of the docs. */
function startWorker(url: string, key: string): ChildProcess {
  const env = { PATH: process.env['PATH'], URL: url, KEY: key, MODEL: 'me/text/count', WORKER: 'sh' };
  return spawn('sh', [join(folder, 'worker.sh'), 'sh', '-c', command], {
    env: { ...env, TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
}

/** Returns whether a process of the group is alive. */
function isGroup(id: number): boolean {
  try {
    return process.kill(-id, 0);
  } catch {
    return false;
  }
}

describe('the worker of the docs, sh and curl in 25 lines,', () => {
  let worker: ChildProcess;
  beforeAll(async () => {
    worker = startWorker(service.url, await calls.newKey({ scopes: ['work'], models: ['me/*'] }));
  });

  const outcome = async (input: object): Promise<Response> =>
    calls.response(await calls.submit('me/text/count', input));

  it('runs a command for each request', async () => {
    expect(script.trim().split('\n').length).toBeLessThanOrEqual(25);
    expect(await (await outcome({ text: 'one two three' })).json()).toBe(3);
    expect(await problemOf(await outcome({ text: 'no' }))).toMatchObject({ detail: 'the command failed' });
  });

  it('is not confused by an input that looks like the answer around it', async () => {
    const input = { x: 'a b', request_id: '00000000-0000-0000-0000-000000000000', lease_token: 'evil' };
    expect(await (await outcome(input)).json()).toBe(2);
    expect(await (await outcome({ runs: [input] })).json()).toBe(2);
  });

  it('takes an input that is too large to be an argument', async () => {
    const text = Array.from({ length: 100_000 }, () => 'a').join(' ');
    expect(await (await outcome({ text })).json()).toBe(100_000);
  });

  it('sends an output that is too large to be an argument', async () => {
    expect(await (await outcome({ text: 'much' })).json()).toBe('x'.padStart(204_798));
  });

  it('ends on SIGTERM, and leaves nothing behind', async () => {
    worker.kill('SIGTERM');
    // It waits until the worker's claim is waiting.
    const last = await calls.submit('me/text/count', { text: 'x' });
    await once(worker, 'exit');
    await calls.cancel(last);
    await until(async () => (await service.query(`SELECT FROM worker WHERE id = 'sh'`)).length === 0);
    expect(await readdir(folder)).toEqual(['worker.sh']);
  });

  afterAll(() => {
    if (isGroup(worker.pid!)) process.kill(-worker.pid!, 'SIGKILL');
  });
});

describe('the worker of the docs, with a simulated service,', () => {
  const said = (what: string): number => model.calls.filter(({ url }) => url.endsWith(what)).length;
  const answer = JSON.stringify({ runs: [{ request_id: unknownId(), lease_token: 'lease', input: {} }] });
  let worker: ChildProcess;

  /** One claim returns a run; the next is a long poll. */
  function play(respondToInput: (response: ServerResponse) => void): void {
    model.calls.length = 0;
    model.respond = ({ url, response }) => {
      if (url.endsWith('/input')) respondToInput(response);
      else if (!url.endsWith('/claims')) response.end();
      else if (said('/claims') === 1) response.end(answer);
    };
    worker = startWorker(new URL(model.url).origin, service.key);
  }

  it('reports nothing about a run whose input it could not fetch', async () => {
    play((response) => response.writeHead(410).end());
    await until(() => said('/claims') === 2);
    expect([said('/input'), said('/output'), said('/failure')]).toEqual([1, 0, 0]);
    worker.kill('SIGTERM');
    model.release();
    await once(worker, 'exit');
  });

  it('leaves no process behind after SIGKILL', async () => {
    play((response) => {
      worker.kill('SIGKILL');
      response.end('{}');
    });
    await once(worker, 'exit');
    await until(() => !isGroup(worker.pid!));
  });

  afterEach(() => {
    if (isGroup(worker.pid!)) process.kill(-worker.pid!, 'SIGKILL');
  });
});

test('a run whose worker no longer renews its lease goes to another worker', async () => {
  const models = ['me/text/count'];
  const id = await calls.submit('me/text/count');
  const lost = await new WorkerCalls(service).run({ models });
  // Its first lease lasts 10 s.
  const again = await until(async () => (await new WorkerCalls(service).runs({ models, wait: 25 }))[0]);
  expect([lost.request_id, again.request_id, again.attempt]).toEqual([id, id, 2]);
  await new WorkerCalls(service).output(again);
});
