import { pause } from '../deadline.js';
import { jsonOf } from './json-text.js';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

/** Whole numbers by name, such as tokens or seconds. The names of nested numbers are joined by points. */
export interface Usage {
  readonly [name: string]: number | Usage;
}

/** An event that a run emits, as a line of NDJSON. */
export type RunEvent =
  | { type: 'log'; level: LogLevel; source?: 'stdout' | 'stderr'; message: string }
  | { type: 'progress'; value: number; message?: string }
  | { type: 'usage'; usage: Usage }
  | { type: 'delta'; delta: unknown };

export const lineOf = (event: RunEvent): string =>
  event.type === 'delta' ? `{"type":"delta","delta":${jsonOf(event.delta)}}` : JSON.stringify(event);

/** `next`: all lines before this number have arrived. */
export type Sent = { next: number } | { refused: string } | 'over';
export type SendLines = (lines: string, from: number) => Promise<Sent>;

interface Line {
  type: RunEvent['type'];
  text: string;
}

/** Types of which only the last event counts. */
const replaceable: readonly RunEvent['type'][] = ['progress', 'usage'];
const batchMs = 100;
const batchBytes = 16 * 1024;
/** Above this size, generators wait and log lines are dropped. */
const maxPendingBytes = 1024 * 1024;

/** Sends the events of one run in order, in batches, the first at once. Retries until each has arrived. */
export class EventSender {
  /** Why a delta was refused. The output would have a hole. */
  refusal: string | undefined;
  private pending: Line[] = [];
  private bytes = 0;
  /** The number of the first pending line. */
  private first = 0;
  private inFlight = 0;
  private dropped = 0;
  private lastSentMs = -Infinity;
  private isOver = false;
  private isStopping = false;
  private isHurried = false;
  private sending: Promise<void> | undefined;
  private readonly wakes = new Set<() => void>();

  constructor(private readonly send: SendLines) {}

  add(event: RunEvent): void {
    if (this.isOver) return;
    if (event.type === 'log' && this.bytes > maxPendingBytes) {
      this.dropped++;
      return;
    }
    const line = { type: event.type, text: `${lineOf(event)}\n` };
    const last = this.pending.length > this.inFlight ? this.pending.at(-1) : undefined;
    if (replaceable.includes(event.type) && last?.type === event.type) {
      this.bytes -= sizeOf(this.pending.pop()!);
    }
    this.pending.push(line);
    this.bytes += sizeOf(line);
    if (this.bytes >= batchBytes) this.wake();
    this.start();
  }

  /** Resolves when all lines have arrived, or when none can arrive any more. */
  async flush(): Promise<void> {
    this.isHurried = true;
    this.wake();
    while (this.sending !== undefined) await this.sending;
    this.isHurried = false;
  }

  /** Resolves when there is room for more, or when the run must stop. */
  async room(): Promise<void> {
    while (this.bytes > maxPendingBytes && !this.isOver && !this.isStopping) await this.woken();
  }

  /** The run must stop, so its handler waits for no room any more. */
  stopWaiting(): void {
    this.isStopping = true;
    this.wake();
  }

  /** Stops sending. */
  close(): void {
    this.isOver = true;
    this.wake();
  }

  private start(): void {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      // A line may have been added after the last check.
      if (this.pending.length > 0 && !this.isOver) this.start();
    });
  }

  private async sendAll(): Promise<void> {
    let maxLines = Infinity;
    while (this.pending.length > 0 && !this.isOver) {
      await this.untilDue();
      if (this.isOver) break;
      const lines = this.nextBatch(maxLines);
      this.lastSentMs = performance.now();
      this.inFlight = lines.length;
      const sent = await this.send(lines.map(({ text }) => text).join(''), this.first);
      this.inFlight = 0;
      if (sent === 'over') this.isOver = true;
      else if ('next' in sent) {
        maxLines = Infinity;
        await this.arrived(sent.next);
      } else if (lines.length > 1) maxLines = 1;
      else this.skip(sent.refused);
      this.wake();
    }
  }

  private nextBatch(maxLines: number): Line[] {
    let bytes = 0;
    const count = this.pending.findIndex((line, i) => {
      bytes += sizeOf(line);
      return i > 0 && (bytes > batchBytes || i >= maxLines);
    });
    return count === -1 ? [...this.pending] : this.pending.slice(0, count);
  }

  private async arrived(next: number): Promise<void> {
    const isProgress = next > this.first;
    this.remove(Math.max(0, next - this.first));
    this.first = next;
    if (!isProgress) await pause(batchMs);
    if (this.dropped > 0 && this.bytes < batchBytes) {
      const message = `${this.dropped} log lines were dropped, because they could not be sent fast enough.`;
      this.dropped = 0;
      this.add({ type: 'log', level: 'WARN', message });
    }
  }

  /** Drops the first line. The line after it takes its number. */
  private skip(reason: string): void {
    const [line] = this.pending;
    this.remove(1);
    if (line?.type === 'delta') this.refusal ??= reason;
  }

  private remove(count: number): void {
    for (const line of this.pending.splice(0, count)) this.bytes -= sizeOf(line);
  }

  private async untilDue(): Promise<void> {
    const waitMs = this.lastSentMs + batchMs - performance.now();
    if (waitMs <= 0 || this.bytes >= batchBytes || this.isHurried) return;
    await Promise.race([pause(waitMs), this.woken()]);
  }

  private woken(): Promise<void> {
    return new Promise((resolve) => this.wakes.add(resolve));
  }

  private wake(): void {
    for (const wake of this.wakes) wake();
    this.wakes.clear();
  }
}

const sizeOf = ({ text }: Line): number => text.length;
const maxDeltaLength = 8_192;

/** Splits a long text into pieces that the service accepts, without splitting a character. */
export function piecesOf(delta: unknown): unknown[] {
  if (typeof delta !== 'string' || delta.length <= maxDeltaLength) return [delta];
  const pieces: string[] = [];
  for (let start = 0; start < delta.length;) {
    let end = start + maxDeltaLength;
    if (/[\uD800-\uDBFF]/.test(delta[end - 1] ?? '')) end--;
    pieces.push(delta.slice(start, end));
    start = end;
  }
  return pieces;
}
