import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Retention } from '../../queue/retention/retention.js';
import { Duty } from '../../tools/duty.js';
import { pruneDeliveries, pruneReceiverActivity } from '../queries/prune-deliveries.js';

/** Deletes deliveries whose requests retention has deleted. */
@Injectable()
export class DeliveryPruner extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly intervalMs = 600_000;

  constructor(
    private readonly database: Database,
    private readonly retention: Retention,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  async runOnce(): Promise<void> {
    await pruneDeliveries(this.database, this.retention.longestMs());
    await pruneReceiverActivity(this.database);
  }
}
