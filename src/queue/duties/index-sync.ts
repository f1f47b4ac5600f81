import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { Lines } from '../waiting/waiting-index.js';
import { countWaiting, waiting } from '../queries/waiting.js';
import { QueueEvents } from '../queue-events.js';

/** Above this depth counting costs the database too much to do it often. */
const countableDepth = 50_000;
/** How often a line that is wrong is looked at again, a second apart, before it counts as busy and not as wrong. */
const furtherLooks = 3;

/** Keeps the lines in memory in step with the database: fills them, follows every change, and checks. */
@Injectable()
export class LineKeeper extends Duty {
  protected readonly intervalMs = 30_000;
  private unsubscribe: (() => void) | undefined;
  private refilling: Promise<void> | undefined;
  private nextRefill: Promise<void> | undefined;
  /** By how much a line was wrong when it was last looked at. */
  private doubted = new Map<string, number>();
  private looksLeft = furtherLooks;
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

  /**
   * A line whose length is wrong by the same number twice in a row is a line that missed a change. What is under way
   * makes it wrong too, by another number each time: to read a million entries again for that would hold up all else.
   */
  async runOnce(): Promise<void> {
    const depths = this.lines.depths();
    const total = [...depths.values()].reduce((sum, depth) => sum + depth, 0);
    const inDoubt = this.doubted.size > 0;
    if (!inDoubt && total > countableDepth && this.rounds++ % 20 !== 0) return;
    this.looksLeft = inDoubt ? this.looksLeft - 1 : furtherLooks;
    const counts = await countWaiting(this.database);
    const models = new Set([...counts.keys(), ...depths.keys()]);
    const errors = [...models].map((id) => [id, (counts.get(id) ?? 0) - this.lines.depth(id)] as const);
    const wrong = errors.filter(([, error]) => error !== 0);
    const again = wrong.filter(([id, error]) => this.doubted.get(id) === error).map(([id]) => id);
    this.doubted = new Map(this.looksLeft > 0 ? wrong : []);
    if (again.length === 0) return;
    this.log.debug(`lines of ${again.join(', ')} are read again`);
    this.doubted.clear();
    await this.refill();
  }

  protected override nextIntervalMs(): number {
    return this.doubted.size > 0 ? 1_000 : this.intervalMs;
  }

  private async read(): Promise<void> {
    this.lines.beginRefill();
    for await (const page of waiting(this.database)) {
      for (const entry of page) this.lines.enter(entry);
    }
    this.lines.endRefill();
  }
}
