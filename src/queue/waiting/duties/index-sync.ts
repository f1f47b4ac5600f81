import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { WaitingIndex } from '../waiting-index.js';
import { readRunningTimes } from '../queries/running-times.js';
import { countWaiting, waiting } from '../queries/waiting.js';
import { QueueEvents } from '../../queue-events.js';

/** Above this depth, a count costs the database too much to be frequent. */
const countableDepth = 50_000;
/** A differing count is checked again this often, a second apart, before the queue counts as busy rather than wrong. */
const recheckAttempts = 3;

/** Keeps the waiting index in step with the database: fills it, follows every change, and checks. */
@Injectable()
export class IndexSync extends Duty {
  protected readonly intervalMs = 30_000;
  private refilling = Promise.resolve();
  private nextRefill: Promise<void> | undefined;
  /** By model: the difference in the length of its queue at the last count. */
  private suspectCounts = new Map<string, number>();
  private rechecksLeft = recheckAttempts;
  private rounds = 0;
  private readonly log = new Logger(IndexSync.name);

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
    events: QueueEvents,
  ) {
    super();
    // Subscribes before the first page is read, so that no change is missed.
    events.subscribe(({ added, held, released, removed, started, times, missed }) => {
      // The order matters: within the time that one message covers, a request may have been removed and added again.
      for (const change of removed ?? []) this.index.remove(change);
      for (const change of started ?? []) this.index.remove(change, true);
      for (const change of added ?? []) this.index.add(change);
      for (const change of held ?? []) this.index.hold(change);
      for (const change of released ?? []) this.index.release(change);
      for (const time of times ?? []) this.index.advance(time);
      // If it fails, the next check of the index finds what is missing.
      if (missed === true) this.refill().catch(() => undefined);
    });
  }

  /** Reads all waiting requests again. The old index answers until the new one is complete. */
  refill(): Promise<void> {
    // A read in progress may have begun before the change that this call is about.
    this.nextRefill ??= this.refilling
      .catch(() => undefined)
      .then(() => {
        this.nextRefill = undefined;
        return (this.refilling = this.read());
      });
    return this.nextRefill;
  }

  /**
   * Compares the index with the table. The same difference twice in a row means a missed change: changes in flight
   * make another difference each time.
   */
  async runOnce(): Promise<void> {
    const depths = this.index.depths();
    const total = [...depths.values()].reduce((sum, depth) => sum + depth, 0);
    const isSuspect = this.suspectCounts.size > 0;
    if (!isSuspect && total > countableDepth && this.rounds++ % 20 !== 0) return;
    this.rechecksLeft = isSuspect ? this.rechecksLeft - 1 : recheckAttempts;
    const counts = await countWaiting(this.database);
    const models = new Set([...counts.keys(), ...depths.keys()]);
    const errors = [...models].map((id) => [id, (counts.get(id) ?? 0) - this.index.depth(id)] as const);
    const wrong = errors.filter(([, error]) => error !== 0);
    const again = wrong.filter(([id, error]) => this.suspectCounts.get(id) === error).map(([id]) => id);
    this.suspectCounts = new Map(this.rechecksLeft > 0 ? wrong : []);
    if (again.length === 0) return;
    this.log.debug(`the queues of ${again.join(', ')} are read again`);
    this.suspectCounts.clear();
    await this.refill();
  }

  protected override nextIntervalMs(): number {
    return this.suspectCounts.size > 0 ? 1_000 : this.intervalMs;
  }

  private async read(): Promise<void> {
    this.index.beginRefill();
    const times = await readRunningTimes(this.database);
    const held = new Set<number>();
    for await (const page of waiting(this.database)) {
      for (const entry of page) {
        if (entry.isHeld) {
          this.index.hold(entry, true);
          held.add(entry.seq);
          continue;
        }
        this.index.add(entry, true);
        // It was read as held before. The message of its release may have come first.
        if (held.has(entry.seq)) this.index.release(entry);
      }
    }
    this.index.endRefill();
    for (const time of times) this.index.advance(time);
  }
}
