import { existsSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pidFile, serverPid, temporaryDirectory } from '../support/data-directory.js';
import { isAlive, stopServerNow } from '../support/temporary-servers.js';
import { spawnService, submitTo, until } from '../support/index.js';
import { Terminal } from '../support/terminal.js';

const key = 'test_terminal_key_0123456789';
const second = { delay_ms: 1_000, fail_attempts: 0 };
const endless = { delay_ms: 50_000, fail_attempts: 0 };

let dataDir: string;
let environment: Record<string, string>;
let terminal: Terminal | undefined;

beforeEach(async () => {
  dataDir = join(await temporaryDirectory(), 'data');
  environment = { DATA_DIR: dataDir, BOOTSTRAP_API_KEY: key, SHUTDOWN_GRACE: '1h' };
});
afterEach(() => {
  terminal?.child.kill('SIGKILL');
  stopServerNow(dataDir);
});

async function openTerminal(shell: string): Promise<string> {
  terminal = new Terminal({ ...environment, LOG_FORMAT: 'json' }, shell);
  return terminal.listening();
}

/** Resolves when the request runs. */
async function run(url: string, input: object): Promise<string> {
  const { status_url, request_id } = await submitTo(url, key, 'demo/text/flaky', input);
  await until(async () => (await (await fetch(status_url)).text()).includes('IN_PROGRESS'));
  return request_id;
}

const serverHasEnded = (pid: number): boolean => !existsSync(pidFile(dataDir)) && !isAlive(pid);

async function statusAfterRestart(id: string): Promise<Record<string, unknown>> {
  const service = await spawnService(environment);
  const response = await fetch(`${service.url}/v1/queue/requests/${id}/status?logs=1`);
  const status = (await response.json()) as Record<string, unknown>;
  await service.stop();
  return status;
}

test.each(['/bin/sh', '/bin/bash'])(
  'closing the terminal lets runs end, and stops the embedded PostgreSQL: %s',
  async (shell) => {
    const url = await openTerminal(shell);
    const server = serverPid(dataDir);
    const id = await run(url, second);
    const pid = await until(() => /"node":"[^"]*:(\d+)"/.exec(terminal!.said)?.[1]);
    terminal!.child.kill('SIGKILL');
    await until(() => serverHasEnded(server), { message: 'PostgreSQL has ended' });
    await until(() => !isAlive(Number(pid)), { message: 'the service has ended' });
    expect(await statusAfterRestart(id)).toMatchObject({ status: 'COMPLETED', success: true });
  },
);

test('without a terminal, SIGHUP reloads the models file, and SIGTERM starts an orderly stop that is logged', async () => {
  const modelsFile = join(await temporaryDirectory(), 'models.yaml');
  const demo = (name: string): object => ({ id: `demo/text/${name}`, runner: { kind: 'demo', demo: name } });
  await writeFile(modelsFile, JSON.stringify({ models: [demo('flaky')] }));
  const service = await spawnService({ ...environment, MODELS_FILE: modelsFile });
  const server = serverPid(dataDir);
  const id = await run(service.url, second);
  await writeFile(modelsFile, JSON.stringify({ models: [demo('flaky'), demo('echo')] }));
  service.kill('SIGHUP');
  await until(() => service.output.includes('the models file was read again; new: demo/text/echo'));
  service.kill('SIGTERM');
  await until(() => service.output.includes('stopping: 1 run may end within 3600 s'));
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(service.output).toMatch(/^stopped$/m);
  expect(serverHasEnded(server)).toBe(true);
  expect(await statusAfterRestart(id)).toMatchObject({ status: 'COMPLETED', success: true });
});

test('the replacement of a mounted models file is logged with the remedy', async () => {
  const modelsFile = join(await temporaryDirectory(), 'models.yaml');
  const models = [{ id: 'demo/text/echo', runner: { kind: 'demo', demo: 'echo' } }];
  await writeFile(modelsFile, JSON.stringify({ models }));
  const mounted = await open(modelsFile);
  const service = await spawnService({
    ...environment,
    MODELS_FILE: `/proc/${process.pid}/fd/${mounted.fd}`,
  });
  await writeFile(`${modelsFile}.new`, JSON.stringify({ models }));
  await rename(`${modelsFile}.new`, modelsFile);
  await until(() => service.output.includes('mount the folder that it is in, and restart'));
  await service.stop();
  await mounted.close();
});

test.each(['/bin/sh', '/bin/bash'])(
  'the first Ctrl-C lets runs end, even if npm repeats it, and the next one ends the wait: %s',
  async (shell) => {
    const url = await openTerminal(shell);
    await run(url, endless);
    const server = serverPid(dataDir);
    let ended = false;
    terminal!.child.once('exit', () => (ended = true));
    terminal!.child.stdin!.write('\x03');
    await until(() => terminal!.said.includes('stopping: 1 run may end'), { explain: () => terminal!.said });
    // Log lines are a tenth of a second late, so by now the service has obeyed or ignored the signal that npm passes
    // on.
    expect(serverHasEnded(server)).toBe(false);
    await until(() => {
      terminal!.child.stdin!.write('\x03');
      return ended;
    });
    expect(serverHasEnded(server)).toBe(true);
  },
);
