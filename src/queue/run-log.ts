import type { LogLevel, LogSource } from './runner.js';

const maxEntries = 1_000;
const maxCharacters = 64 * 1024;

export interface CappedEntry {
  level: LogLevel;
  source: LogSource;
  message: string;
}

/** Holds the log of one request within its caps; the last entry that fits says that it was cut. */
export class RunLog {
  full = false;

  constructor(
    /** What earlier attempts have written. */
    private entries = 0,
    private characters = 0,
  ) {
    this.full = entries >= maxEntries || characters >= maxCharacters;
  }

  /** The entry to write; undefined once the log is full. */
  admit(level: LogLevel, message: string, source: LogSource): CappedEntry | undefined {
    if (this.full) return undefined;
    const text = storable(message);
    this.entries++;
    this.characters += text.length;
    if (this.entries >= maxEntries || this.characters > maxCharacters - 200) {
      this.full = true;
      return {
        level: 'WARN',
        source: 'queue',
        message: `The log is full (${maxEntries} entries or ${maxCharacters / 1024} KiB); what follows is not kept.`,
      };
    }
    return { level, source, message: text };
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
