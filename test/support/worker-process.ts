import { type ChildProcess, spawn } from 'node:child_process';
import { afterEachFile } from './after-each-file.js';
import type { Exit } from './spawn-service.js';
import { until } from './until.js';

const running = new Set<WorkerProcess>();

afterEachFile('first', async () => {
  const left = [...running];
  for (const worker of left) worker.destroy();
  await Promise.all(left.map(({ exited }) => exited));
});

/** A worker as a separate process. It gets only PATH from our environment. */
export class WorkerProcess {
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;
  private text = '';

  constructor(command: string, args: string[], cwd: string, environment: Record<string, string>) {
    this.child = spawn(command, args, {
      cwd,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    running.add(this);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.text += text));
    }
    this.exited = new Promise((done) => {
      this.child.once('close', (code, signal) => {
        running.delete(this);
        done({ code, signal });
      });
    });
  }

  /** Both outputs. */
  get output(): string {
    return this.text;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Cleans up after a failed test: ends the worker with all that it started. */
  destroy(): void {
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch {
      // it has ended
    }
    for (const stream of [this.child.stdout!, this.child.stderr!]) stream.destroy();
  }

  async says(text: string): Promise<this> {
    await until(() => this.text.includes(text), {
      message: `a worker says "${text}"`,
      timeoutMs: 60_000,
      explain: () => this.text,
    });
    return this;
  }

  async stop(): Promise<void> {
    this.kill('SIGTERM');
    expect([await this.exited, this.text]).toEqual([{ code: 0, signal: null }, this.text]);
  }
}

/** Returns a models.yaml with models that workers run. */
export const workerModels = (models: Record<string, object>): string =>
  JSON.stringify({
    models: Object.entries(models).map(([id, settings]) => ({
      id,
      runner: { kind: 'worker' },
      attempts: 3,
      timeout: '2m',
      ...settings,
    })),
  });
