import { SelfStartingDuty } from '../tools/duty.js';
import { type Counts, Tally } from './tally.js';

/** Counts in memory, and soon after adds the counts to a table, whose old rows it deletes every hour. */
export abstract class CountingDuty extends SelfStartingDuty {
  protected readonly intervalMs = 3_600_000;
  protected pending = new Tally();
  private prunedAt = -Infinity;

  constructor(private readonly writeWithinMs: number) {
    super();
  }

  /** Adds the counts of this node to those of all nodes. */
  abstract write(): Promise<void>;

  protected abstract addToTable(counted: Tally): Promise<void>;
  protected abstract prune(): Promise<void>;

  override async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
    await this.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    await this.write();
    if (performance.now() - this.prunedAt < this.intervalMs) return;
    await this.prune();
    this.prunedAt = performance.now();
  }

  /** Counts that came during a round, or could not be written, wait for the next round. */
  protected override nextIntervalMs(): number {
    return this.pending.isEmpty ? this.intervalMs : this.writeWithinMs;
  }

  protected count(at: number, name: string, counts: Partial<Counts>): void {
    if (this.pending.isEmpty) this.scheduleWithin(this.writeWithinMs);
    this.pending.add(at, name, counts);
  }

  protected take(): Tally {
    const taken = this.pending;
    this.pending = new Tally();
    return taken;
  }

  protected async add(counted: Tally): Promise<void> {
    if (counted.isEmpty) return;
    try {
      await this.addToTable(counted);
    } catch (error) {
      this.pending.addAll(counted);
      throw error;
    }
  }
}
