import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEachFile } from './after-each-file.js';
import { stopServerNow } from './temporary-servers.js';
import { until } from './until.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const running = new Set<SpawnedService>();

afterEachFile('first', () => {
  for (const service of running) service.destroy();
});

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The built service as a separate process. It gets only PATH from our environment. */
export class SpawnedService {
  /** Resolves when the process has ended and all its output has arrived. */
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;
  private said = '';

  constructor(
    private readonly environment: Record<string, string>,
    { script = 'dist/src/main.js', args = [], cwd = root, openFiles }: SpawnOptions = {},
  ) {
    const program = [process.execPath, join(root, script), ...args];
    const limited = ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, ...program];
    const [command, ...rest] = openFiles === undefined ? program : limited;
    this.child = spawn(command!, rest, {
      cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        // No proxy is in front of most of them.
        SHUTDOWN_DELAY: '0s',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    }
    this.exited = new Promise((done, fail) => {
      this.child.once('error', fail);
      this.child.once('close', (code, signal) => {
        running.delete(this);
        done({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Standard output and standard error, in the order in which they came. */
  get output(): string {
    return this.said;
  }

  /** The URL on which it listens. Throws before the service has printed it. */
  get url(): string {
    const found = /listening on (http:\/\/\S+)/.exec(this.said);
    if (found === null) throw new Error(`The service does not listen yet. It said:\n${this.said}`);
    return found[1]!;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Stops the service in an orderly way, whatever the signal. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.kill(signal);
    expect(await this.exited).toEqual({ code: 0, signal: null });
  }

  /** Cleans up after a failed test: ends the process and the database that it would leave behind. */
  destroy(): void {
    this.child.kill('SIGKILL');
    const directory = this.environment['DATA_DIR'];
    if (directory !== undefined) stopServerNow(directory);
  }
}

export interface SpawnOptions {
  script?: string;
  args?: string[];
  cwd?: string;
  /** How many files the process may have open. */
  openFiles?: number;
}

/** Starts the service and waits until it listens. */
export async function spawnService(
  environment: Record<string, string>,
  options?: SpawnOptions,
): Promise<SpawnedService> {
  const service = new SpawnedService(environment, options);
  let exit: Exit | undefined;
  void service.exited.then((value) => (exit = value));
  await until(() => exit !== undefined || service.output.includes('listening on http'), {
    message: 'a spawned service listens',
    timeoutMs: 60_000,
    explain: () => service.output,
  });
  if (exit !== undefined) {
    throw new Error(`The service ended with ${JSON.stringify(exit)} before it listened:\n${service.output}`);
  }
  return service;
}

/** Submits to a service in a separate process. */
export async function submitTo(
  url: string,
  key: string,
  model: string,
  input: object,
): Promise<{ request_id: string; status_url: string }> {
  const response = await fetch(`${url}/v1/queue/${model}`, {
    method: 'POST',
    headers: { authorization: `Key ${key}` },
    body: JSON.stringify(input),
  });
  expect(response.status).toBe(202);
  return (await response.json()) as { request_id: string; status_url: string };
}
