import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { now, overlaps, sleep, within, type Span } from '../clock.js';
import { shippedLimits } from '../load/caller.js';

export type Role = 'all' | 'api' | 'scheduler';

export interface NodeOptions {
  name: string;
  role: Role;
  root: string;
  directory: string;
  environment: Record<string, string>;
}

/** Settings of nodes under test. */
export const nodeSettings = {
  RATE_LIMIT_SUBMIT: shippedLimits.submit,
  RATE_LIMIT_OTHER: shippedLimits.other,
  TRUST_PROXY: '1',
  WEBHOOK_ALLOW: '127.0.0.1',
  SHUTDOWN_DELAY: '0s',
  SHUTDOWN_GRACE: '3s',
  LOG_LEVEL: 'warn',
};

/** After SIGTERM a node may take its grace period and a little more. */
const stopPatienceMs = 20_000;

/** One process of the service, restarted as a supervisor would. */
export class ServiceNode {
  readonly name: string;
  readonly role: Role;
  /** Times in which the process was frozen. */
  readonly freezes: Span[] = [];
  /** Times in which the process did not serve: killed, stopping or starting. */
  readonly downs: Span[] = [];
  readonly complaints: string[] = [];
  /** Called when the process ends although the harness did not end it. */
  onUnexpectedExit: (output: string) => void = () => undefined;
  /** Starts that ended before the process listened. */
  readonly failedStarts: (Span & { output: string })[] = [];
  url = '';
  private child: ChildProcess | undefined;
  private tail = '';
  private expected = false;
  private port = 0;

  constructor(private readonly options: NodeOptions) {
    this.name = options.name;
    this.role = options.role;
  }

  get servesCalls(): boolean {
    return this.role !== 'scheduler';
  }

  get isUp(): boolean {
    return this.downs.at(-1)?.to !== Infinity && this.freezes.at(-1)?.to !== Infinity;
  }

  /** Returns whether the node itself was unable to answer at some time of the span. */
  wasAway(from: number, to: number): boolean {
    return [...this.freezes, ...this.downs].some((span) => overlaps(span, from, to));
  }

  /**
   * Starts the process. Repeats this while the database keeps it from starting or another process has taken its port.
   */
  async start(): Promise<void> {
    if (this.port === 0) await this.choosePort();
    if (this.downs.at(-1)?.to !== Infinity) this.downs.push({ from: now(), to: Infinity });
    for (let from = now(); !(await this.spawn()); from = now()) {
      if (this.tail.includes('is in use')) await this.choosePort();
      else this.failedStarts.push({ from, to: now(), output: this.tail });
      await sleep(500);
    }
    this.downs.at(-1)!.to = now();
  }

  /** Ends the process with SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Ends the process with SIGTERM. false: it had to be killed. */
  async stop(): Promise<boolean> {
    return this.end('SIGTERM');
  }

  freeze(): void {
    this.freezes.push({ from: now(), to: Infinity });
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    const freeze = this.freezes.at(-1);
    if (freeze?.to !== Infinity) return;
    this.child?.kill('SIGCONT');
    freeze.to = now();
  }

  /** Sends SIGKILL, without waiting. */
  abandon(): void {
    this.expected = true;
    this.child?.kill('SIGKILL');
  }

  private async choosePort(): Promise<void> {
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
  }

  private async end(signal: NodeJS.Signals): Promise<boolean> {
    const { child } = this;
    this.expected = true;
    this.downs.push({ from: now(), to: Infinity });
    child?.kill(signal);
    this.thaw();
    const ended = await within(stopPatienceMs, () => child === undefined || hasEnded(child));
    if (!ended) {
      child?.kill('SIGKILL');
      await within(5_000, () => hasEnded(child!));
    }
    return ended;
  }

  /** False: the process ended before it listened. */
  private async spawn(): Promise<boolean> {
    const { root, environment, name, role } = this.options;
    const child = spawn(process.execPath, [join(root, 'dist/src/main.js')], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        ...environment,
        PORT: String(this.port),
        NODE_NAME: name,
        ROLE: role,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.expected = false;
    this.tail = '';
    let listening = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        listening ||= text.includes('listening on http');
        this.read(text);
      });
    }
    child.once('exit', (code, signal) => {
      if (this.child !== child || this.expected || !listening) return;
      this.downs.push({ from: now(), to: Infinity });
      this.onUnexpectedExit(`code ${code}, signal ${signal}: ${this.tail}`);
      void this.start();
    });
    await within(60_000, () => listening || hasEnded(child));
    return listening;
  }

  private read(text: string): void {
    this.tail = (this.tail + text).slice(-2_000);
    appendFileSync(join(this.options.directory, `${this.name}.log`), text);
    for (const line of text.split('\n')) if (/"level":"(error|fatal)"/.test(line)) this.complaints.push(line);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
