import type { LogLine } from '../queries/append-log.js';
import type { LogLevel, LogSource } from './runner.js';

const maxEntries = 1_000;
const maxBytes = 64 * 1024;
const linesAtOnce = 200;
/** Kept free for the entry that says so. */
const reservedBytes = 200;
export const logFullMessage = `The log is full (${maxEntries} entries or ${maxBytes / 1024} KiB); what follows is not kept.`;

export interface LogEntry extends CappedEntry {
  id: number;
  at: Date;
}

export type CappedEntry = Pick<LogLine, 'level' | 'source' | 'message'>;

export interface LogUsage {
  entries: number;
  /** Of text, in UTF-8. */
  bytes: number;
  full: boolean;
}

/** Holds the log of one request within its caps; the last entry that fits says that it was cut. */
export class RunLog {
  constructor(private readonly used: LogUsage = { entries: 0, bytes: 0, full: false }) {}

  /** The entry to write; undefined once the log is full. */
  admit(level: LogLevel, message: string, source: LogSource): CappedEntry | undefined {
    if (this.used.full) return undefined;
    const text = storable(message);
    this.used.entries++;
    this.used.bytes += Buffer.byteLength(text);
    if (this.used.entries >= maxEntries || this.used.bytes > maxBytes - reservedBytes) {
      this.used.full = true;
      return { level: 'WARN', source: 'queue', message: logFullMessage };
    }
    return { level, source, message: text };
  }
}

/** Writes the log of one run, one write at a time, so that a write that has to be repeated keeps its place. */
export class LogWriter {
  private waiting: Omit<LogLine, 'requestId' | 'token'>[] = [];
  private count = 0;
  /** undefined: everything is written. */
  writing: Promise<void> | undefined;

  constructor(
    private readonly lease: Pick<LogLine, 'requestId' | 'token'>,
    private readonly write: (lines: LogLine[]) => Promise<void>,
  ) {}

  add(entry: CappedEntry, atMs: number): void {
    this.waiting.push({ ...entry, number: ++this.count, atMs });
    this.writing ??= this.drain().finally(() => (this.writing = undefined));
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      const lines = this.waiting.splice(0, linesAtOnce);
      await this.write(lines.map((line) => ({ ...this.lease, ...line })));
    }
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
