import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Retention } from '../../queue/retention/retention.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { pruneDeliveries, pruneReceiverActivity } from '../queries/prune-deliveries.js';

/** Deletes deliveries whose requests retention has deleted. */
@Injectable()
export class DeliveryPruner extends SelfStartingDuty {
  protected readonly intervalMs = 600_000;

  constructor(
    private readonly database: Database,
    private readonly retention: Retention,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    await pruneDeliveries(this.database, this.retention.longestMs());
    await pruneReceiverActivity(this.database);
  }
}
