import { type ResourceLimits, Worker } from 'node:worker_threads';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../errors/domain-error.js';
import { ModelsService } from '../models/models.service.js';
import { RepeatedLines } from '../tools/repeated-lines.js';
import { fromPlain, type JobKind, type Jobs, type Results } from './jobs.js';
import type { Schemas, ThreadMessage, ThreadTask } from './json-thread.js';
import { Turns } from '../tools/turns.js';

/** Threads load only compiled JavaScript. Jest compiles in memory, so under Jest the built file is used. */
const programUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/src/json/json-thread.js', import.meta.url)
  : new URL('json-thread.js', import.meta.url);

/** One caller uses one thread at a time. The second thread is for other callers. */
const maxThreads = 2;
/** Enough for a million values, or for a text of 32 MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 };
const maxWaiting = 1_000;
const maxWaitingOfCaller = 100;

/** How long a job may keep a processor busy, in milliseconds. */
export const jobBounds = {
  /** For parsing the JSON. */
  reading: 10_000,
  /** For checking it against a schema. */
  checking: 2_000,
};
/** When others keep the processors busy, a job may take this many times as long in wall time. */
const maxWallFactor = 5;
const lookEveryMs = 100;

export interface JobOptions {
  /** Callers take turns. One caller can delay another by at most one job. */
  caller: string;
  /** The job is never refused, however many wait, because it belongs to something already accepted. */
  isAccepted?: boolean;
}

interface Task {
  kind: JobKind;
  job: Jobs[JobKind];
  bytes: Buffer;
  /** The schemas at the time of the call. */
  schemas: Schemas;
  resolve(done: [result: unknown, bytes: Buffer]): void;
  reject(error: Error): void;
}

/** Reads and checks JSON that is too large, or too slow to check, for the event loop. */
@Injectable()
export class JsonThreads implements OnApplicationShutdown {
  readonly bounds = { ...jobBounds };
  readonly limits = { ...resourceLimits };
  private readonly log = new Logger(JsonThreads.name);
  private readonly lines = new RepeatedLines();
  private readonly turns = new Turns<Task>();
  readonly running = new Set<JsonThread>();
  private isStopped = false;
  private schemas: Schemas;

  constructor(private readonly models: ModelsService) {
    this.schemas = this.schemasNow();
    models.changes.subscribe(() => (this.schemas = this.schemasNow()));
  }

  /** The number of jobs that wait for a thread, and of those in progress. */
  get load(): { waiting: number; running: number } {
    return {
      waiting: this.turns.size,
      running: [...this.running].filter(({ caller }) => caller !== undefined).length,
    };
  }

  /** Transfers the bytes to the thread. The caller must not use them afterwards. */
  run<Kind extends JobKind>(
    kind: Kind,
    job: Jobs[Kind],
    bytes: Buffer,
    { caller, isAccepted = false }: JobOptions,
  ): Promise<[Results[Kind], Buffer]> {
    if (this.isStopped) return Promise.reject(unavailable());
    if (!isAccepted) {
      const busy = this.refusal(caller);
      if (busy !== undefined) return Promise.reject(busy);
    }
    return new Promise((resolve, reject) => {
      const task = { kind, job, bytes, schemas: this.schemas, resolve: resolve as Task['resolve'], reject };
      this.turns.add(caller, task);
      this.assign();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    for (const { reject } of this.turns.clear()) reject(unavailable());
    await Promise.all([...this.running].map((thread) => thread.end(unavailable())));
  }

  private refusal(caller: string): DomainError | undefined {
    const options = { retryAfterSeconds: 1 };
    if (this.turns.sizeOf(caller) >= maxWaitingOfCaller) {
      const detail = `${maxWaitingOfCaller} large bodies of this caller wait to be read. Wait for their answers.`;
      return new DomainError('caller_busy', detail, options);
    }
    if (this.turns.size < maxWaiting) return undefined;
    this.lines.add('full', (times) =>
      this.log.warn(`large bodies were refused, because ${maxWaiting} wait to be read (${times} times)`),
    );
    return new DomainError(
      'overloaded',
      `${maxWaiting} large bodies wait to be read on this node. Try again in a moment.`,
      options,
    );
  }

  /** Gives waiting jobs to an idle thread, or to a new one. */
  private assign(): void {
    for (;;) {
      const idle = [...this.running].find(({ isIdle }) => isIdle);
      if (idle === undefined && this.running.size >= maxThreads) return;
      const running = new Set([...this.running].map(({ caller }) => caller));
      const next = this.turns.next((caller) => running.has(caller));
      if (next === undefined) return;
      void this.execute(idle ?? this.start(), next.caller, next.item);
    }
  }

  private async execute(thread: JsonThread, caller: string, task: Task): Promise<void> {
    const since = performance.now();
    try {
      task.resolve(await thread.execute(caller, task, this.bounds));
    } catch (error) {
      task.reject(error as Error);
    }
    this.turns.charge(caller, performance.now() - since);
    this.assign();
  }

  private start(): JsonThread {
    const thread = new JsonThread(this.limits, (reason) => {
      this.running.delete(thread);
      if (reason !== undefined)
        this.lines.add(reason, (times) =>
          this.log.warn(`a thread that reads bodies was ended: ${reason} (${times} times)`),
        );
      this.assign();
    });
    this.running.add(thread);
    return thread;
  }

  private schemasNow(): Schemas {
    const models = this.models.file.filter(({ inputSchema }) => inputSchema !== null);
    return Object.fromEntries(models.map(({ id, inputSchema }) => [id, JSON.stringify(inputSchema)]));
  }
}

/** A thread with one job at a time. It is terminated if the job takes too long. */
class JsonThread {
  /** The caller of the job in progress. undefined: there is none. */
  caller: string | undefined;
  private bounds = jobBounds;
  private readonly worker: Worker;
  private task: Task | undefined;
  private schemas: Schemas | undefined;
  private timer: NodeJS.Timeout | undefined;
  private hasEnded = false;

  /** `onEnd` receives the reason if the thread was not ended on request. */
  constructor(
    limits: ResourceLimits,
    private readonly onEnd: (reason: string | undefined) => void,
  ) {
    this.worker = new Worker(programUrl, { resourceLimits: limits, execArgv: [] });
    this.worker.on('message', (message: ThreadMessage) => this.take(message));
    this.worker.on('error', (error: NodeJS.ErrnoException) => this.crash(error));
    this.worker.on('exit', () => this.crash(new Error('it exited')));
    // The thread does not keep a process alive that has nothing else to do.
    this.worker.unref();
  }

  get isIdle(): boolean {
    return this.task === undefined && !this.hasEnded;
  }

  execute(caller: string, task: Task, bounds: typeof jobBounds): Promise<[unknown, Buffer]> {
    return new Promise((resolve, reject) => {
      this.caller = caller;
      this.task = { ...task, resolve, reject };
      this.bounds = bounds;
      const { kind, job, schemas } = task;
      const bytes = owned(task.bytes);
      const changed = schemas === this.schemas ? undefined : schemas;
      this.schemas = schemas;
      const message: ThreadTask = { kind, job, bytes, schemas: changed };
      this.worker.ref();
      this.worker.postMessage(message, [bytes.buffer]);
      this.watch('reading');
    });
  }

  /** `error`: the error that its job rejects with. */
  async end(error: Error, reason?: string): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { task } = this;
    this.release();
    await this.worker.terminate();
    this.onEnd(reason);
    task?.reject(error);
  }

  private take(message: ThreadMessage): void {
    if (message === 'ready' || this.task === undefined) return;
    if (message === 'checking') return this.watch('checking');
    const { resolve, reject } = this.task;
    this.release();
    if ('result' in message)
      resolve([
        message.result,
        Buffer.from(message.bytes.buffer as ArrayBuffer, message.bytes.byteOffset, message.bytes.length),
      ]);
    else reject('refusal' in message ? fromPlain(message.refusal) : message.fault);
  }

  private release(): void {
    clearTimeout(this.timer);
    this.task = undefined;
    this.caller = undefined;
    this.worker.unref();
  }

  /**
   * Ends the thread once its job may have exceeded its bound. Node does not show the processor time of a thread: it is
   * at most that of the process, and at most the time in which the thread had work.
   */
  private watch(stage: keyof typeof jobBounds): void {
    const since = performance.now();
    const used = process.cpuUsage();
    const worked = this.worker.performance.eventLoopUtilization();
    const look = (): void => {
      const boundMs = this.bounds[stage];
      const { user, system } = process.cpuUsage(used);
      const { active } = this.worker.performance.eventLoopUtilization(worked);
      const usedMs = Math.min((user + system) / 1_000, active);
      const isOver = usedMs >= boundMs || performance.now() - since >= boundMs * maxWallFactor;
      if (!isOver) this.timer = setTimeout(look, lookEveryMs);
      else void this.end(tookTooLong(stage), `a body took more than ${boundMs} ms`);
    };
    clearTimeout(this.timer);
    this.timer = setTimeout(look, lookEveryMs);
  }

  private crash(error: NodeJS.ErrnoException): void {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    void this.end(
      isFull ? tookTooMuch() : unavailable(error),
      isFull ? 'a body took too much memory' : error.message,
    );
  }
}

/** Returns the bytes in their own memory, which can be transferred. */
function owned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && byteOffset === 0 && buffer.byteLength === length;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

function tookTooLong(stage: keyof typeof jobBounds): DomainError {
  const what = stage === 'reading' ? 'to read' : "to check against the model's schema";
  const message = `takes too long ${what}; send less, or simpler texts`;
  return new DomainError('invalid_input', `The input ${message}.`, { errors: [{ path: '', message }] });
}

const tookTooMuch = (): DomainError =>
  new DomainError(
    'too_large',
    'The body takes too much memory to read. Send less, or a URL in place of the data.',
  );

const unavailable = (cause?: unknown): DomainError =>
  new DomainError('unavailable', 'The body could not be read now. Send it again.', { cause });
