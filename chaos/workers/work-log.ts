import { closeSync, existsSync, openSync, readdirSync, readSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMade, Starts } from '../model/run-log.js';

/** One execution of an attempt, as the worker saw it. Times are those of `now`. */
export interface WorkRun {
  readonly requestId: string;
  readonly attempt: number;
  readonly modelId: string;
  /** A text in the output that identifies the run that computed it. */
  readonly nonce: string;
  /** The worker's name; two processes may share it. */
  readonly worker: string;
  /** The process that ran it; `pid` is its process id. */
  readonly process: string;
  readonly pid: number;
  readonly startedAt: number;
  /** The time at which the handler returned, or its process ended; Infinity while it works. */
  endedAt: number;
  /** undefined: the process ended before. */
  how?: 'answered' | 'failed' | 'stopped';
  /** Log lines that it had sent by its end. */
  lines?: number;
  /** When and why it was asked to stop. */
  told?: { at: number; why: string };
  /** How the service answered the outputs and failures that it sent. */
  taken: { at: number; what: 'output' | 'failure'; status: number }[];
  /** The time at which it began to upload its file. */
  uploadingAt?: number;
  /** The file that it had uploaded. */
  file?: FileMade & { url: string; at: number };
}

/** A line of the log that each process of a worker keeps. `at`: milliseconds since 1970. */
type Line = { at: number; pid: number; nonce: string } & (
  | { say: 'start'; id: string; attempt: number; model: string; worker: string }
  | { say: 'end'; how: NonNullable<WorkRun['how']>; lines: number }
  | { say: 'told'; why: string }
  | { say: 'taken'; what: 'output' | 'failure'; status: number }
  | { say: 'uploading' }
  | { say: 'uploaded'; url: string; size: number; sha256: string }
);

const suffix = '.work';
const chunkBytes = 64 * 1024;

/** Everything that the workers logged of their runs, read while they write it. */
export class WorkLog implements Starts {
  readonly runs: WorkRun[] = [];
  private readonly byNonce = new Map<string, WorkRun>();
  private readonly byRequest = new Map<string, WorkRun[]>();
  private readonly read = new Map<string, { offset: number; rest: string }>();

  constructor(private readonly directory: string) {}

  /** The file that the process of that name writes. */
  pathOf(process: string): string {
    return join(this.directory, `${process}${suffix}`);
  }

  ofNonce(nonce: string): WorkRun | undefined {
    return this.byNonce.get(nonce);
  }

  ofRequest(requestId: string): readonly WorkRun[] {
    return this.byRequest.get(requestId) ?? [];
  }

  /** Runs under way, of one worker's process or of all. */
  active(process?: string): WorkRun[] {
    return this.runs.filter(
      (run) => run.endedAt === Infinity && (process === undefined || run.process === process),
    );
  }

  /** Notes that a process has ended, and so its runs. */
  gone(process: string, pid: number, at: number): void {
    this.refresh();
    for (const run of this.active(process)) if (run.pid === pid) run.endedAt = at;
  }

  /** Runs of a process, or of a worker, that were under way within that time. */
  during({ pid, worker }: { pid?: number; worker: string | null }, from: number, to: number): WorkRun[] {
    return this.runs.filter(
      (run) =>
        (pid === undefined ? run.worker === worker : run.pid === pid) &&
        run.startedAt < to &&
        run.endedAt > from,
    );
  }

  /** Reads the lines that were written since the last call. */
  refresh(): void {
    if (!existsSync(this.directory)) return;
    for (const name of readdirSync(this.directory)) {
      if (name.endsWith(suffix)) this.readOn(name.slice(0, -suffix.length));
    }
  }

  private readOn(process: string): void {
    const known = this.read.get(process) ?? { offset: 0, rest: '' };
    this.read.set(process, known);
    const file = openSync(this.pathOf(process), 'r');
    try {
      const buffer = Buffer.alloc(chunkBytes);
      while (known.offset < fstatSync(file).size) {
        const length = readSync(file, buffer, 0, chunkBytes, known.offset);
        known.offset += length;
        // Workers write only ASCII, so no character is cut.
        const lines = (known.rest + buffer.toString('latin1', 0, length)).split('\n');
        known.rest = lines.pop()!;
        for (const line of lines) this.take(process, JSON.parse(line) as Line);
      }
    } finally {
      closeSync(file);
    }
  }

  private take(process: string, line: Line): void {
    const at = line.at - performance.timeOrigin;
    if (line.say === 'start') return this.start(process, line, at);
    const run = this.byNonce.get(line.nonce)!;
    if (line.say === 'uploading') run.uploadingAt = at;
    else if (line.say === 'taken') run.taken.push({ at, what: line.what, status: line.status });
    else if (line.say === 'told') run.told ??= { at, why: line.why };
    else if (line.say === 'uploaded') {
      run.file = { url: line.url, size: line.size, sha256: line.sha256, at };
    } else Object.assign(run, { endedAt: at, how: line.how, lines: line.lines });
  }

  private start(process: string, line: Line & { say: 'start' }, startedAt: number): void {
    const { id: requestId, attempt, model: modelId, worker, nonce, pid } = line;
    const run: WorkRun = {
      requestId,
      attempt,
      modelId,
      nonce,
      worker,
      process,
      pid,
      startedAt,
      endedAt: Infinity,
      taken: [],
    };
    this.runs.push(run);
    this.byNonce.set(nonce, run);
    const same = this.byRequest.get(requestId);
    if (same === undefined) this.byRequest.set(requestId, [run]);
    else same.push(run);
  }
}
