import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pidFile, serverPid, temporaryDirectory } from '../support/data-directory.js';
import { isAlive, stopServerNow } from '../support/temporary-servers.js';
import { spawnService, submitTo, until } from '../support/index.js';

const key = 'test_terminal_key_0123456789';
const second = { delay_ms: 1_000, fail_attempts: 0 };
const endless = { delay_ms: 50_000, fail_attempts: 0 };

let dataDir: string;
let environment: Record<string, string>;
let terminal: ChildProcess | undefined;
let said = '';

beforeEach(async () => {
  dataDir = join(await temporaryDirectory(), 'data');
  environment = { DATA_DIR: dataDir, BOOTSTRAP_API_KEY: key, SHUTDOWN_GRACE: '1h' };
});
afterEach(() => {
  terminal?.kill('SIGKILL');
  stopServerNow(dataDir);
});

/** `npm start` in a terminal of its own (util-linux's script), whose end is the terminal's. */
async function openTerminal(shell: string): Promise<string> {
  said = '';
  terminal = spawn('script', ['--quiet', '--return', '--command', 'exec npm start', '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      npm_config_update_notifier: 'false',
      npm_config_script_shell: shell,
      PORT: '0',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  terminal.stdout!.setEncoding('utf8').on('data', (text: string) => (said += text));
  return until(() => /listening on (http:\S+)/.exec(said)?.[1], {
    message: 'npm start listens',
    timeoutMs: 60_000,
    explain: () => said,
  });
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
  await service.stop('SIGHUP');
  return status;
}

test.each(['/bin/sh', '/bin/bash'])(
  'closing the terminal lets runs end, and stops the embedded PostgreSQL: %s',
  async (shell) => {
    const url = await openTerminal(shell);
    const server = serverPid(dataDir);
    const id = await run(url, second);
    const pid = await until(() => /"node":"[^"]*:(\d+)"/.exec(said)?.[1]);
    terminal!.kill('SIGKILL');
    await until(() => serverHasEnded(server), { timeoutMs: 20_000, message: 'PostgreSQL has ended' });
    await until(() => !isAlive(Number(pid)), { message: 'the service has ended' });
    expect(await statusAfterRestart(id)).toMatchObject({ status: 'COMPLETED', success: true });
  },
  120_000,
);

test('SIGHUP stops in order, and says so', async () => {
  const service = await spawnService(environment);
  const server = serverPid(dataDir);
  const id = await run(service.url, second);
  service.kill('SIGHUP');
  await until(() => service.output.includes('stopping: 1 run may end within 3600 s'));
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(service.output).toMatch(/^stopped$/m);
  expect(serverHasEnded(server)).toBe(true);
  expect(await statusAfterRestart(id)).toMatchObject({ status: 'COMPLETED', success: true });
}, 120_000);

test.each(['/bin/sh', '/bin/bash'])(
  'one Ctrl-C, which npm may pass on as a second, leaves runs their time; the next ends the wait: %s',
  async (shell) => {
    const url = await openTerminal(shell);
    await run(url, endless);
    const server = serverPid(dataDir);
    let ended = false;
    terminal!.once('exit', () => (ended = true));
    terminal!.stdin!.write('\x03');
    await until(() => said.includes('stopping: 1 run may end'), { explain: () => said });
    // Lines of the log come a tenth of a second late: what npm passes on has been obeyed or passed over by now.
    expect(serverHasEnded(server)).toBe(false);
    await until(() => {
      terminal!.stdin!.write('\x03');
      return ended;
    });
    expect(serverHasEnded(server)).toBe(true);
  },
  120_000,
);
