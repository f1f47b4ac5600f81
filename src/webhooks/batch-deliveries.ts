import { Injectable } from '@nestjs/common';
import type { Queries } from '../database/statement.js';
import { Sender } from './duties/sender.js';
import { addBatchDeliveries } from './queries/add-batch-deliveries.js';

/** The end of a batch, for its deliveries. */
export interface BatchEnd {
  batchId: string;
  keyId: string;
  /** The URL that the batch itself names. */
  webhookUrl: string | null;
}

/** Writes the deliveries of `batch.completed`. A batch takes the place of the request in their rows. */
@Injectable()
export class BatchDeliveries {
  constructor(private readonly sender: Sender) {}

  /** Called in the commit that ends the batch. */
  add(queries: Queries, end: BatchEnd): Promise<void> {
    return addBatchDeliveries(queries, end);
  }

  /** Called after that commit. */
  wake(): void {
    this.sender.wake();
  }
}
