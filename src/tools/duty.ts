import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DatabaseUnavailable, ofDatabase } from '../errors/database-error.js';

/**
 * A loop with one job. `start` and `stop` are idempotent; `stop` waits for the current round. The loss of the database
 * is logged once and its return once, and the loop continues. The name of the class is the label `duty` of metrics, so
 * it must stay.
 */
export abstract class Duty {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = 0;
  private round: Promise<void> | undefined;
  private running = false;
  private failing = false;
  /** The number of failed rounds, and the `performance.now()` of the last success. */
  failures = 0;
  succeededAt: number | undefined;
  private readonly logger = new Logger(this.constructor.name);

  /** Returns whether the last round failed. */
  get lastRoundFailed(): boolean {
    return this.failing;
  }

  /** Milliseconds between rounds, before jitter. */
  protected abstract readonly intervalMs: number;

  /** A failed round is followed by another after at most this time, before jitter. */
  protected readonly retryMs: number = 30_000;

  /** The first round begins this many milliseconds after the start at the latest, before jitter. */
  protected readonly firstWithinMs: number = Infinity;

  /** A round for something due begins at most this late, by chance, so that several nodes do not begin at once. */
  protected readonly shortestPauseMs: number = 0;

  /** Runs one round. Tests call it directly. */
  abstract runOnce(): Promise<void>;

  start(): void {
    if (this.running) return;
    this.running = true;
    this.schedule(Math.min(this.firstWithinMs, this.nextIntervalMs()));
  }

  async stop(): Promise<void> {
    this.running = false;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Schedules the next round within `ms`, before jitter, unless it is due earlier. */
  protected scheduleWithin(ms: number): void {
    const mostMs = Math.min(ms, Math.max(0, this.dueInMs()) + this.shortestPauseMs);
    if (!this.running || this.round !== undefined || this.dueAt <= performance.now() + mostMs) return;
    this.schedule(ms);
  }

  protected nextIntervalMs(): number {
    return this.intervalMs;
  }

  /** Milliseconds until something is due for which a round must not be late, as far as is known. */
  protected dueInMs(): number {
    return Infinity;
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    // A jitter of ±20 % keeps many nodes from running at the same time.
    const jitteredMs = ms * (0.8 + Math.random() * 0.4);
    const untilDueMs = Math.max(this.shortestPauseMs, this.dueInMs() + Math.random() * this.shortestPauseMs);
    const delayMs = Math.min(jitteredMs, untilDueMs);
    this.dueAt = performance.now() + delayMs;
    this.timer = setTimeout(() => void (this.round = this.turn()), delayMs);
  }

  private async turn(): Promise<void> {
    try {
      await this.runOnce();
      if (this.failing) this.logger.log('works again');
      this.failing = false;
      this.succeededAt = performance.now();
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
        this.schedule(this.failing ? Math.min(this.nextIntervalMs(), this.retryMs) : this.nextIntervalMs());
    }
  }
}

/** A duty that starts and stops with the process. */
export abstract class SelfStartingDuty
  extends Duty
  implements OnApplicationBootstrap, BeforeApplicationShutdown
{
  onApplicationBootstrap(): void {
    this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }
}
