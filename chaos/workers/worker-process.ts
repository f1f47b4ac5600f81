import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { now, overlaps, within, type Span } from '../clock.js';
import { workerModels } from '../cluster/models-file.js';
import type { RemoteProxy } from '../cluster/proxy-thread.js';
import type { WorkLog } from './work-log.js';

export type Language = 'TypeScript' | 'Python';

export interface WorkerOptions {
  /** The name of the process. Its twin has another name under the same worker id. */
  name: string;
  workerId: string;
  language: Language;
  root: string;
  directory: string;
  key: string;
  proxy: RemoteProxy;
  log: WorkLog;
}

/** The exit code of a process that crashes because its input asks for it. */
const asAskedCode = 86;
/** After SIGTERM a worker may finish its runs; the longest run takes this long. */
const drainPatienceMs = 45_000;
const restartMs = { low: 100, high: 1_500 };

/** A worker process, restarted as a supervisor would. */
export class WorkerProcess {
  /** Times in which the process was frozen. */
  readonly freezes: Span[] = [];
  /** Times in which there was no process. */
  readonly downs: Span[] = [];
  /** Times in which its connections were broken or impaired. */
  readonly cuts: Span[] = [];
  /** Called when the process ends unexpectedly. */
  onUnexpectedExit: (output: string) => void = () => undefined;
  startedAt = Infinity;
  private child: ChildProcess | undefined;
  private tail = '';
  private expected = false;
  private isOver = false;

  constructor(readonly options: WorkerOptions) {}

  get name(): string {
    return this.options.name;
  }

  get workerId(): string {
    return this.options.workerId;
  }

  /** Returns whether a fault hit it in that time. */
  wasHit(from: number, to: number): boolean {
    return [...this.freezes, ...this.downs, ...this.cuts].some((span) => overlaps(span, from, to));
  }

  start(): void {
    if (this.isOver) return;
    const { name, workerId, language, root, directory, key, proxy, log } = this.options;
    const down = this.downs.at(-1);
    if (down?.to === Infinity) down.to = now();
    const [program, script] =
      language === 'Python'
        ? ['python3', join(root, 'chaos/workers/python_worker.py')]
        : [process.execPath, join(root, 'dist/chaos/workers/node-worker.js')];
    const child = spawn(program, [script], {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PYTHONUNBUFFERED: '1',
        NOWSERVING_URL: `http://127.0.0.1:${proxy.port}`,
        NOWSERVING_KEY: key,
        CHAOS_LIBRARY: join(root, 'clients/python/nowserving/worker.py'),
        CHAOS_WORKER: workerId,
        CHAOS_LOG: log.pathOf(name),
        CHAOS_RELEASE: join(directory, 'release'),
        CHAOS_MODELS: workerModels.join(),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.startedAt = Math.min(this.startedAt, now());
    this.expected = false;
    this.tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.tail = (this.tail + text).slice(-2_000);
        appendFileSync(join(directory, `${name}.log`), text);
      });
    }
    child.once('exit', (code, signal) => this.exited(child, code, signal));
  }

  /** Ends the process with SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL', 5_000);
  }

  /** Ends the process with SIGTERM. false: it had to be killed. */
  async stop(): Promise<boolean> {
    return this.end('SIGTERM', drainPatienceMs);
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

  /** Notes that the process does not come back: its downtime ends here, so later events are not explained by it. */
  retire(): void {
    this.downs.at(-1)!.to = now();
  }

  /** Ends the process with SIGKILL for good: a fault that is still under way does not start it again. */
  async killForGood(): Promise<void> {
    this.isOver = true;
    await this.kill();
  }

  /** Sends SIGKILL, without waiting. */
  abandon(): void {
    this.expected = true;
    this.child?.kill('SIGKILL');
  }

  private async end(signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
    const { child } = this;
    this.expected = true;
    if (this.downs.at(-1)?.to !== Infinity) this.downs.push({ from: now(), to: Infinity });
    child?.kill(signal);
    this.thaw();
    const ended = await within(patienceMs, () => child === undefined || hasEnded(child));
    if (ended) return true;
    child!.kill('SIGKILL');
    await within(5_000, () => hasEnded(child!));
    return false;
  }

  private exited(child: ChildProcess, code: number | null, signal: string | null): void {
    this.options.log.gone(this.name, child.pid!, now());
    if (this.child !== child || this.expected) return;
    this.downs.push({ from: now(), to: Infinity });
    if (code !== asAskedCode) this.onUnexpectedExit(`code ${code}, signal ${signal}: ${this.tail}`);
    const pauseMs = restartMs.low + Math.random() * (restartMs.high - restartMs.low);
    setTimeout(() => {
      if (this.child === child && !this.expected) this.start();
    }, pauseMs);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
