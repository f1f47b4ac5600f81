import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { KeyUse } from '../key-use.js';
import { pruneKeyUse } from '../queries/key-use.js';

/** The row of a key is written this often at most, because thousands of keys may call all the time. */
const writeWithinMs = 20_000;

/** Writes how much keys submitted. It writes nothing while nobody submits. */
@Injectable()
export class KeyUseKeeper extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly intervalMs = 3_600_000;
  private prunedAt = -Infinity;

  constructor(
    private readonly keyUse: KeyUse,
    private readonly database: Database,
  ) {
    super();
    keyUse.onPending = () => this.scheduleWithin(writeWithinMs);
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
    await this.keyUse.write().catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    await this.keyUse.write();
    if (performance.now() - this.prunedAt < this.intervalMs) return;
    await pruneKeyUse(this.database);
    this.prunedAt = performance.now();
  }

  protected override nextIntervalMs(): number {
    return this.keyUse.isPending ? writeWithinMs : this.intervalMs;
  }
}
