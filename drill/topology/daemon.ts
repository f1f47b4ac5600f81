import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { within } from '../../chaos/clock.js';
import type { ServerUser } from '../../src/embedded-postgres/data-directory.js';

interface Command {
  /** Also the name of its log. */
  name: string;
  program: string;
  args: readonly string[];
  directory: string;
  user?: ServerUser;
}

/** A program that runs until it is killed, and can be started again. */
export class Daemon {
  private child: ChildProcess | undefined;

  constructor(private readonly command: Command) {}

  get name(): string {
    return this.command.name;
  }

  /** undefined: it does not run. */
  get pid(): number | undefined {
    const { child } = this;
    return child === undefined || hasEnded(child) ? undefined : child.pid;
  }

  start(): void {
    const { program, args, directory, user } = this.command;
    const log = openSync(this.logFile, 'a');
    this.child = spawn(program, args, {
      ...user,
      cwd: directory,
      // A session of its own, so that Ctrl-C in the terminal reaches the drill only, which then ends everything.
      detached: true,
      env: { PATH: process.env['PATH'], HOME: directory, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.child.once('error', () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.pid !== undefined) this.child!.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await within(10_000, () => this.pid === undefined);
  }

  /** The end of its log, for an error. */
  get said(): string {
    if (!existsSync(this.logFile)) return '';
    return readFileSync(this.logFile, 'utf8').slice(-1_500);
  }

  private get logFile(): string {
    return join(this.command.directory, `${this.command.name}.log`);
  }
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
