import type { Appended, EventBatch, LogLine, Progress } from '../queries/append-events.js';
import { EventBuffer } from './event-buffer.js';
import type { Rhythm } from './rhythm.js';

/** Parts of an output are collected for so long, or until they are so many bytes; the first goes at once. */
export const deltasEveryMs = 100;
const deltaBytes = 16 * 1024;
const progressEveryMs = 250;
/** A step of the rhythm comes so much earlier than it should. */
const toleranceMs = 20;

/** Writes what one run says, one batch at a time, so that a write that has to be repeated keeps its place. */
export class EventWriter {
  private readonly waiting = new EventBuffer();
  private from = 0;
  private deltasAt = -Infinity;
  private progressAt = -Infinity;
  private writing: Promise<void> | undefined;
  /** Parts of the output were refused: what is there is not all. */
  hasGap = false;

  constructor(
    private readonly run: Pick<EventBatch, 'requestId' | 'token'>,
    private readonly rhythm: Rhythm,
    /** undefined: the run holds no lease any more. */
    private readonly write: (batch: EventBatch) => Promise<Appended | undefined>,
  ) {}

  log(line: LogLine): void {
    this.waiting.logs.push(line);
    this.startIfDue();
  }

  progress(progress: Progress): void {
    this.waiting.progress = progress;
    this.startIfDue();
  }

  /** `json`: a part of the output. */
  delta(json: string): void {
    this.waiting.addDelta(json);
    this.startIfDue();
  }

  /** Writes all that waits. */
  async flush(): Promise<void> {
    // Nobody is shown the progress of a run that has ended.
    this.waiting.progress = null;
    this.waiting.end();
    while (this.writing !== undefined || !this.waiting.isEmpty) await (this.writing ??= this.drain());
  }

  private startIfDue(): void {
    if (this.writing !== undefined) return;
    if (this.isDue(performance.now())) this.writing = this.drain();
    else this.rhythm.add(this.onBeat);
  }

  private readonly onBeat = (): void => {
    if (this.writing !== undefined || this.waiting.isEmpty) return;
    if (this.waiting.hasDeltas || this.isDue(performance.now() + toleranceMs)) this.writing = this.drain();
    else this.rhythm.add(this.onBeat);
  };

  private isDue(now: number): boolean {
    const { logs, progress, hasDeltas } = this.waiting;
    if (logs.length > 0 || this.waiting.deltaBytes >= deltaBytes) return true;
    if (hasDeltas && now - this.deltasAt >= deltasEveryMs) return true;
    return progress !== null && now - this.progressAt >= progressEveryMs;
  }

  private async drain(): Promise<void> {
    do {
      const batch = { ...this.run, from: this.from, ...this.waiting.take() };
      const now = performance.now();
      if (batch.deltas.length > 0) this.deltasAt = now;
      if (batch.progress !== null) this.progressAt = now;
      // What is refused was said to the log of the process.
      const appended = await this.write(batch).catch(() => undefined);
      this.from = appended?.next ?? this.from;
      this.hasGap ||= batch.deltas.length > 0 && appended === undefined;
    } while (this.isDue(performance.now()));
    this.writing = undefined;
    if (!this.waiting.isEmpty) this.rhythm.add(this.onBeat);
  }
}
