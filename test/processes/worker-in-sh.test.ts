import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/index.js';
import { problemOf } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  limits: 'off',
  models: { 'me/text/count': { ...pulled, attempts: 1 } },
});

test('the worker of the docs, sh and curl in 25 lines, runs a command for each request', async () => {
  const docs = await readFile('docs/workers.md', 'utf8');
  const script = /```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(docs)![1]!;
  expect(script.trim().split('\n').length).toBeLessThanOrEqual(25);
  const directory = await mkdtemp(join(tmpdir(), 'nowserving-worker-'));
  const path = join(directory, 'worker.sh');
  await writeFile(path, script);
  const key = await calls.newKey({ scopes: ['work'], models: ['me/*'] });
  // Fails where the input has the word "no".
  const command = ['sh', '-c', 'read -r text; case $text in *no*) exit 1;; esac; echo "$text" | wc -w'];
  const child = spawn('sh', [path, ...command], {
    env: { PATH: process.env['PATH'], URL: service.url, KEY: key, MODEL: 'me/text/count', WORKER: 'sh' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const id = await calls.submit('me/text/count', { text: 'one two three' });
    expect(await (await calls.response(id)).json()).toBe(3);
    const failed = await calls.submit('me/text/count', { text: 'no' });
    expect(await problemOf(await calls.response(failed))).toMatchObject({ detail: 'the command failed' });
  } finally {
    child.kill('SIGTERM');
    // It waits for the claim that it holds.
    await service.query(`SELECT 1`);
    const last = await calls.submit('me/text/count', { text: 'x' });
    await once(child, 'exit');
    await calls.cancel(last);
    await rm(directory, { recursive: true });
  }
  await until(async () => (await service.query(`SELECT FROM worker WHERE id = 'sh'`)).length === 0);
});

test('a run whose worker is not heard of any more is given to another by itself', async () => {
  const models = ['me/text/count'];
  const id = await calls.submit('me/text/count');
  const lost = await new WorkerCalls(service).run({ models });
  // Its first lease lasts 10 s.
  const again = await until(async () => (await new WorkerCalls(service).runs({ models, wait: 25 }))[0], {
    timeoutMs: 60_000,
  });
  expect([lost.request_id, again.request_id, again.attempt]).toEqual([id, id, 2]);
  await new WorkerCalls(service).output(again);
}, 60_000);
