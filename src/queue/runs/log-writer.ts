import type { LogLine } from '../queries/append-log.js';
import type { CappedEntry } from './run-log.js';

const linesAtOnce = 200;

type Line = CappedEntry & { number: number; atMs: number };

/** Writes the log of one run, one write at a time, so that a write that has to be repeated keeps its place. */
export class LogWriter {
  private waiting: Line[] = [];
  private count = 0;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly lease: Pick<LogLine, 'requestId' | 'token'>,
    private readonly write: (lines: LogLine[]) => Promise<void>,
  ) {}

  add(entry: CappedEntry, atMs: number): void {
    this.waiting.push({ ...entry, number: ++this.count, atMs });
    this.writing ??= this.drain().finally(() => (this.writing = undefined));
  }

  async flushed(): Promise<void> {
    await this.writing;
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      const lines = this.waiting.splice(0, linesAtOnce);
      await this.write(lines.map((line) => ({ ...this.lease, ...line })));
    }
  }
}
