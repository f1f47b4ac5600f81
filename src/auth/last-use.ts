import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { Database } from '../database/database.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { touchKeys } from './queries/touch-keys.js';

const everyMs = 60_000;
const collectMs = 1_000;

/** Writes when keys were last used: rarely, together, and never while a caller waits. */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUse.name);
  private readonly noted = new BoundedCache<true>(20_000);
  private readonly waiting = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly database: Database) {}

  note(keyId: string): void {
    const now = performance.now();
    if (this.noted.get(keyId, now) === true) return;
    this.noted.set(keyId, true, now + everyMs);
    this.waiting.add(keyId);
    if (!this.stopped) this.timer ??= setTimeout(() => void this.flush(), collectMs).unref();
  }

  /** A lost note costs a minute of accuracy, so a failure is not repaired. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting.size === 0) return;
    const ids = [...this.waiting];
    this.waiting.clear();
    try {
      await touchKeys(this.database, ids);
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        this.logger.warn({ err: error }, 'the last use of keys was not written');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.flush();
  }
}
