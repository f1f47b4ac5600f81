import { Coalesced } from '../../tools/coalesced.js';
import type { Appended, EventBatch, LogLine, Progress } from './queries/append-events.js';
import { EventBuffer } from './event-buffer.js';
import type { Rhythm } from './rhythm.js';
import type { Run } from './runner.js';

/** Parts of an output are collected for this time, or until they have this many bytes. The first is written at once. */
export const deltasEveryMs = 100;
const deltaBytes = 16 * 1024;
const progressEveryMs = 250;
/**
 * A model usually reports a log line and its progress one after the other. If they come within this time, they share a
 * write.
 */
const stepMs = 10;
/** Bytes of parts that wait during a write. More parts wait in the memory for results that cannot be stored. */
const waitingBytes = 1024 * 1024;
/** A step of the rhythm may come this much early. */
const toleranceMs = 20;

/** Writes what one run emits, one batch at a time, so that a write that must be repeated keeps its place. */
export class EventWriter {
  private readonly waiting = new EventBuffer();
  private from = 0;
  private deltasAt = -Infinity;
  private progressAt = -Infinity;
  /** Set while the rest of a step may still come. */
  private step: NodeJS.Timeout | undefined;
  private readonly writes = new Coalesced(() => this.writeNext());
  /** True: parts of the output were refused, so the stored output is incomplete. */
  hasGap = false;
  /** True: the database took no more of the output, and there was no memory to keep it. */
  isUnstored = false;
  private keptBytes = 0;

  constructor(
    private readonly run: Pick<EventBatch, 'requestId' | 'token'>,
    private readonly rhythm: Rhythm,
    /** undefined: the run no longer holds a lease. */
    private readonly write: (batch: EventBatch) => Promise<Appended | undefined>,
    private readonly memory: Run['memory'],
  ) {}

  log(line: LogLine): void {
    this.waiting.logs.push(line);
    this.gatherStep();
  }

  progress(progress: Progress): void {
    this.waiting.progress = progress;
    this.gatherStep();
  }

  /** `json`: what the run has used so far. It is written with the next batch. */
  usage(json: string): void {
    this.waiting.usage = json;
    this.startIfDue();
  }

  /** `json`: a part of the output. */
  delta(json: string): void {
    if (this.isUnstored) return;
    this.waiting.addDelta(json);
    this.onOutput();
  }

  /** `json`: a chunk of the model's stream. `deltas`: the parts of the output that it has. */
  chunk(json: string, deltas: readonly string[]): void {
    if (this.isUnstored) return;
    this.waiting.addChunk(json, deltas);
    this.onOutput();
  }

  private onOutput(): void {
    if (!this.holdWhatWaits()) {
      this.isUnstored = true;
      this.waiting.dropDeltas();
      this.holdWhatWaits();
    }
    this.startIfDue();
  }

  /** Writes all that waits. */
  async flush(): Promise<void> {
    // The progress of a run that has ended is not shown.
    this.waiting.progress = null;
    this.waiting.end();
    do await this.writes.run();
    while (!this.waiting.isEmpty);
  }

  private gatherStep(): void {
    this.step ??= setTimeout(() => {
      this.step = undefined;
      this.startIfDue();
    }, stepMs);
  }

  /** Returns false if there is no memory for it. */
  private holdWhatWaits(): boolean {
    const more = Math.max(0, this.waiting.deltaBytes - waitingBytes) - this.keptBytes;
    if (more > 0 && !this.memory.take(more)) return false;
    if (more < 0) this.memory.release(-more);
    this.keptBytes += more;
    return true;
  }

  private startIfDue(): void {
    if (this.isDue(performance.now())) void this.writes.run();
    else if (!this.waiting.isEmpty) this.rhythm.add(this.onBeat);
  }

  private readonly onBeat = (): void => {
    // The write in progress checks again at its end.
    if (this.writes.isRunning || this.waiting.isEmpty) return;
    if (this.waiting.hasDeltas || this.isDue(performance.now() + toleranceMs)) void this.writes.run();
    else this.rhythm.add(this.onBeat);
  };

  private isDue(now: number): boolean {
    const { logs, progress, hasDeltas, deltaBytes: bytes } = this.waiting;
    if (bytes >= deltaBytes || (hasDeltas && now - this.deltasAt >= deltasEveryMs)) return true;
    if (this.step !== undefined) return false;
    return logs.length > 0 || (progress !== null && now - this.progressAt >= progressEveryMs);
  }

  private async writeNext(): Promise<void> {
    if (this.waiting.isEmpty) return;
    const batch = { ...this.run, from: this.from, ...this.waiting.take() };
    this.holdWhatWaits();
    const now = performance.now();
    if (batch.deltas.length > 0) this.deltasAt = now;
    if (batch.progress !== null) this.progressAt = now;
    // The refusal was logged by the process.
    const appended = await this.write(batch).catch(() => undefined);
    this.from = appended?.next ?? this.from;
    this.hasGap ||= batch.deltas.length > 0 && appended === undefined;
    this.startIfDue();
  }
}
