import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { maxTimerMs } from '../../deadline.js';
import { type Exit, startError } from './exit-codes.js';

/** A process that left the group may keep the pipes open. They are cut after this long without new or unread bytes. */
const pipesMs = 2_000;
const running = new Set<ProcessGroup>();
process.on('exit', () => {
  for (const group of running) group.kill('SIGKILL');
});

const bytesOf = (pipes: readonly Socket[]): number =>
  pipes.reduce((sum, { bytesRead }) => sum + bytesRead, 0);

export interface CommandOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  input: string;
}

/** A command and all processes that it starts. */
export class ProcessGroup {
  /** Resolves when the command has ended and its pipes are closed. */
  readonly exited: Promise<Exit>;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  private constructor(private readonly child: ChildProcess) {
    running.add(this);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.isOver = true;
        clearTimeout(this.timer);
        this.kill('SIGKILL'); // processes that the command left behind
        running.delete(this);
        const pipes = [child.stdout, child.stderr] as Socket[];
        let read = bytesOf(pipes);
        const timer = setInterval(() => {
          const before = read;
          read = bytesOf(pipes);
          const isIdle = read === before && pipes.every(({ readableLength }) => readableLength === 0);
          if (isIdle) for (const pipe of pipes) pipe.destroy();
        }, pipesMs);
        child.once('close', () => {
          clearInterval(timer);
          resolve({ code, signal });
        });
      });
    });
  }

  /** Rejects with the error that the failed start means for the run. */
  static async start({ command, args, cwd, env, input }: CommandOptions): Promise<ProcessGroup> {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: 'pipe' });
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw startError(error as NodeJS.ErrnoException);
    }
    child.on('error', () => undefined); // from a signal sent too late
    child.stdin.on('error', () => undefined); // a command need not read its input
    child.stdin.end(input);
    return new ProcessGroup(child);
  }

  get stdout(): Readable {
    return this.child.stdout!;
  }

  get stderr(): Readable {
    return this.child.stderr!;
  }

  /** Sends SIGTERM, then SIGKILL after `killAfterMs`. */
  end(killAfterMs: number): void {
    if (this.isOver || this.timer !== undefined) return;
    this.kill('SIGTERM');
    this.timer = setTimeout(() => this.kill('SIGKILL'), Math.min(killAfterMs, maxTimerMs));
  }

  kill(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.child.pid!, signal);
    } catch {
      // no process is left
    }
  }
}
