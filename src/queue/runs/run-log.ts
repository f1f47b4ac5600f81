import type { LogLevel, LogSource } from './runner.js';

const maxEntries = 1_000;
const maxBytes = 64 * 1024;
/** Kept free for the entry that says so. */
const reservedBytes = 200;
/** The last entry of a log that was cut. */
export const logFullMessage = `The log is full (${maxEntries} entries or ${maxBytes / 1024} KiB); what follows is not kept.`;

/** One line of a request's log, as it is kept. */
export interface LogEntry {
  id: number;
  message: string;
  level: LogLevel;
  source: LogSource;
  at: Date;
}

export interface CappedEntry {
  level: LogLevel;
  source: LogSource;
  message: string;
}

/** What earlier attempts have written. */
export interface LogUsage {
  entries: number;
  /** Of text, in UTF-8. */
  bytes: number;
  /** Whether it was cut already. */
  full: boolean;
}

/** Holds the log of one request within its caps; the last entry that fits says that it was cut. */
export class RunLog {
  private entries: number;
  private bytes: number;
  private full: boolean;

  constructor({ entries, bytes, full }: LogUsage = { entries: 0, bytes: 0, full: false }) {
    this.entries = entries;
    this.bytes = bytes;
    this.full = full;
  }

  /** The entry to write; undefined once the log is full. */
  admit(level: LogLevel, message: string, source: LogSource): CappedEntry | undefined {
    if (this.full) return undefined;
    const text = storable(message);
    this.entries++;
    this.bytes += Buffer.byteLength(text);
    if (this.entries >= maxEntries || this.bytes > maxBytes - reservedBytes) {
      this.full = true;
      return { level: 'WARN', source: 'queue', message: logFullMessage };
    }
    return { level, source, message: text };
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
