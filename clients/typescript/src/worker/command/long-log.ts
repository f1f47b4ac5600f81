import type { Run } from '../types.js';

/** The bounds of the head, and of the tail. The logs of three attempts fit into the log of a request: 1,000 lines or 64 KiB. */
const maxLines = 150;
const maxBytes = 10_000;

/**
 * The log of a command. The first lines are logged at once. Of those after them the last ones are logged at the end,
 * because they tell why the command failed.
 */
export class LongLog {
  lastLine = '';
  private readonly tail: string[] = [];
  private headLines = 0;
  private headBytes = 0;
  private tailBytes = 0;
  private left = 0;

  constructor(private readonly log: Run['log']) {}

  add(line: string): void {
    this.lastLine = line.trim();
    const bytes = Buffer.byteLength(line);
    const hasRoom = this.headLines < maxLines && this.headBytes + bytes <= maxBytes;
    if (hasRoom && this.tail.length === 0) {
      this.headLines++;
      this.headBytes += bytes;
      this.log(line, 'INFO', 'stderr');
      return;
    }
    if (this.tail.length === 0 && this.left === 0)
      this.log('The log is long. Its last lines follow when the command has ended.', 'WARN');
    this.tail.push(line);
    this.tailBytes += bytes;
    while (this.tail.length > maxLines || (this.tailBytes > maxBytes && this.tail.length > 1)) {
      this.tailBytes -= Buffer.byteLength(this.tail.shift()!);
      this.left++;
    }
  }

  /** Logs the last lines. */
  end(): void {
    if (this.left > 0) this.log(`${this.left} lines of the log are left out here.`, 'WARN');
    this.left = 0;
    for (const line of this.tail.splice(0)) this.log(line, 'INFO', 'stderr');
  }
}
