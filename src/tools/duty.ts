import { Logger } from '@nestjs/common';
import { DatabaseUnavailable, ofDatabase } from '../errors/database-error.js';

/** A round that failed is followed by another at the latest then. */
const retryMs = 30_000;

/**
 * A loop with one job. `start` and `stop` may be called twice; `stop` waits for the round that is under way.
 * A lost database is said once, and its return once; the loop goes on.
 */
export abstract class Duty {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = 0;
  private round: Promise<void> | undefined;
  private running = false;
  private failing = false;
  /** Rounds that failed; and when the last one did not, in milliseconds since 1970. */
  failures = 0;
  succeededAt: number | undefined;
  private readonly logger = new Logger(this.constructor.name);

  /** Whether its last round failed. */
  get lastRoundFailed(): boolean {
    return this.failing;
  }

  /** Milliseconds between rounds, before jitter. */
  protected abstract readonly intervalMs: number;

  /** One round; tests call it directly. */
  abstract runOnce(): Promise<void>;

  start(): void {
    if (this.running) return;
    this.running = true;
    this.schedule(this.nextIntervalMs());
  }

  async stop(): Promise<void> {
    this.running = false;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Lets the next round begin within `ms`, if it would not anyway. */
  protected scheduleWithin(ms: number): void {
    if (!this.running || this.round !== undefined || this.dueAt <= performance.now() + ms) return;
    this.schedule(ms);
  }

  protected nextIntervalMs(): number {
    return this.intervalMs;
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    // Jitter of a fifth either way keeps many nodes from beating together.
    const delayMs = ms * (0.8 + Math.random() * 0.4);
    this.dueAt = performance.now() + delayMs;
    this.timer = setTimeout(() => void (this.round = this.turn()), delayMs);
  }

  private async turn(): Promise<void> {
    try {
      await this.runOnce();
      if (this.failing) this.logger.log('works again');
      this.failing = false;
      this.succeededAt = Date.now();
    } catch (error) {
      this.failures++;
      if (this.failing) return;
      this.failing = true;
      const known = ofDatabase(error);
      if (known instanceof DatabaseUnavailable) this.logger.warn(`waits for the database (${known.fault})`);
      else this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      this.round = undefined;
      if (this.running)
        this.schedule(this.failing ? Math.min(this.nextIntervalMs(), retryMs) : this.nextIntervalMs());
    }
  }
}
