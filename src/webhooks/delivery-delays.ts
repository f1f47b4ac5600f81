import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import { Recent } from '../tools/recent.js';
import { type DelaysOfDeliveries, readDeliveryDelays } from './queries/delivery-delays.js';

export type { DelaysOfDeliveries } from './queries/delivery-delays.js';

const maxAgeMs = 10_000;

/** How late deliveries are, for the metrics. It is read only while there are readers, once for all of them. */
@Injectable()
export class DeliveryDelays {
  private readonly delays: Recent<DelaysOfDeliveries>;

  constructor(database: ObservingDatabase) {
    this.delays = new Recent(maxAgeMs, () => readDeliveryDelays(database));
  }

  get(): Promise<DelaysOfDeliveries> {
    return this.delays.get();
  }
}
