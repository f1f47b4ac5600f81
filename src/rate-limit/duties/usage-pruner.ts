import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Database } from '../../database/database.js';
import { pruneUsage } from '../queries/prune-usage.js';

const everyMs = 60_000;

/** Once a minute, removes the usage rows that count for nothing any more. */
@Injectable()
export class UsagePruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(UsagePruner.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  start(): void {
    this.timer ??= setInterval(() => this.tick(), everyMs * (0.9 + Math.random() * 0.2)).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.running;
  }

  /** Says how many rows went. */
  async runOnce(): Promise<number> {
    let total = 0;
    for (;;) {
      const pruned = await pruneUsage(this.database);
      total += pruned;
      if (pruned === 0) return total;
    }
  }

  private tick(): void {
    this.running ??= this.attempt();
  }

  private async attempt(): Promise<void> {
    try {
      await this.runOnce();
    } catch (error) {
      // A lost database is everybody's news; the rows can wait a minute.
      if (!isDatabaseUnavailable(error)) this.logger.warn({ err: error }, 'rate limit usage was not pruned');
    } finally {
      this.running = undefined;
    }
  }
}
