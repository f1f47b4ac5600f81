import { storable } from '../../tools/storable-text.js';
import type { LogLine } from './queries/append-events.js';
import type { LogLevel, LogSource } from './runner.js';

const maxEntries = 1_000;
const maxBytes = 64 * 1024;
/** Reserved for the entry that reports that the log is full. */
const reservedBytes = 200;
export const logFullMessage = `The log is full (${maxEntries} entries or ${maxBytes / 1024} KiB). Later entries are not kept.`;

export interface LogEntry extends CappedEntry {
  id: number;
  at: Date;
}

export type CappedEntry = Pick<LogLine, 'level' | 'source' | 'message'>;

export interface LogUsage {
  entries: number;
  /** Bytes of text, in UTF-8. */
  bytes: number;
  full: boolean;
}

/** Keeps the log of one request within its caps. The last entry that fits reports that the log was cut. */
export class RunLog {
  constructor(private readonly used: LogUsage = { entries: 0, bytes: 0, full: false }) {}

  /** Returns the entry to write; undefined: the log is full. */
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
