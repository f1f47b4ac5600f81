import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Duty } from './duties/duty.js';
import { Lines } from './lines.js';
import { countWaiting, waiting } from './queries/waiting.js';
import { QueueEvents } from './queue-events.js';

/** Above this depth counting costs the database too much to do it often. */
const countableDepth = 50_000;

/** Longer than what other nodes tell is on its way here. */
const onItsWayMs = 1_000;

/** The lengths of the lines in the database, and here before they were counted. */
interface Counted {
  before: Map<string, number>;
  depths: Map<string, number>;
}

/** Keeps the lines in memory in step with the database: fills them, follows every change, and checks. */
@Injectable()
export class LineKeeper extends Duty {
  protected readonly intervalMs = 30_000;
  private unsubscribe: (() => void) | undefined;
  private refilling: Promise<void> | undefined;
  private nextRefill: Promise<void> | undefined;
  private counted: Counted | undefined;
  private doubted = new Set<string>();
  private rounds = 0;
  private readonly log = new Logger(LineKeeper.name);

  constructor(
    private readonly database: Database,
    private readonly lines: Lines,
    private readonly events: QueueEvents,
  ) {
    super();
  }

  /** Changes are followed before the first page is read, so nothing falls between. */
  async open(): Promise<void> {
    this.unsubscribe ??= this.events.subscribe(({ entered, left }) => {
      // In this order: what a message tells of a while, a request may have left and entered again within.
      for (const change of left ?? []) this.lines.leave(change);
      for (const change of entered ?? []) this.lines.enter(change);
    });
    await this.refill();
  }

  close(): void {
    this.unsubscribe?.();
    this.unsubscribe = undefined;
  }

  /** Reads everything that waits again; the old lines answer until the new ones are complete. */
  refill(): Promise<void> {
    if (this.refilling === undefined) {
      return (this.refilling = this.read().finally(() => (this.refilling = undefined)));
    }
    // What is being read may have been read before the change that is asked for now.
    return (this.nextRefill ??= this.refilling
      .catch(() => undefined)
      .then(() => {
        this.nextRefill = undefined;
        return this.refill();
      }));
  }

  /** A line whose length is wrong twice in a row is a line that missed a change. */
  async runOnce(): Promise<void> {
    const { counted } = this;
    if (counted === undefined) return this.count();
    this.counted = undefined;
    const wrong = this.wrongSince(counted);
    const again = wrong.filter((id) => this.doubted.has(id));
    this.doubted = new Set(wrong);
    if (again.length === 0) return;
    this.log.debug(`lines of ${again.join(', ')} are read again`);
    this.doubted.clear();
    await this.refill();
  }

  protected override nextIntervalMs(): number {
    return this.counted !== undefined || this.doubted.size > 0 ? onItsWayMs : this.intervalMs;
  }

  private async count(): Promise<void> {
    const before = this.lines.depths();
    const total = [...before.values()].reduce((sum, depth) => sum + depth, 0);
    if (total > countableDepth && this.rounds++ % 20 !== 0) return;
    const counted = { before, depths: await countWaiting(this.database) };
    if (this.wrongSince(counted).length > 0) this.counted = counted;
    else this.doubted.clear();
  }

  /** What is on its way here takes a line through the length that was counted; one that has missed it stays away. */
  private wrongSince({ before, depths }: Counted): string[] {
    const now = this.lines.depths();
    return [...new Set([...before.keys(), ...depths.keys(), ...now.keys()])].filter((id) => {
      const [from = 0, to = 0, counted = 0] = [before.get(id), now.get(id), depths.get(id)];
      return counted < Math.min(from, to) || counted > Math.max(from, to);
    });
  }

  private async read(): Promise<void> {
    this.lines.beginRefill();
    for await (const page of waiting(this.database)) {
      for (const entry of page) this.lines.enter(entry);
    }
    this.lines.endRefill();
  }
}
